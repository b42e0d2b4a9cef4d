/** One rater's label on one thing. */
export interface Rating {
  unit: string;
  rater: string;
  label: string;
}

/** How far raters agree beyond chance: 1 = always, 0 = as often as chance, below 0 = less often than chance. */
export interface Agreement {
  /** Cohen's kappa for two raters, Krippendorff's alpha (nominal) for more. */
  measure: 'kappa' | 'alpha';
  raters: readonly string[];
  /** Things labelled by at least two raters; only these count. */
  units: number;
  /** The share of label pairs on one thing that match. */
  observed: number;
  /** null if all labels are the same: chance would agree as well. */
  value: number | null;
}

/** Only a rater's last rating of a thing counts. null if no thing has labels from two raters. */
export function agreementOf(ratings: readonly Rating[]): Agreement | null {
  const units = new Map<string, Map<string, string>>();
  for (const { unit, rater, label } of ratings) units.set(unit, (units.get(unit) ?? new Map()).set(rater, label));
  const paired = [...units.values()].filter(({ size }) => size > 1);
  const raters = [...new Set(paired.flatMap((labels) => [...labels.keys()]))].sort();
  const [first, second] = raters;
  if (first === undefined || second === undefined) return null;
  const head = { raters, units: paired.length };
  if (raters.length === 2)
    return { measure: 'kappa', ...head, ...kappa(paired.map((labels) => [labels.get(first)!, labels.get(second)!])) };
  return { measure: 'alpha', ...head, ...alpha(paired.map((labels) => [...labels.values()])) };
}

/** The agreement of each pair of raters. */
export function pairwise(ratings: readonly Rating[]): Agreement[] {
  const raters = [...new Set(ratings.map(({ rater }) => rater))].sort();
  return raters.flatMap((one, i) =>
    raters.slice(i + 1).flatMap((other) => {
      const found = agreementOf(ratings.filter(({ rater }) => rater === one || rater === other));
      return found === null ? [] : [found];
    }),
  );
}

type AgreementValue = Pick<Agreement, 'observed' | 'value'>;

/** (p_o − p_e) / (1 − p_e), p_e from each rater's own shares of labels. Cohen, Educational and Psychological Measurement 20 (1960), 37–46. */
function kappa(pairs: readonly (readonly [string, string])[]): AgreementValue {
  const n = pairs.length;
  const observed = pairs.filter(([a, b]) => a === b).length / n;
  const [first, second] = [labelCounts(pairs.map(([a]) => a)), labelCounts(pairs.map(([, b]) => b))];
  let expected = 0;
  for (const [label, count] of first) expected += (count / n) * ((second.get(label) ?? 0) / n);
  return { observed, value: expected === 1 ? null : (observed - expected) / (1 - expected) };
}

/**
 * 1 − D_o / D_e for nominal labels with any of them missing, as ((n − 1) Σ o_cc − Σ n_c (n_c − 1)) / (n (n − 1) − Σ n_c (n_c − 1)) of the
 * matrix of coincidences. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C.
 */
function alpha(units: readonly (readonly string[])[]): AgreementValue {
  const total = labelCounts(units.flat());
  const n = units.reduce((sum, labels) => sum + labels.length, 0);
  let same = 0;
  for (const labels of units) {
    for (const count of labelCounts(labels).values()) same += (count * (count - 1)) / (labels.length - 1);
  }
  const chance = [...total.values()].reduce((sum, count) => sum + count * (count - 1), 0);
  const most = n * (n - 1);
  return { observed: same / n, value: most === chance ? null : ((n - 1) * same - chance) / (most - chance) };
}

function labelCounts(labels: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return counts;
}
