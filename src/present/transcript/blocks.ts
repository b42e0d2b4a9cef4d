import type { Finding } from '../../rollout/finding.ts';
import type { Part, Rollout, Turn } from '../../rollout/rollout.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import { formatJson } from '../json.ts';
import type { Piece } from '../line.ts';
import { maskShare } from '../mask-share.ts';
import { advantageText, formatCount, formatReward, plural } from '../numbers.ts';
import { scoreText } from '../quantities.ts';
import type { Block } from './block.ts';
import { callPieces } from './call.ts';

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

/** Which call a result answers, where its turn was asked for several. */
function answered(rollout: Rollout, turn: Turn): string {
  for (const asking of rollout.turns) {
    if (asking.toolCalls.length < 2) continue;
    const at = asking.toolCalls.findIndex((call) => call.resultTurn === turn.index);
    if (at >= 0) {
      const { name } = asking.toolCalls[at]!;
      return `, answers call ${at + 1} of ${asking.toolCalls.length}${name === null ? '' : `: ${sanitiseLine(name)}`}`;
    }
  }
  return '';
}

function headerBlock(rollout: Rollout, turn: Turn, folded: boolean): Block {
  const right: Piece[] = [];
  const add = (style: Piece[0], text: string) => right.push([style, `${right.length > 0 ? '  ' : ''}${text}`]);
  if (turn.confidence === 'inferred') add('quiet', 'border inferred');
  if (turn.reward !== null) add('strong', formatReward(turn.reward));
  const sum = rollout.rewards.returns?.[turn.index] ?? null;
  if (sum !== null) add('quiet', `return ${scoreText(sum)}`);
  const role = (sanitiseLine(turn.role) || 'text') + answered(rollout, turn);
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

function thinkBlocks(turn: Turn, part: Part, id: string, folds: Folds): Block[] {
  const text = trimmed(turn.text.slice(part.start, part.end).replace(/^<think>|<\/think>\s*$/g, ''));
  if (text.trim() === '') return [];
  const base = { id, turn: turn.index, trained: turn.trained, style: 'quiet' } as const;
  const folded = isFolded(folds, id, true);
  const fold = folded ? 'closed' : 'open';
  const head: Block = { ...base, text: `${folded ? '▸' : '▾'} think, ${amount(text)}`, indent: 0, fold };
  return folded ? [head] : [head, { ...base, id: `${id}.text`, text: sanitise(text), indent: 2, clip: true }];
}

function callBlocks(turn: Turn, part: Part, id: string): Block[] {
  const call = turn.toolCalls.find((call) => call.index === part.call) ?? turn.toolCalls[part.call ?? -1];
  const base = { turn: turn.index, trained: turn.trained };
  if (call === undefined) {
    return [{ ...base, id, text: sanitise(turn.text.slice(part.start, part.end)), style: 'plain', indent: 0 }];
  }
  return callPieces(call).map((piece, i) => ({ ...base, id: `${id}.${i}`, ...piece, clip: true }));
}

function turnBlocks(rollout: Rollout, turn: Turn, folds: Folds): Block[] {
  const id = `t${turn.index}`;
  const folded = isFolded(folds, id, turn.role === 'system' && turn.index < rollout.responseTurn);
  const blocks = [headerBlock(rollout, turn, folded)];
  if (folded) return blocks;
  turn.parts.forEach((part, i) => {
    const partId = `${id}.${i}`;
    if (part.kind === 'think') blocks.push(...thinkBlocks(turn, part, partId, folds));
    else if (part.kind === 'call') blocks.push(...callBlocks(turn, part, partId));
    else {
      const text = trimmed(turn.text.slice(part.start, part.end));
      if (text === '') return;
      const base = { id: partId, turn: turn.index, trained: turn.trained, indent: 0, clip: true } as const;
      blocks.push({ ...base, text: withoutPads(sanitise(text)), style: 'plain' });
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
  const findings = rollout.findings.map(findingBlock);
  for (const turn of rollout.turns) {
    blocks.push(...turnBlocks(rollout, turn, folds));
    blocks.push(...findings.filter((block) => block.turn === turn.index));
    blocks.push(blank(`t${turn.index}`, turn.index));
  }
  blocks.push(...findings.filter((block) => block.turn === null), ...verdictBlocks(rollout, advantage));
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
