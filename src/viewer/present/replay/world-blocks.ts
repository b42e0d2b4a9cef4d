import { seenResult } from '../../../analysis/actions/seen-result.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { diffTexts } from '../../../replay/diff.ts';
import type { WorldOutcome } from '../../../replay/worlds/replay-world.ts';
import type { Piece } from '../line.ts';
import { runDurationText } from '../replay-text.ts';
import type { Style } from '../theme.ts';
import type { Block } from '../transcript/block.ts';
import { footLines } from '../world-text.ts';
import { diffBlocks } from './diff-blocks.ts';
import { underwayPieces } from './outcome-text.ts';
import type { WorldReplay } from './view.ts';

const verdictStyle = ({ verdict }: WorldOutcome): Style =>
  verdict === 'drift' ? 'warning' : verdict === 'infra' ? 'error' : 'quiet';

/** `drift, tainted, 14 ms, rootfs:/images/task-7`. */
function worldSummary({ verdict, tainted, seconds }: WorldOutcome, image: string): string {
  const words = [verdict, ...(tainted ? ['tainted'] : []), runDurationText(seconds), image];
  return sanitiseLine(words.join(', '));
}

export const worldUnderway = ({ underway }: WorldReplay, now: number): Piece[] =>
  underway === null ? [] : underwayPieces({ kind: 'running', attempt: 0, of: 1, ...underway }, now);

/** The pieces at the right edge of the recorded result. */
export const worldPieces = ({ outcome, image }: WorldReplay): Piece[] =>
  outcome === null ? [] : [[verdictStyle(outcome), `again: ${worldSummary(outcome, image)}`]];

/** The blocks below the recorded result: why, the difference, what the call changed, and what edited commands gave. */
export function worldBlocks({ outcome, edits, image }: WorldReplay, id: string, turn: number): Block[] {
  const blocks: Block[] = [];
  if (outcome !== null) blocks.push(...outcomeBlocks(outcome, `${id}.world`, turn, false));
  for (const [i, { text, outcome: edited }] of edits.entries()) {
    const own = `${id}.worldedit${i}`;
    const base = { turn, trained: false, indent: 0 } as const;
    const head = `edited, run ${i + 1}: ${worldSummary(edited, image)}`;
    blocks.push({ ...base, id: own, text: head, style: verdictStyle(edited) });
    // The latest is what the reader is working on; earlier ones are its history.
    if (i < edits.length - 1) continue;
    blocks.push({ ...base, id: `${own}.text`, text: sanitise(text.trimEnd()), style: 'plain', indent: 2, clip: true });
    blocks.push(...outcomeBlocks(edited, own, turn, true));
  }
  return blocks;
}

function outcomeBlocks(outcome: WorldOutcome, id: string, turn: number, isEdited: boolean): Block[] {
  const { verdict, reason, recorded, result } = outcome;
  const base = { turn, trained: false, indent: 0 } as const;
  const blocks: Block[] = [];
  if (reason !== null)
    blocks.push({ ...base, id: `${id}.reason`, text: `again: ${sanitiseLine(reason)}`, style: 'quiet' });
  const diff =
    verdict === 'drift' && recorded !== null && result !== null ? diffTexts(seenResult(recorded).output, result) : null;
  if (diff !== null) blocks.push(...diffBlocks(`${id}.diff`, turn, diff, 0));
  else if (result !== null && result !== '' && (isEdited || recorded === null))
    blocks.push({
      ...base,
      id: `${id}.result`,
      text: sanitise(result.trimEnd()),
      style: 'plain',
      indent: 2,
      clip: true,
    });
  for (const [i, text] of footLines(outcome).entries())
    blocks.push({ ...base, id: `${id}.foot${i}`, text, style: 'quiet', indent: 2 });
  return blocks;
}
