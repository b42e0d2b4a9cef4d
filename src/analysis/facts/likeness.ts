import { float64At, int32At, numberInAt, uint32At } from '../../core/lists/at.ts';
import { areNear } from '../../core/rollout/text-scan.ts';
import type { Members } from './members.ts';
import { PairNumbers } from './pair-numbers.ts';

const BITS = 24;
/** Larger groups are not compared pairwise. */
const FEW = 32;

/** For each row, how many others of its group say nearly the same. @param gists NaN if the model said nothing @param copies takes the numbers */
export function copiesIn(
  groups: Members,
  gists: Float64Array,
  copies = new Float64Array(gists.length).fill(Number.NaN),
): Float64Array {
  const own: number[] = [];
  for (let group = groups.first; group < groups.length; group++) {
    own.length = 0;
    for (let i = 0; i < groups.size(group); i++) {
      const row = groups.at(group, i);
      if (!Number.isNaN(gists[row])) own.push(row);
    }
    if (own.length <= FEW) countTwoByTwo(own, gists, copies);
    else countByNeighbours(own, gists, copies);
  }
  return copies;
}

function countTwoByTwo(rows: readonly number[], gists: Float64Array, copies: Float64Array): void {
  for (const row of rows) copies[row] = 0;
  for (let i = 1; i < rows.length; i++)
    for (let j = 0; j < i; j++) {
      const a = numberInAt(rows, i);
      const b = numberInAt(rows, j);
      if (!areNear(float64At(gists, a), float64At(gists, b))) continue;
      copies[a] = float64At(copies, a) + 1;
      copies[b] = float64At(copies, b) + 1;
    }
}

/**
 * Looks up a gist and those one bit away among all of them, so a row costs the same in a group of thousands as in one
 * of a hundred.
 */
function countByNeighbours(rows: readonly number[], gists: Float64Array, copies: Float64Array): void {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(float64At(gists, row), (counts.get(float64At(gists, row)) ?? 0) + 1);
  for (const row of rows) {
    const gist = float64At(gists, row);
    let near = (counts.get(gist) ?? 0) - 1;
    for (let bit = 0; bit < BITS; bit++) near += counts.get(gist ^ (1 << bit)) ?? 0;
    copies[row] = near;
  }
}

/**
 * For each row, the share of the other rollouts of its step that begin with the same words; NaN if there is no other.
 */
export function sharedOpenings(units: Uint32Array, openings: Float64Array): Float64Array {
  const numbers = new PairNumbers();
  const own = new Int32Array(units.length).fill(-1);
  let most = -1;
  for (let row = 0; row < units.length; row++) {
    const unit = uint32At(units, row);
    const opening = float64At(openings, row);
    if (Number.isNaN(opening)) continue;
    own[row] = numbers.numberOf(unit, opening);
    if (unit > most) most = unit;
  }
  const alike = new Uint32Array(numbers.count);
  const known = new Uint32Array(most + 1);
  for (let row = 0; row < units.length; row++) {
    const number = int32At(own, row);
    const unit = uint32At(units, row);
    if (number === -1) continue;
    alike[number] = uint32At(alike, number) + 1;
    known[unit] = uint32At(known, unit) + 1;
  }
  const shares = new Float64Array(units.length).fill(Number.NaN);
  for (let row = 0; row < units.length; row++) {
    const number = int32At(own, row);
    if (number === -1) continue;
    const others = uint32At(known, uint32At(units, row)) - 1;
    if (others > 0) shares[row] = (uint32At(alike, number) - 1) / others;
  }
  return shares;
}
