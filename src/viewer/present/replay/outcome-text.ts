import { plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { exitText } from '../../../replay/execution.ts';
import type { Attempt, ReplayOutcome } from '../../../replay/index.ts';
import type { Piece } from '../line.ts';
import { runDurationText } from '../replay-text.ts';
import type { Style } from '../theme.ts';
import type { Underway } from './view.ts';

const WORD: Record<string, string> = { now_fails: 'now fails', now_succeeds: 'now succeeds' };

/** `same`, `different`, `now fails`, `flaky`, `skipped` … */
export const outcomeWord = ({ status, verdict }: Pick<ReplayOutcome, 'status' | 'verdict'>): string =>
  status === 'same' ? 'same' : (WORD[verdict ?? status] ?? verdict ?? status);

export function outcomeStyle({ status, verdict }: Pick<ReplayOutcome, 'status' | 'verdict'>): Style {
  if (status === 'error' || verdict === 'now_fails') return 'error';
  return status === 'drift' ? 'warning' : 'quiet';
}

/** `same, 14 ms, bubblewrap`: the outcome, how long it took, where. */
export function outcomeSummary(outcome: ReplayOutcome): string {
  const { time, backend, attempts } = outcome;
  const said = [outcomeWord(outcome)];
  if (attempts.length > 1) said.push(`${attempts.length} runs`);
  if (time !== null) said.push(attempts.length > 1 ? spreadText(time) : runDurationText(time.median));
  if (backend !== null && attempts.length > 0) said.push(backend.replace(/^https?:\/\//, ''));
  return sanitiseLine(said.join(', '));
}

/** `9 to 14 ms`; `10 ms` if they are equal. */
function spreadText({ min, max }: NonNullable<ReplayOutcome['time']>): string {
  const [least, most] = [runDurationText(min), runDurationText(max)];
  return least === most ? most : `${least} to ${most}`;
}

export function underwayPieces(underway: Underway, now: number): Piece[] {
  if (underway.kind === 'queued') return [['quiet', 'queued']];
  if (underway.kind === 'before') return [['quiet', `runs first, for t${underway.turn}`]];
  const seconds = Math.max(0, Math.floor((now - underway.since) / 1000));
  const which = underway.of > 1 ? ` ${underway.attempt + 1}/${underway.of}` : '';
  const what = underway.edited ? 'running edited' : 'running';
  return [
    ['accent', `${what}${which} ${seconds} s`],
    ['quiet', '  ^c cancels'],
  ];
}

/** `exit status 1, 14 ms, stdout 3 lines, stderr 5 lines`. */
export function attemptText({ exit_status, duration, run_time, stdout, stderr, error }: Attempt): string {
  if (error !== null) return sanitiseLine(error);
  const said = exit_status === null ? [] : [exitText(exit_status)];
  said.push(
    run_time === null ? runDurationText(duration) : `${runDurationText(run_time)} of ${runDurationText(duration)}`,
  );
  if (stdout !== null) said.push(`stdout ${amount(stdout)}`);
  if (stderr !== null) said.push(`stderr ${amount(stderr)}`);
  return said.join(', ');
}

const amount = (text: string): string =>
  text === '' ? 'empty' : plural(text.replace(/\n$/, '').split('\n').length, 'line');
