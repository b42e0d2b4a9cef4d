import { readFileSync } from 'node:fs';
import { UsageError } from '../../core/dump/paths.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { editText } from '../tui/runner/external-program.ts';
import { asUsage } from './consent.ts';

/** The new text of a turn, from a file or $EDITOR. @param edit a file, `-` for stdin; true = $EDITOR @throws UsageError for a missing turn, or for a text identical to the turn's */
export function editedTurn({ turns }: Rollout, turn: number, edit: string | true, option: string): string {
  const before = turns[turn]?.text;
  if (before === undefined) throw new UsageError(`${option}: no turn ${turn}; the turns are 0 to ${turns.length - 1}`);
  if (edit === true && !process.stdin.isTTY)
    throw new UsageError(
      `${option} without a file opens $EDITOR, which needs a terminal: give ${option} FILE, or - for stdin`,
    );
  const after = asUsage(() =>
    edit === true
      ? editText(before, 'md', process.env)
      : readFileSync(edit === '-' ? 0 : edit, 'utf8').replace(/\n$/, ''),
  );
  if (after === before) throw new UsageError(`${option}: nothing was changed`);
  return after;
}
