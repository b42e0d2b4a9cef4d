import { isUnclosed } from '../../../core/rollout/call-error.ts';
import type { Trained } from '../../../core/rollout/loss-mask.ts';
import type { Part, Rollout, ToolCall, Turn } from '../../../core/rollout/rollout.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitise, sanitiseLine, sanitising } from '../../../core/text/sanitise.ts';
import { including } from '../../../core/text/slices.ts';
import { amountOf } from '../amount.ts';
import type { Piece } from '../line.ts';
import { formatReward } from '../numbers.ts';
import type { Block, Note, Range } from './block.ts';
import { callPieces, rawPiece } from './call.ts';
import { type TextEdges, thought, trimmed, withoutEnd } from './edges.ts';
import { findingNote, findingStyle, foldedPieces, type Unplaced } from './findings.ts';
import { isJson, jsonLines } from './json-text.ts';
import { markdownRanges, stretches } from './markdown.ts';
import type { Results } from './results.ts';
import { PAUSE, type PartOrPause, paused } from './section.ts';
import { heatRanges, type TurnHeat } from './turn-heat.ts';
import { type MaskPiece, maskedText, trainedWithin } from './turn-mask.ts';

/** Parts that the reader opened or closed against the default, by block id. */
export type Folds = ReadonlyMap<string, boolean>;

/** A search includes folded text. */
class AllOpen extends Map<string, boolean> {
  override get(): boolean {
    return false;
  }
}
export const ALL_OPEN: Folds = new AllOpen();

const isFolded = (folds: Folds, id: string, byDefault: boolean): boolean => folds.get(id) ?? byDefault;

/** Collapses runs of <|image_pad|> and the like into one with a count. The name length is bounded, or a hostile one would be slow. */
const PADS = /(<\|[A-Za-z_]{0,20}pad[A-Za-z_]{0,20}\|>)\1+/g;
const withoutPads = (text: string): string =>
  text.replace(PADS, (run, pad: string) => `${pad} × ${formatCount(run.length / pad.length)}`);

function* headerBlock({ rollout, turn, results, findings, heat }: ShownTurn, folded: boolean): Generator<void, Block> {
  const right: Piece[] = [];
  const add = (style: Piece[0], text: string) => right.push([style, `${right.length > 0 ? '  ' : ''}${text}`]);
  if (folded) for (const [style, text] of foldedPieces(findings.all)) add(style, text);
  if (turn.confidence === 'inferred') add('quiet', 'border inferred');
  if (turn.confidence === 'unknown') add('unknown', 'borders unknown');
  else if (turn.trained === null) add('unknown', 'mask unknown');
  if (heat !== undefined)
    add(
      heat.surprising > 0 ? 'warning' : 'quiet',
      heat.strip + (heat.surprising > 0 ? ` ${heat.surprising} unlikely` : ''),
    );
  if (turn.reward !== null) add('strong', formatReward(turn.reward));
  const sum = rollout.rewards.returns?.[turn.index] ?? null;
  if (sum !== null) add('quiet', `return ${scoreText(sum)}`);
  const role = sanitiseLine(turn.role) || 'text';
  const asked = results.asked(turn);
  const style = turn.trained === null ? 'unknown' : turn.trained ? 'trained' : 'heading';
  const text = folded ? `▸ ${role}${asked}, ${yield* amountOf(turn.text)}` : role + asked;
  const summary = folded ? results.summary(turn) : '';
  return {
    id: `t${turn.index}`,
    turn: turn.index,
    text,
    style: 'quiet',
    trained: turn.trained,
    indent: 0,
    header: true,
    ...(folded ? { fold: 'closed' as const } : { ranges: [{ start: 0, end: role.length, style }] }),
    ...(summary !== '' && { notes: [{ at: text.length, text: summary, style: 'quiet', place: 'spare', sign: false }] }),
    right,
  };
}

/** A turn during layout; `mask` only if it is partly trained. */
export interface ShownTurn {
  rollout: Rollout;
  turn: Turn;
  folds: Folds;
  mask: readonly MaskPiece[] | undefined;
  results: Results;
  /** How sure the model was, if that was recorded. */
  heat?: TurnHeat | undefined;
  /** Findings not yet shown on any line. */
  findings: Unplaced;
}

const isTrained = ({ turn, mask }: ShownTurn, start: number, end: number): Trained =>
  mask === undefined ? turn.trained : trainedWithin(mask, start, end);

/** start..end of the turn, with `edges` trimming both ends, and its mask. */
function* body(
  shown: ShownTurn,
  { start, end }: Part,
  edges: TextEdges,
): Generator<void, { text: string; trained: Trained; ranges: readonly Range[] }> {
  const { turn, mask } = shown;
  const [first, last] = edges(turn.text.slice(start, end));
  const [from, to] = [start + first, start + last];
  const trained = isTrained(shown, from, to);
  if (mask === undefined) {
    const ranges = heatRanges(turn.text, from, to, shown.heat?.places ?? [], plainText);
    const text = yield* sanitising(turn.text.slice(from, to));
    return { text: (yield* including(text, 'pad')) ? withoutPads(text) : text, trained, ranges };
  }
  return { ...maskedText(turn.text, from, to, mask, 'plain', plainText), trained };
}

const plainText = (text: string): string => withoutPads(sanitise(text));

function* thinkBlocks(shown: ShownTurn, part: Part, id: string): Generator<PartOrPause<Block>> {
  const { turn, folds, findings } = shown;
  const whole = turn.text.slice(part.start, part.end);
  const text = whole.slice(...thought(whole));
  if (text.trim() === '') return;
  const trained = isTrained(shown, part.start, part.end);
  const base = { id, turn: turn.index, trained, style: 'quiet' } as const;
  const isLast = turn.parts.findLast(({ kind }) => kind === 'think') === part;
  const unclosed = isLast ? findings.take(({ check, message }) => check === 'unclosed' && /think/.test(message)) : null;
  // Unclosed reasoning is all there is to read, and its end is what matters.
  const folded = isFolded(folds, id, unclosed === null);
  const fold = folded ? 'closed' : 'open';
  const amount = yield* paused(amountOf(text));
  const head: Block = { ...base, text: `${folded ? '▸' : '▾'} think, ${amount}`, indent: 0, fold };
  if (folded) {
    const own = text.includes('<tool_response>') ? findings.take(({ check }) => check === 'own_tool_response') : null;
    const notes = [unclosed, own].flatMap((finding) => (finding === null ? [] : [findingNote(finding, 0)]));
    yield notes.length === 0 ? head : { ...head, notes };
    return;
  }
  yield head;
  let last: Block | null = null;
  for (const one of proseBlocks(shown, part, `${id}.text`, thought)) {
    if (one === PAUSE) yield PAUSE;
    else {
      if (last !== null) yield last;
      last = { ...one, indent: one.indent + 2 };
    }
  }
  if (last === null) return;
  const { notes = [] } = last;
  yield unclosed === null ? last : { ...last, notes: [...notes, findingNote(unclosed, last.text.length)] };
}

/** A part of text. If a person or a model wrote it, fenced code is separate, with its colours. */
function* proseBlocks(shown: ShownTurn, part: Part, id: string, edges: TextEdges): Generator<PartOrPause<Block>> {
  const { turn, findings } = shown;
  const [first, last] = edges(turn.text.slice(part.start, part.end));
  const from = part.start + first;
  const text = turn.text.slice(from, part.start + last);
  const isWritten = turn.role !== 'tool';
  const pieces =
    isWritten && (text.includes('```') || text.includes('~~~'))
      ? stretches(text)
      : [{ start: 0, end: text.length, isCode: false, code: null }];
  for (const [i, { start, end, isCode, code }] of pieces.entries()) {
    const stretch: Part = { kind: 'text', start: from + start, end: from + end };
    const written = yield* paused(body(shown, stretch, isCode ? withoutEnd : trimmed));
    if (written.text === '') continue;
    // A mask or a failure is shown at its place in the text as it was written.
    const isData =
      turn.role === 'tool' && written.ranges.length === 0 && findings.all.length === 0 && isJson(written.text);
    const laid = isData ? { ...written, text: jsonLines(written.text) ?? written.text } : written;
    // A mask within the text is shown as ranges, which matter more than bold type.
    const isMarkdown = isWritten && !isCode && shown.mask === undefined;
    const ranges = isMarkdown ? besideHeat(markdownRanges(laid.text), laid.ranges) : laid.ranges;
    yield findings.mark({
      id: i === 0 ? id : `${id}.f${i}`,
      turn: turn.index,
      indent: isCode ? 2 : 0,
      clip: true,
      text: laid.text,
      style: 'plain',
      trained: laid.trained,
      ...(ranges.length > 0 && { ranges }),
      ...(code !== null && { code }),
      ...(isData && { code: 'json' as const }),
      ...(isCode || isData ? {} : { isProse: true as const }),
    });
  }
}

/** An unlikely token in bold text is shown as unlikely. */
const besideHeat = (ranges: readonly Range[], heat: readonly Range[]): readonly Range[] =>
  heat.length === 0
    ? ranges
    : [...heat, ...ranges.filter((one) => heat.every(({ start, end }) => end <= one.start || start >= one.end))].sort(
        (a, b) => a.start - b.start,
      );

function* callBlocks(shown: ShownTurn, part: Part, id: string): Generator<PartOrPause<Block>> {
  const { turn } = shown;
  const call = shownCallOf(turn, part);
  // A call is not shown verbatim, so its mask is that of the whole.
  const trained = isTrained(shown, part.start, part.end);
  if (call === undefined) {
    const text = yield* paused(sanitising(turn.text.slice(part.start, part.end)));
    yield { turn: turn.index, trained, id, text, style: 'plain', indent: 0 };
  } else yield* calledBlocks(shown, call, id, trained);
}

/** The call in a part of a turn's text. */
const shownCallOf = ({ toolCalls }: Turn, part: Part): ToolCall | undefined =>
  toolCalls.find((call) => call.index === part.call) ?? toolCalls[part.call ?? -1];

/** Identifies the blocks of a call: by its position in the text, or by its number if the text does not show it. */
export function callId(turn: Turn, call: ToolCall): string {
  const part = turn.parts.findIndex((one) => isCall(one) && shownCallOf(turn, one) === call);
  return `t${turn.index}.${part === -1 ? `call${call.index}` : part}`;
}

const isCall = ({ kind }: Part): boolean => kind === 'call';

/** A call as code, with its outcome after the first line; a call that was not executed verbatim, with the reason. */
function* calledBlocks(
  { turn, results, findings }: ShownTurn,
  call: ToolCall,
  id: string,
  trained: Trained,
): Generator<PartOrPause<Block>> {
  const all = call.error === null ? yield* paused(callPieces(call)) : rawPiece(call);
  // A call written in another grammar is shown verbatim there.
  const raw = call.raw.trim();
  const pieces = !turn.parts.some(isCall) && raw !== '' && turn.text.includes(raw) ? all.slice(0, 1) : all;
  const missing = findings.take(({ check, message }) => {
    if (call.error === null) return check === 'call_without_result' && call.resultTurn === null;
    return check === 'call_unparsed' ? !isUnclosed(call) : check === 'unclosed' && !/think/.test(message);
  });
  for (const [i, piece] of pieces.entries()) {
    const notes: Note[] = [];
    if (i === 0) notes.push(results.outcome(call, piece.text.length, missing !== null && call.error === null));
    if (call.error !== null && i === pieces.length - 1) {
      const message = isUnclosed(call) && missing !== null ? missing.message : call.error;
      const severity = missing?.severity ?? 'error';
      notes.push(findingNote({ message, severity }, piece.ranges?.[0]?.start ?? piece.text.length));
    }
    yield { turn: turn.index, trained, id: `${id}.${i}`, ...piece, clip: true, ...(notes.length > 0 && { notes }) };
  }
}

function* partBlocks(shown: ShownTurn): Generator<PartOrPause<Block>> {
  for (const [i, part] of shown.turn.parts.entries()) {
    const id = `t${shown.turn.index}.${i}`;
    if (part.kind === 'think') yield* thinkBlocks(shown, part, id);
    else if (part.kind === 'call') yield* callBlocks(shown, part, id);
    else yield* proseBlocks(shown, part, id, trimmed);
  }
}

/** The whole of a turn. */
export function* turnBlocks(shown: ShownTurn): Generator<PartOrPause<Block>> {
  const { rollout, turn, folds, findings } = shown;
  const id = `t${turn.index}`;
  const folded = isFolded(folds, id, turn.role === 'system' && turn.index < rollout.responseTurn);
  const header = yield* paused(headerBlock(shown, folded));
  if (folded) {
    yield header;
    return;
  }
  let isEmpty = true;
  for (const block of partBlocks(shown)) {
    if (isEmpty && block !== PAUSE) {
      yield header;
      isEmpty = false;
    }
    yield block;
  }
  if (isEmpty) yield turn.toolCalls.length > 0 ? header : { ...header, text: `${header.text}, empty` };
  // Calls that the text shows in another grammar, or not at all, follow it.
  if (!turn.parts.some(isCall)) {
    for (const call of turn.toolCalls) yield* calledBlocks(shown, call, callId(turn, call), false);
  }
  for (const [i, finding] of findings.all.entries()) {
    const [style, text] = [findingStyle(finding), sanitiseLine(finding.message)];
    yield { id: `${id}.finding${i}`, turn: turn.index, text, style, sign: style, trained: false, indent: 0 };
  }
}
