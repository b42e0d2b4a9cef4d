import type { Printable } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { shortened } from './answer.ts';

/** Distinct values that are shown, and those that are counted. */
const SHOWN = 6;
const MOST_VALUES = 50;
const MOST_KEYS = 400;
const LONGEST = 60;
/** Not names of a filter, or listed elsewhere. */
const LEFT_OUT = new Set(['locator', 'findings', 'unobserved', 'labels', 'extras', 'bytes']);

interface KnownKey {
  rollouts: number;
  min: number | null;
  max: number | null;
  values: Set<string>;
}

/** The keys of listed rollouts, with what they hold. */
export class KeyValues {
  readonly #keys = new Map<string, KnownKey>();
  count = 0;

  /** @returns null: the row itself is not kept */
  add(row: JsonObject): null {
    this.count++;
    for (const [key, value] of Object.entries(row)) if (!LEFT_OUT.has(key)) this.#note(key, value);
    if (isJsonObject(row.extras)) for (const [key, value] of Object.entries(row.extras)) this.#note(key, value);
    return null;
  }

  #note(key: string, value: JsonValue): void {
    if (value === null || value === undefined) return;
    const known = this.#keys.get(key) ?? { rollouts: 0, min: null, max: null, values: new Set<string>() };
    if (!this.#keys.has(key)) {
      if (this.#keys.size >= MOST_KEYS) return;
      this.#keys.set(key, known);
    }
    known.rollouts++;
    if (typeof value === 'number') {
      known.min = Math.min(known.min ?? value, value);
      known.max = Math.max(known.max ?? value, value);
    } else if (known.values.size <= MOST_VALUES)
      known.values.add(typeof value === 'object' ? keyKind(value) : shortened(String(value), LONGEST));
  }

  /** The keys that most rollouts have come first. */
  rows(): Printable[] {
    return [...this.#keys]
      .sort(([, a], [, b]) => b.rollouts - a.rollouts)
      .map(([key, { rollouts, min, max, values }]) => ({
        key: shortened(key, LONGEST),
        rollouts,
        ...(min === null ? {} : { min, max }),
        ...(values.size === 0 ? {} : { values: [...values].slice(0, SHOWN), distinct: distinctOf(values.size) }),
      }));
  }
}

const keyKind = (value: object): string => (Array.isArray(value) ? 'a list' : 'an object');
const distinctOf = (size: number): Printable => (size > MOST_VALUES ? `over ${MOST_VALUES}` : size);
