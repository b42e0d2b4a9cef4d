import { finished } from '../../../core/async/finished.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { Rollout, Turn } from '../../../core/rollout/rollout.ts';
import { stretchesOf, type Times } from '../../../core/rollout/times.ts';
import type { TokenText } from '../../../core/rollout/token-table.ts';
import { type TruthCall, truthCalls } from '../../../core/rollout/truth-calls.ts';
import { truncate } from '../../../core/text/fit.ts';
import { secondsText, sizeText } from '../../../core/text/quantities.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { formatJson } from '../json.ts';
import type { Piece } from '../line.ts';
import { maskShare } from '../mask-share.ts';
import { advantageText } from '../numbers.ts';
import { timeBar, timeLegend } from '../time-bar.ts';
import type { Block, Range } from './block.ts';
import { contextHeading, OwnTrajectories, withOutlines } from './context-blocks.ts';
import { findingsByTurn, Unplaced } from './findings.ts';
import { jsonLines } from './json-text.ts';
import { Results } from './results.ts';
import { findingExplanation, footLine, scoreBlocks } from './score-foot.ts';
import type { PartOrPause, Section } from './section.ts';
import { type Folds, turnBlocks } from './turn-blocks.ts';
import { heatByTurn } from './turn-heat.ts';
import { findingMasks, partlyTrained } from './turn-mask.ts';

export type { Folds };

/** The rollout's own numbers, shown once, after its last turn. */
function verdictBlocks(rollout: Rollout, advantage: number | null, labels: readonly string[]): Block[] {
  const blocks = scoreBlocks(rollout);
  if (advantage !== null) blocks.push(footLine('advantage', `advantage ${advantageText(advantage)}`));
  if (rollout.groundTruth !== undefined) {
    const truth = rollout.groundTruth;
    const text = typeof truth === 'string' ? truth : formatJson(truth);
    const lines = jsonLines(text);
    blocks.push(footLine('ground-truth', `ground truth ${sanitise(lines === null ? text : `\n${lines}`)}`));
    blocks.push(...truthBlocks(rollout));
  }
  for (const { field, values } of rollout.rewards.unaligned) {
    blocks.push(footLine(`unaligned.${field}`, sanitise(`${field} ${formatJson(values)}, unaligned`), 'quiet'));
  }
  if (rollout.lossMask !== null) blocks.push(footLine('mask', `loss mask ${maskShare(rollout.lossMask)}`, 'quiet'));
  for (const [i, text] of labels.entries())
    blocks.push({ ...footLine(`label.${i}`, `label ${text}`, 'strong'), clip: false });
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

/** The section of a turn, including everything up to the next turn. */
export const turnSection = (index: number): string => `t${index}`;
/** The section after the last turn. */
export const END_SECTION = 'end';

/** Blocks after the last turn that are not from the record. */
interface TextBeside {
  /** Relative to its group; null if unknown. */
  advantage?: number | null;
  /** Labels of people. */
  labels?: readonly string[];
  /** Finds the unlikely tokens in the text. */
  tokenizer?: TokenText | null;
}

/** Characters of a turn that is laid out again at once. Of a longer one the words are counted even for its one line, if it is folded. */
const QUICK = 32_768;

/** A whole rollout in reading order, one section per turn. */
export function* transcriptSections(
  rollout: Rollout,
  opened: Folds,
  { advantage = null, labels = [], tokenizer = null }: TextBeside = {},
): Generator<Section> {
  const folds = withOutlines(rollout, opened);
  const keys = finished(findingFoldKeys(opened));
  const masks = partlyTrained(rollout);
  const results = Results.of(rollout);
  const findings = findingsByTurn(rollout.findings);
  const own = new OwnTrajectories(rollout);
  const heats = heatByTurn(rollout, tokenizer);

  function* blocksOf(turn: Turn, areBothFolded: boolean): Generator<PartOrPause<Block>> {
    const { index } = turn;
    const heading = contextHeading(rollout, index);
    if (heading !== null) yield* [heading, blank(heading.id, null)];
    yield* turnBlocks({
      rollout,
      turn,
      folds,
      results,
      mask: masks.get(index),
      heat: heats.get(index),
      findings: new Unplaced(findings.get(index) ?? []),
    });
    // Turns folded to a line have no gap between them, like an outline.
    if (!areBothFolded) yield blank(`t${index}`, index);
    yield* own.blocks(index, folds);
  }

  const { times } = rollout;
  if (times !== undefined)
    yield { id: 'time', key: '', source: rollout, blocks: () => [...timeBlocks(times), blank('time', null)] };

  for (const turn of rollout.turns) {
    const { index } = turn;
    const areBothFolded = folds.get(`t${index}`) === true && folds.get(`t${index + 1}`) === true;
    yield {
      id: turnSection(index),
      key: `${keys.get(`t${index}`) ?? ''}${own.hasBehind(index) ? keys.get('c') : ''}${areBothFolded}`,
      source: rollout,
      isMadeAnew: turn.text.length < QUICK,
      // Not a generator itself: each of those has a prototype of its own.
      blocks: () => blocksOf(turn, areBothFolded),
    };
  }

  yield {
    id: END_SECTION,
    key: `${keys.get('c')} ${keys.get(END_SECTION)} ${advantage} ${labels.join('\n')}`,
    source: rollout,
    blocks: () => [...own.blocks(null, folds), ...verdictBlocks(rollout, advantage, labels)],
  };
}

/** Finds out what `transcriptSections` needs of the whole rollout; with very many turns that takes a while. */
export function* preparingSections(rollout: Rollout, opened: Folds): Generator<void> {
  yield* findingFoldKeys(opened);
  yield* findingMasks(rollout);
  yield* Results.finding(rollout);
  yield* findingExplanation(rollout);
}

type FoldKeys = ReadonlyMap<string, string>;
const knownKeys = new WeakMap<Folds, FoldKeys>();
/** Folds examined between two pauses. */
const SHARE = 5000;

/** The reader's folds by turn; those of trajectories with their own record under `c`, and the rest under the end. */
function* findingFoldKeys(folds: Folds): Generator<void, FoldKeys> {
  const before = knownKeys.get(folds);
  if (before !== undefined) return before;
  const keys = new Map<string, string>();
  let at = 0;
  for (const [id, isClosed] of folds) {
    if (at++ % SHARE === SHARE - 1) yield;
    const top = /^t\d+/.exec(id)?.[0] ?? (/^c\d/.test(id) ? 'c' : END_SECTION);
    keys.set(top, `${keys.get(top) ?? ''}${id}=${isClosed} `);
  }
  knownKeys.set(folds, keys);
  return keys;
}

/** Shown while a long record is being read. @param bytes of its line */
export const pendingBlocks = (bytes: number): Block[] => [
  { id: 'pending', turn: null, text: `reading ${sizeText(bytes)} …`, style: 'quiet', trained: false, indent: 0 },
];

/** A line that is not a record: the reason, and its raw text. */
export function rawBlocks(error: string, raw: string): Block[] {
  const base = { turn: null, trained: false, indent: 0 } as const;
  return [
    { ...base, id: 'error', text: sanitise(error), style: 'error' },
    blank('error', null),
    { ...base, id: 'raw', text: sanitise(raw), style: 'plain' },
  ];
}

const BAR = 32;

/** The strip above the first turn: where the time went, and how much is unexplained. */
function timeBlocks(times: Times): Block[] {
  const head: Piece[] = [['quiet', `time ${secondsText(times.wall)}  `]];
  const bar = times.spans.length === 0 ? [] : timeBar(stretchesOf(times), times.wall, BAR);
  const legend = timeLegend(times).flatMap((pieces): Piece[] => [['plain', '  '], ...pieces]);
  const blocks = [styledBlock('time', [...head, ...bar, ...legend])];
  if (times.doubt !== null) blocks.push(styledBlock('time.doubt', [['warning', sanitise(times.doubt)]]));
  return blocks;
}

/** One line of pieces as a block. */
function styledBlock(id: string, pieces: readonly Piece[]): Block {
  const ranges: Range[] = [];
  let text = '';
  for (const [style, piece] of pieces) {
    if (style !== 'plain') ranges.push({ start: text.length, end: text.length + piece.length, style });
    text += piece;
  }
  return { id, turn: null, text, style: 'plain', trained: false, indent: 0, ranges };
}

/** Cells of a value that differs. */
const VALUE = 60;

const valueWords = (value: JsonValue | undefined): string =>
  value === undefined ? 'none' : truncate(sanitiseLine(formatJson(value)), VALUE);

const SIGNS = { made: '✓', other: '≠', missing: '✗', extra: '+' } as const;

/** The calls that the ground truth lists beside those that were made; nothing if it is no list of calls. */
function truthBlocks(rollout: Rollout): Block[] {
  const calls = truthCalls(rollout);
  if (calls === null) return [];
  const first = calls.find(({ how }) => how !== 'made');
  return [
    footLine('truth-calls', 'calls of the ground truth', 'quiet'),
    ...calls.flatMap((call, i): Block[] => {
      const id = `truth-calls.${i}`;
      const isFirst = call === first && calls.length > 1 ? ', the first difference' : '';
      const text = `${SIGNS[call.how]} ${sanitiseLine(call.name)}  ${callWords(call)}${isFirst}`;
      return [
        { ...footLine(id, text, call.how === 'made' && !call.failed ? 'plain' : 'warning'), indent: 2 },
        ...call.differs.map(({ key, wanted, given }, at) => ({
          ...footLine(`${id}.${at}`, `${sanitiseLine(key)}: ${valueWords(given)}, expected ${valueWords(wanted)}`),
          indent: 6,
        })),
      ];
    }),
  ];
}

function callWords({ how, turn, failed }: TruthCall): string {
  const at = `t${turn}${failed ? ', and failed' : ''}`;
  if (how === 'made') return `called in ${at}`;
  if (how === 'other') return `called in ${at}, with other arguments`;
  return how === 'missing' ? 'never called' : `called in ${at}, not listed`;
}
