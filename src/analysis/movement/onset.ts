/** The course of a change: rare or low before `since`, growing until `until`; both are the same where it jumped. */
export interface Onset {
  /** The first place of the change. */
  since: number;
  /** The first place at the new level. */
  until: number;
}

/** A growth must fit better than a jump by this much, in log likelihood, because it has one more parameter. */
const GAIN = 3;
/** So many growths are compared in full: the others fit worse even as straight lines. */
const FINALISTS = 150;
/** Longer series are examined around the change only. */
const MOST_PLACES = 240;

/**
 * The place at which a series began to change: a level, a growth, another level, fitted by likelihood.
 * @param means the mean at each place
 * @param counts how many rollouts each is the mean of
 * @param isShare the means are shares of rollouts, so that a few after none at all count
 * @param near a place that the change surely covers
 */
export function onsetOf(
  means: ArrayLike<number>,
  counts: ArrayLike<number>,
  isShare: boolean,
  near: number,
): Onset | null {
  const all = means.length;
  const first = Math.max(0, Math.min(near - MOST_PLACES / 2, all - MOST_PLACES));
  const n = Math.min(all, MOST_PLACES);
  if (n < 4) return null;
  const y = Float64Array.from({ length: n }, (_, i) => means[first + i] ?? 0);
  const w = Float64Array.from({ length: n }, (_, i) => counts[first + i] ?? 0);
  const fits: { since: number; until: number; squares: number }[] = [];
  for (let since = 1; since < n; since++)
    for (let until = since; until < n; until++)
      if (since <= near - first + 1) fits.push({ since, until, squares: squaresOf(y, w, since, until) });
  const jumps = fits.filter(({ since, until }) => since === until);
  const growths = fits
    .filter(({ since, until }) => since < until)
    .sort((a, b) => a.squares - b.squares)
    .slice(0, FINALISTS);
  const best = (some: readonly { since: number; until: number; squares: number }[]) => {
    let found: { since: number; until: number; fit: number } | null = null;
    for (const { since, until, squares } of some) {
      const fit = isShare ? shareFit(y, w, since, until) : (-n / 2) * Math.log(Math.max(squares, 1e-300));
      if (found === null || fit > found.fit) found = { since, until, fit };
    }
    return found;
  };
  const [jump, growth] = [best(jumps), best(growths)];
  const chosen = growth !== null && (jump === null || growth.fit > jump.fit + GAIN) ? growth : jump;
  return chosen && { since: first + chosen.since, until: first + chosen.until };
}

/** Places before an onset that are searched for the first rollouts of the change. */
const REACH = 10;
/** Chance must explain the first rollouts worse than this: where none had it before, and where some did. */
const FIRST = 0.01;
const EARLIER = 0.001;

/**
 * The onset of a share by its first rollouts: a growth that starts slowly is fitted late, and a line may begin before
 * the first rollout has it.
 */
export function seenFirst(shares: ArrayLike<number>, counts: ArrayLike<number>, { since, until }: Onset): Onset {
  const has = (at: number): number => Math.round((shares[at] ?? 0) * (counts[at] ?? 0));
  let [having, all] = [0, 0];
  for (let at = 0; at < since; at++) {
    having += has(at);
    all += counts[at] ?? 0;
  }
  let first = since;
  const share = having / Math.max(1, all);
  while (first < until && has(first) <= share * (counts[first] ?? 0)) first++;
  if (first > since) return { since: first, until };
  let [found, of] = [0, 0];
  for (let at = since - 1; at > 0 && at >= since - REACH; at--) {
    found += has(at);
    of += counts[at] ?? 0;
    having -= has(at);
    all -= counts[at] ?? 0;
    const expected = ((having + 0.5) / (all + 1)) * of;
    if (has(at) > 0 && poissonTail(found, expected) < (having === 0 ? FIRST : EARLIER)) first = at;
  }
  return { since: first, until };
}

/** The chance of at least so many where so many are expected. */
function poissonTail(count: number, expected: number): number {
  let [term, below] = [Math.exp(-expected), 0];
  for (let i = 0; i < count; i++) {
    below += term;
    term *= expected / (i + 1);
  }
  return Math.max(0, 1 - below);
}

/** How far the change has come at a place, from 0 to 1. */
const growthIn = (place: number, since: number, until: number): number =>
  place < since ? 0 : Math.min(1, (place - since + 1) / (until - since + 1));

/** The two levels that fit best. */
function levelsOf(y: Float64Array, w: Float64Array, since: number, until: number): [low: number, rise: number] {
  let [ww, wc, wcc, wy, wcy] = [0, 0, 0, 0, 0];
  for (let i = 0; i < y.length; i++) {
    const [weight, value, c] = [w[i] ?? 0, y[i] ?? 0, growthIn(i, since, until)];
    ww += weight;
    wc += weight * c;
    wcc += weight * c * c;
    wy += weight * value;
    wcy += weight * value * c;
  }
  const rise = (ww * wcy - wc * wy) / Math.max(ww * wcc - wc * wc, 1e-12);
  return [(wy - rise * wc) / Math.max(ww, 1e-12), rise];
}

function squaresOf(y: Float64Array, w: Float64Array, since: number, until: number): number {
  const [low, rise] = levelsOf(y, w, since, until);
  let squares = 0;
  for (let i = 0; i < y.length; i++)
    squares += (w[i] ?? 0) * ((y[i] ?? 0) - low - rise * growthIn(i, since, until)) ** 2;
  return squares;
}

/** The log likelihood of the shares. */
function shareFit(y: Float64Array, w: Float64Array, since: number, until: number): number {
  const [low, rise] = levelsOf(y, w, since, until);
  let fit = 0;
  for (let i = 0; i < y.length; i++) {
    const share = Math.min(0.999, Math.max(0.001, low + rise * growthIn(i, since, until)));
    fit += (w[i] ?? 0) * ((y[i] ?? 0) * Math.log(share) + (1 - (y[i] ?? 0)) * Math.log(1 - share));
  }
  return fit;
}
