import type { WorldVerdict } from './compare.ts';
import type { WorldOutcome } from './replay-world.ts';

/** A call that was run several times, in a world of its own each time. */
export interface RepeatedOutcome extends Omit<WorldOutcome, 'verdict'> {
  verdict: WorldVerdict | 'flaky';
  /** How often each verdict came. */
  verdicts: Partial<Record<WorldVerdict, number>>;
}

/**
 * One outcome a call from several runs of a rollout: flaky where some runs gave the recorded result and others did not, or
 * where the runs differ from each other. Only what every run calls tainted is.
 */
export function repeatedOutcomes(runs: readonly (readonly WorldOutcome[])[]): RepeatedOutcome[] {
  const [first = []] = runs;
  return first.map((one, i) => {
    const each = runs.flatMap((run) => run[i] ?? []);
    const verdicts: Partial<Record<WorldVerdict, number>> = {};
    for (const { verdict } of each) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    const fits = each.filter(({ verdict }) => verdict === 'same' || verdict === 'normalised').length;
    const drifts = each.filter(({ verdict }) => verdict === 'drift');
    const isFlaky = drifts.length > 0 && (fits > 0 || new Set(drifts.map(({ result }) => result)).size > 1);
    const worst = drifts[0] ?? each.find(({ verdict }) => verdict === 'infra') ?? one;
    return {
      ...worst,
      verdict: isFlaky ? 'flaky' : worst.verdict,
      reason: isFlaky ? `the recorded result in ${fits} of ${each.length} runs` : worst.reason,
      tainted: each.every(({ tainted }) => tainted),
      verdicts,
    };
  });
}
