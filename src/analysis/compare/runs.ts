import { float64At, numberInAt, uint32At } from '../../core/lists/at.ts';
import { groupKeyOf } from '../../core/rollout/group-key.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { membersByNumber } from '../facts/members.ts';
import { groupStats, PASS } from '../prompts/group-stats.ts';
import type { Rest } from '../rest.ts';

/** The result of a prompt in one run. */
interface RunSide {
  n: number;
  scored: number;
  mean: number | null;
  /** The rows of its first rollout, and of the first ones with the highest and the lowest score. */
  row: number;
  best: number;
  worst: number;
}

/**
 * won: the second run is better; never scored: one of the two has no score for it; first, second: only that run has the
 * prompt.
 */
export type RunOutcome = 'won' | 'lost' | 'same' | 'never scored' | 'first' | 'second';

export interface RunPair {
  key: string;
  a: RunSide | null;
  b: RunSide | null;
  outcome: RunOutcome;
  /** Solved in exactly one of the two. */
  isFlip: boolean;
  /** The second minus the first. */
  difference: number | null;
}

/** Two runs or checkpoints joined by prompt, the largest difference first, in either direction. */
export async function compareRuns(
  first: FactRows,
  second: FactRows,
  { pass = PASS, rest = () => undefined }: { pass?: number; rest?: Rest } = {},
): Promise<RunPair[]> {
  const [a, b] = [await sidesOf(first, rest), await sidesOf(second, rest)];
  const keys = [...new Set([...a.keys(), ...b.keys()])];
  return keys
    .map((key) => runPair(key, a.get(key) ?? null, b.get(key) ?? null, pass))
    .sort((x, y) => sideSize(y) - sideSize(x));
}

/** Prompts that cannot be compared sort last. */
const sideSize = ({ difference }: RunPair): number => (difference === null ? -1 : Math.abs(difference));

function runPair(key: string, a: RunSide | null, b: RunSide | null, pass: number): RunPair {
  const isKnown = a?.mean != null && b?.mean != null;
  const difference = isKnown ? differenceOf(a.mean!, b.mean!) : null;
  return {
    key,
    a,
    b,
    outcome:
      a === null
        ? 'second'
        : b === null
          ? 'first'
          : difference === null
            ? 'never scored'
            : difference > 0
              ? 'won'
              : difference < 0
                ? 'lost'
                : 'same',
    isFlip: difference !== null && difference !== 0 && isPassed(a, pass) !== isPassed(b, pass),
    difference,
  };
}

/** Means of the same scores in another order differ in their last digits: treat that as 0. */
const differenceOf = (first: number, second: number): number =>
  Math.abs(second - first) <= 1e-9 * Math.max(1, Math.abs(first), Math.abs(second)) ? 0 : second - first;

const isPassed = (side: RunSide | null, pass: number): boolean => (side?.mean ?? Number.NaN) >= pass - 1e-9;

/**
 * Joined by the prompt's text, because two runs name it differently. All rollouts of a prompt count, whatever their
 * step.
 */
async function sidesOf(facts: FactRows, rest: Rest): Promise<Map<string, RunSide>> {
  const scores = facts.numbers('score');
  const prompts = membersByNumber(facts.prompts);
  const rowsOf = new Map<string, number[]>();
  for (let prompt = 0; prompt < prompts.length; prompt++) {
    await rest(prompt, prompts.length);
    const rows = prompts.of(prompt);
    if (rows.length === 0) continue;
    const { file, record } = facts.place(uint32At(rows, 0));
    const { rollout } = file.read(record);
    if (rollout === null) continue;
    const { prompt: key } = groupKeyOf(rollout);
    const known = rowsOf.get(key);
    if (known) known.push(...rows);
    else rowsOf.set(key, [...rows]);
  }
  return new Map(
    [...rowsOf].map(([key, rows]) => {
      const { n, scored, mean } = groupStats(rows.map((row) => float64At(scores, row)));
      const finite = rows.filter((row) => Number.isFinite(scores[row]));
      const best = finite.reduce(
        (one, row) => (float64At(scores, row) > float64At(scores, one) ? row : one),
        finite[0] ?? numberInAt(rows, 0),
      );
      const worst = finite.reduce(
        (one, row) => (float64At(scores, row) < float64At(scores, one) ? row : one),
        finite[0] ?? numberInAt(rows, 0),
      );
      return [key, { n, scored, mean, row: numberInAt(rows, 0), best, worst }];
    }),
  );
}
