import { float64At, uint32At } from '../../core/lists/at.ts';
import { gistDistance } from '../../core/rollout/text-scan.ts';
import type { Members } from './members.ts';

/**
 * The largest number of gist bits in which near copies differ. Of pairs of unrelated texts, three in two million are as
 * close.
 */
const NEAR = 1;
const BITS = 24;
/** Larger groups are not compared pairwise. */
const FEW = 32;

/** For each row, how many others of its group say nearly the same. @param gists NaN if the model said nothing @param copies takes the numbers */
export function copiesIn(
  groups: Members,
  gists: Float64Array,
  copies = new Float64Array(gists.length).fill(Number.NaN),
): Float64Array {
  for (let group = groups.first; group < groups.length; group++) {
    const own = groups.of(group).filter((row) => !Number.isNaN(gists[row]));
    const count = own.length <= FEW ? twoByTwo(own, gists) : byNeighbours(own, gists);
    for (const row of own) copies[row] = count(row);
  }
  return copies;
}

const twoByTwo = (rows: Uint32Array, gists: Float64Array) => (row: number) => {
  let near = -1;
  for (const other of rows) if (gistDistance(float64At(gists, row), float64At(gists, other)) <= NEAR) near++;
  return near;
};

/**
 * Looks up a gist and those one bit away among all of them, so a row costs the same in a group of thousands as in one
 * of a hundred.
 */
function byNeighbours(rows: Uint32Array, gists: Float64Array): (row: number) => number {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(float64At(gists, row), (counts.get(float64At(gists, row)) ?? 0) + 1);
  return (row) => {
    const gist = float64At(gists, row);
    let near = counts.get(gist)! - 1;
    for (let bit = 0; bit < BITS; bit++) near += counts.get(gist ^ (1 << bit)) ?? 0;
    return near;
  };
}

/**
 * For each row, the share of the other rollouts of its step that begin with the same words; NaN if there is no other.
 */
export function sharedOpenings(units: Uint32Array, openings: Float64Array): Float64Array {
  const shares = new Float64Array(units.length).fill(Number.NaN);
  const known = new Map<number, number>();
  const alike = new Map<number, Map<number, number>>();
  for (let row = 0; row < units.length; row++) {
    const [unit, opening] = [uint32At(units, row), float64At(openings, row)];
    if (Number.isNaN(opening)) continue;
    known.set(unit, (known.get(unit) ?? 0) + 1);
    const own = alike.get(unit) ?? new Map<number, number>();
    alike.set(unit, own.set(opening, (own.get(opening) ?? 0) + 1));
  }
  for (let row = 0; row < units.length; row++) {
    const [unit, opening] = [uint32At(units, row), float64At(openings, row)];
    if (Number.isNaN(opening)) continue;
    const others = known.get(unit)! - 1;
    if (others > 0) shares[row] = (alike.get(unit)!.get(opening)! - 1) / others;
  }
  return shares;
}
