import { plural } from '../../../core/text/numbers.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { type Attempt, diffOf, type ReplayOutcome } from '../../../replay/outcome.ts';
import { formatJson } from '../json.ts';
import type { Piece } from '../line.ts';
import type { Block } from '../transcript/block.ts';
import type { Folds } from '../transcript/blocks.ts';
import { diffBlocks } from './diff-blocks.ts';
import { attemptText, outcomeStyle, outcomeSummary } from './outcome-text.ts';
import type { CallReplay } from './view.ts';

interface BlockPlace {
  id: string;
  turn: number;
  folds: Folds;
}

/** The pieces at the right edge of the recorded result. */
export const resultPieces = ({ standing }: CallReplay): Piece[] =>
  standing === null ? [] : [[outcomeStyle(standing), `again: ${outcomeSummary(standing)}`]];

/** The blocks below the recorded result: the difference, the run itself, and the outcomes of edited runs. */
export function callBlocks(replay: CallReplay, place: BlockPlace): Block[] {
  const { standing, edits, reported } = replay;
  const blocks = reported.map(({ by, outcome }, i): Block => {
    const text = sanitiseLine(`reported by ${by}: ${outcomeSummary(outcome)}`);
    return { ...plain(`${place.id}.reported${i}`, place.turn), text, style: 'quiet' };
  });
  if (standing !== null) blocks.push(...outcomeBlocks(standing, { ...place, id: `${place.id}.standing` }));
  for (const [i, edit] of edits.entries()) {
    const id = `${place.id}.edit${i}`;
    const text = `edited, run ${i + 1}: ${outcomeSummary(edit)}`;
    blocks.push({ ...plain(id, place.turn), text, style: outcomeStyle(edit) });
    // The latest is what the reader is working on; earlier ones are its history.
    if (i < edits.length - 1) continue;
    blocks.push(...argumentBlocks(edit, place.turn, `${id}.arguments`));
    blocks.push(...outcomeBlocks(edit, { ...place, id }));
  }
  return blocks;
}

const plain = (id: string, turn: number): Omit<Block, 'text' | 'style'> => ({ id, turn, trained: false, indent: 0 });

function outcomeBlocks(outcome: ReplayOutcome, { id, turn, folds }: BlockPlace): Block[] {
  const blocks: Block[] = [];
  const { reason, attempts, outcomes, predecessors } = outcome;
  if (predecessors.length > 0) {
    const text = `again: with ${plural(predecessors.length, 'call')} before it in the same session`;
    blocks.push({ ...plain(`${id}.predecessors`, turn), text, style: 'quiet' });
  }
  if (reason !== null)
    blocks.push({ ...plain(`${id}.reason`, turn), text: `again: ${sanitiseLine(reason)}`, style: 'quiet' });
  const diff = outcome.status === 'drift' ? diffOf(outcome) : null;
  if (diff !== null) blocks.push(...diffBlocks(`${id}.diff`, turn, diff, 0));
  if (outcome.status === 'unknown' && outcome.result !== null)
    blocks.push({ ...plain(`${id}.result`, turn), text: sanitise(outcome.result.text), style: 'plain', clip: true });
  if (outcomes.length > 1) {
    for (const [i, { count, result, verdict }] of outcomes.entries()) {
      const text = `${count} × ${verdict ?? 'result'}: ${sanitiseLine(result.slice(0, 200).trim())}`;
      blocks.push({ ...plain(`${id}.outcome${i}`, turn), text, style: 'quiet' });
    }
  }
  const last = attempts.at(-1);
  if (last === undefined) return blocks;
  const run = `${id}.run`;
  const isFolded = folds.get(run) ?? true;
  const head = `${isFolded ? '▸' : '▾'} run again: ${attemptText(last)}`;
  blocks.push({ ...plain(run, turn), text: head, style: 'quiet', fold: isFolded ? 'closed' : 'open' });
  if (!isFolded) blocks.push(...attemptBlocks(last, run, turn));
  return blocks;
}

function attemptBlocks({ stdout, stderr, at }: Attempt, id: string, turn: number): Block[] {
  const base = { turn, trained: false } as const;
  const blocks: Block[] = [];
  for (const [name, text] of Object.entries({ stdout, stderr })) {
    if (text === null || text === '') continue;
    blocks.push({ ...base, id: `${id}.${name}`, text: name, style: 'quiet', indent: 2 });
    blocks.push({
      ...base,
      id: `${id}.${name}.text`,
      text: sanitise(text.replace(/\n$/, '')),
      style: name === 'stderr' ? 'warning' : 'plain',
      indent: 4,
      clip: true,
    });
  }
  blocks.push({ ...base, id: `${id}.at`, text: `at ${sanitiseLine(at)}`, style: 'quiet', indent: 2 });
  return blocks;
}

/** The edited call; only its code if it contains nothing else. */
function argumentBlocks({ arguments: args }: ReplayOutcome, turn: number, id: string): Block[] {
  if (args === undefined) return [];
  const values = typeof args === 'object' && args !== null ? Object.values(args) : [args];
  const text = values.length === 1 && typeof values[0] === 'string' ? values[0] : formatJson(args, 2);
  return [{ id, turn, text: sanitise(text.trimEnd()), style: 'plain', trained: false, indent: 2, clip: true }];
}
