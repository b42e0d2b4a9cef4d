import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import type { DiffLine, ReplayOutcome } from '../../replay/index.ts';

function verdictWords({ status, verdict, reason }: Pick<ReplayOutcome, 'status' | 'verdict' | 'reason'>): string {
  const word = verdict === null || status === 'same' ? status : `${status}: ${verdict}`;
  if (reason === null) return word;
  return status === 'skipped' || status === 'error' ? `${word}: ${reason}` : `${word} (${reason})`;
}

/** One line per call: its location, its tool, the outcome, how long it took and where. */
export function outcomeLine(outcome: ReplayOutcome): string {
  const { locator, turn, call, name, time, backend, edited, attempts } = outcome;
  const took =
    time === null
      ? ''
      : `, ${runDurationText(time.median)}${attempts.length > 1 ? ` (${runDurationText(time.min)} to ${runDurationText(time.max)})` : ''}`;
  const where = backend === null ? '' : `, ${backend}`;
  const what = `call ${call} ${name ?? '?'}${edited ? ', edited' : ''}: ${verdictWords(outcome)}${took}${where}`;
  return sanitiseLine(`${locator}#t${turn}  ${what}`);
}

export const reportedLine = ({ by, outcome }: { by: string; outcome: ReplayOutcome }): string =>
  sanitiseLine(
    `    reported by ${by}: ${verdictWords(outcome)}${outcome.backend === null ? '' : `, ${outcome.backend}`}`,
  );

export const runDurationText = (seconds: number): string =>
  seconds < 1
    ? `${Math.round(seconds * 1000)} ms`
    : seconds < 60
      ? `${seconds.toFixed(1)} s`
      : `${Math.round(seconds / 60)} min`;

/** `3,000 lines of the record and 12 new ones are left out`. */
export const leftOutText = ({ removed, added }: { removed: number; added: number }): string =>
  `${plural(removed, 'recorded line')} and ${plural(added, 'new one')} are left out`;

/** A comparison, one line each: `-` recorded, `+` new. Text from the data is sanitised. */
export const diffLines = (diff: readonly DiffLine[]): string[] =>
  diff.map((line) => {
    if (line.op === 'skipped') return `  … ${line.lines} equal lines`;
    if (line.op === 'left_out') return `  … ${leftOutText(line)}`;
    return `${line.op === 'removed' ? '-' : line.op === 'added' ? '+' : ' '} ${sanitiseLine(line.text)}`;
  });
