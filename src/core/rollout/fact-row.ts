import { float64At, itemAt } from '../lists/at.ts';
import { CHECKS, type Check, observedBits } from './checks.ts';
import { FACTS, factAt, factValue } from './facts.ts';
import type { Finding } from './finding.ts';
import type { Rollout } from './rollout.ts';

/**
 * The facts of a rollout in the order of FACTS, then its findings as bits below a marker for "examined", then the
 * checks whose input was present.
 */
export const FACT_ROW = FACTS.length + 2;
const FOUND = FACTS.length;
const OBSERVED = FACTS.length + 1;

/** The limit for finding bits: 48 checks. */
const LOOKED_AT = 2 ** 48;

/** The finding of a row for a file elsewhere, with unknown content. */
const AWAY: Check = 'not_here';

/** @returns FACT_ROW numbers; NaN = the rollout does not have the fact */
export function factRow(rollout: Rollout | null, findings: readonly Finding[]): Float64Array {
  const row = new Float64Array(FACT_ROW);
  const isAway = findings[0]?.check === AWAY;
  for (let i = 0; i < FACTS.length; i++) {
    const { of, ofBad } = itemAt(FACTS, i);
    row[i] = (rollout !== null ? of(rollout) : isAway ? null : ofBad) ?? Number.NaN;
  }
  let found = 0;
  // A record may report findings that no check could detect.
  let observed = observedBits(rollout);
  for (const { check } of findings) {
    const bit = bitOf(check);
    if (!Number.isFinite(bit)) continue;
    if (!hasBit(found, bit)) found += bit;
    if (!hasBit(observed, bit)) observed += bit;
  }
  row[FOUND] = LOOKED_AT + found;
  row[OBSERVED] = observed;
  return row;
}

const BITS: ReadonlyMap<string, number> = new Map(CHECKS.map((check, at) => [check, 2 ** at]));

/** Infinity for an undeclared check: it divides any number to 0. */
const bitOf = (check: string): number => BITS.get(check) ?? Number.POSITIVE_INFINITY;

/** More bits than bitwise operators support; a remainder would take a call. */
function hasBit(bits: number, bit: number): boolean {
  const half = Math.floor(bits / bit) / 2;
  return half !== Math.floor(half);
}

/** The facts in a row of numbers, read on demand. */
export class Facts {
  readonly #row: Float64Array;

  constructor(row: Float64Array) {
    this.#row = row;
  }

  /** A number, the word of a word fact, or null if the rollout does not have it. */
  value(name: string): number | string | null {
    const at = factAt(name);
    if (at === -1) return null;
    const value = float64At(this.#row, at);
    return Number.isNaN(value) ? null : factValue(itemAt(FACTS, at), value);
  }

  /** A test for columns with rows of facts, without an object per row. */
  static finder(check: Check): (columns: readonly { at(row: number): number }[], row: number) => boolean {
    const isFound = Facts.inBits(check);
    return (columns, row) => isFound(itemAt(columns, FOUND).at(row));
  }

  /** The same for a cell of such a column. */
  static inBits(check: Check): (found: number) => boolean {
    const bit = bitOf(check);
    return (found) => hasBit(found, bit);
  }

  /** The number of checks that found something in a row of such columns. */
  static countFound(columns: readonly { at(row: number): number }[], row: number): number {
    const bits = itemAt(columns, FOUND).at(row);
    return CHECKS.reduce((sum, check) => sum + (hasBit(bits, bitOf(check)) ? 1 : 0), 0);
  }

  /** The checks that found something in any of the first rows of such columns. */
  static allFound(columns: readonly { at(row: number): number }[], rows: number): Check[] {
    const found = itemAt(columns, FOUND);
    const seen = new Set<number>();
    let before = Number.NaN;
    for (let row = 0; row < rows; row++) {
      const bits = found.at(row);
      if (bits !== before) seen.add(bits);
      before = bits;
    }
    return CHECKS.filter((check) => [...seen].some((bits) => hasBit(bits, bitOf(check))));
  }

  /** A number for the set of findings in a row: equal for equal sets. */
  static foundIn(row: Float64Array): number {
    return float64At(row, FOUND);
  }

  get findings(): Check[] {
    return CHECKS.filter((check) => this.has(check));
  }

  has(check: Check): boolean {
    return hasBit(float64At(this.#row, FOUND), bitOf(check));
  }

  /** "Not found" means nothing if the check's input was missing. */
  isObserved(check: Check): boolean {
    return hasBit(float64At(this.#row, OBSERVED), bitOf(check));
  }
}

/** The columns of a row of facts that hold checks as bits. */
export const CHECK_COLUMNS = { found: FOUND, observed: OBSERVED } as const;

/**
 * Whether a cell of such a column names a check. An unreadable record counts as a bad record, and nothing else is known
 * of it.
 */
export const namesCheck = (found: number, bits: number, check: Check): boolean =>
  found >= LOOKED_AT ? hasBit(bits, bitOf(check)) : check === 'bad_record';

/** A row of facts that was not examined is all 0. */
export const isLookedAt = (rows: Float64Array, at: number): boolean => float64At(rows, at + FOUND) >= LOOKED_AT;
