import type { Finding } from '../../rollout/finding.ts';
import type { Part, Rollout, Turn } from '../../rollout/rollout.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import { formatJson } from '../json.ts';
import type { Piece } from '../line.ts';
import { maskShare } from '../mask-share.ts';
import { advantageText, formatCount, formatReward, plural } from '../numbers.ts';
import { scoreText } from '../quantities.ts';
import type { Style } from '../theme.ts';
import type { Block } from './block.ts';
import { callPieces } from './call.ts';
import { anyTrained, type MaskPiece, maskedText, partlyTrained } from './turn-mask.ts';

/** Parts that the reader opened or closed against the default, by block id. */
export type Folds = ReadonlyMap<string, boolean>;

const WORD = /\S+/g;

/** How much is folded away, in a word or two. */
function amount(text: string): string {
  const words = text.match(WORD)?.length ?? 0;
  // Chinese writes no blanks between words: characters say more there.
  return words * 12 < text.length ? plural(text.length, 'character') : plural(words, 'word');
}

const isFolded = (folds: Folds, id: string, byDefault: boolean): boolean => folds.get(id) ?? byDefault;

/** Text without the line breaks at its edges, which templates write around a body. */
const trimmed = (text: string): string => text.replace(/^\n+|\s+$/g, '');

/** Runs of <|image_pad|> and its like say how many, once. */
const PADS = /(<\|[A-Za-z_]*pad[A-Za-z_]*\|>)\1+/g;
const withoutPads = (text: string): string =>
  text.replace(PADS, (run, pad: string) => `${pad} × ${formatCount(run.length / pad.length)}`);

/** By result turn: which call it answers, where its turn was asked for several. */
function answers(rollout: Rollout): ReadonlyMap<number, string> {
  const words = new Map<number, string>();
  for (const { toolCalls } of rollout.turns) {
    if (toolCalls.length < 2) continue;
    toolCalls.forEach(({ name, resultTurn }, i) => {
      if (resultTurn === null || words.has(resultTurn)) return;
      const tool = name === null ? '' : `: ${sanitiseLine(name)}`;
      words.set(resultTurn, `, answers call ${i + 1} of ${toolCalls.length}${tool}`);
    });
  }
  return words;
}

function headerBlock({ rollout, turn, answer }: Shown, folded: boolean): Block {
  const right: Piece[] = [];
  const add = (style: Piece[0], text: string) => right.push([style, `${right.length > 0 ? '  ' : ''}${text}`]);
  if (turn.confidence === 'inferred') add('quiet', 'border inferred');
  if (turn.reward !== null) add('strong', formatReward(turn.reward));
  const sum = rollout.rewards.returns?.[turn.index] ?? null;
  if (sum !== null) add('quiet', `return ${scoreText(sum)}`);
  const role = (sanitiseLine(turn.role) || 'text') + answer;
  return {
    id: `t${turn.index}`,
    turn: turn.index,
    text: folded ? `▸ ${role}, ${amount(turn.text)}` : role,
    style: folded ? 'quiet' : turn.trained ? 'trained' : 'heading',
    trained: turn.trained,
    indent: 0,
    header: true,
    ...(folded ? { fold: 'closed' as const } : {}),
    right,
  };
}

/** A turn as it is being laid out; `mask` only where it is trained in part. */
interface Shown {
  rollout: Rollout;
  turn: Turn;
  folds: Folds;
  mask: readonly MaskPiece[] | undefined;
  /** Which call it answers, in words. */
  answer: string;
}

const isTrained = ({ turn, mask }: Shown, start: number, end: number): boolean =>
  mask === undefined ? turn.trained : anyTrained(mask, start, end);

/** start..end of the turn without what `edges` takes off at both ends, its mask beside it. */
function body(shown: Shown, { start, end }: Part, edges: (text: string) => string, style: Style, prepare = sanitise) {
  const { turn, mask } = shown;
  const whole = turn.text.slice(start, end);
  const text = edges(whole);
  const from = start + whole.indexOf(text);
  const trained = isTrained(shown, from, from + text.length);
  if (mask === undefined) return { text: prepare(text), style, trained };
  return { ...maskedText(turn.text, from, from + text.length, mask, style, prepare), style, trained };
}

const thought = (text: string): string => trimmed(text.replace(/^<think>|<\/think>\s*$/g, ''));

function thinkBlocks(shown: Shown, part: Part, id: string): Block[] {
  const { turn, folds } = shown;
  const text = thought(turn.text.slice(part.start, part.end));
  if (text.trim() === '') return [];
  const trained = isTrained(shown, part.start, part.end);
  const base = { id, turn: turn.index, trained, style: 'quiet' } as const;
  const folded = isFolded(folds, id, true);
  const fold = folded ? 'closed' : 'open';
  const head: Block = { ...base, text: `${folded ? '▸' : '▾'} think, ${amount(text)}`, indent: 0, fold };
  if (folded) return [head];
  return [head, { ...base, ...body(shown, part, thought, 'quiet'), id: `${id}.text`, indent: 2, clip: true }];
}

function callBlocks(shown: Shown, part: Part, id: string): Block[] {
  const { turn } = shown;
  const call = turn.toolCalls.find((call) => call.index === part.call) ?? turn.toolCalls[part.call ?? -1];
  // A call is not shown as it was written, so the mask is that of the whole.
  const base = { turn: turn.index, trained: isTrained(shown, part.start, part.end) };
  if (call === undefined) {
    return [{ ...base, id, text: sanitise(turn.text.slice(part.start, part.end)), style: 'plain', indent: 0 }];
  }
  return callPieces(call).map((piece, i) => ({ ...base, id: `${id}.${i}`, ...piece, clip: true }));
}

function turnBlocks(shown: Shown): Block[] {
  const { rollout, turn, folds } = shown;
  const id = `t${turn.index}`;
  const folded = isFolded(folds, id, turn.role === 'system' && turn.index < rollout.responseTurn);
  const blocks = [headerBlock(shown, folded)];
  if (folded) return blocks;
  turn.parts.forEach((part, i) => {
    const partId = `${id}.${i}`;
    if (part.kind === 'think') blocks.push(...thinkBlocks(shown, part, partId));
    else if (part.kind === 'call') blocks.push(...callBlocks(shown, part, partId));
    else {
      const text = body(shown, part, trimmed, 'plain', (text) => withoutPads(sanitise(text)));
      if (text.text !== '') blocks.push({ id: partId, turn: turn.index, indent: 0, clip: true, ...text });
    }
  });
  return blocks;
}

const findingBlock = (finding: Finding, i: number): Block => ({
  id: `finding.${i}`,
  turn: finding.turn,
  text: `! ${sanitiseLine(finding.message)}`,
  style: finding.severity === 'error' ? 'error' : 'warning',
  trained: false,
  indent: 0,
});

/** The rollout's own numbers, once, after its last turn. */
function verdictBlocks(rollout: Rollout, advantage: number | null): Block[] {
  const line = (id: string, text: string, style: Block['style'] = 'plain'): Block => ({
    id,
    turn: null,
    text,
    style,
    trained: false,
    indent: 0,
    clip: true,
  });
  const blocks = [line('score', `score ${scoreText(rollout.score)}`, 'strong')];
  if (advantage !== null) blocks.push(line('advantage', `advantage ${advantageText(advantage)}`));
  if (rollout.groundTruth !== undefined) {
    const truth = rollout.groundTruth;
    const text = typeof truth === 'string' ? truth : formatJson(truth);
    blocks.push(line('ground-truth', `ground truth ${sanitise(text)}`));
  }
  for (const { field, values } of rollout.rewards.unaligned) {
    blocks.push(line(`unaligned.${field}`, sanitise(`${field} ${formatJson(values)}, unaligned`), 'quiet'));
  }
  if (rollout.lossMask !== null) blocks.push(line('mask', `loss mask ${maskShare(rollout.lossMask)}`, 'quiet'));
  return blocks;
}

const blank = (id: string, turn: number | null): Block => ({
  id: `${id}.blank`,
  turn,
  text: '',
  style: 'plain',
  trained: false,
  indent: 0,
});

/** All of a rollout as it reads from top to bottom. `advantage`: relative to its group, null where that is not known. */
export function transcriptBlocks(rollout: Rollout, folds: Folds, advantage: number | null = null): Block[] {
  const blocks: Block[] = [];
  const masks = partlyTrained(rollout);
  const answered = answers(rollout);
  const findings = new Map<number | null, Block[]>();
  rollout.findings.map(findingBlock).forEach((block) => {
    findings.set(block.turn, [...(findings.get(block.turn) ?? []), block]);
  });
  for (const turn of rollout.turns) {
    const { index } = turn;
    blocks.push(...turnBlocks({ rollout, turn, folds, mask: masks.get(index), answer: answered.get(index) ?? '' }));
    blocks.push(...(findings.get(index) ?? []));
    blocks.push(blank(`t${turn.index}`, turn.index));
  }
  blocks.push(...(findings.get(null) ?? []), ...verdictBlocks(rollout, advantage));
  return blocks;
}

/** A line that is no record: why, and its raw text. */
export function rawBlocks(error: string, raw: string): Block[] {
  const base = { turn: null, trained: false, indent: 0 } as const;
  return [
    { ...base, id: 'error', text: sanitise(error), style: 'error' },
    blank('error', null),
    { ...base, id: 'raw', text: sanitise(raw), style: 'plain' },
  ];
}
