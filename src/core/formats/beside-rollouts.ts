import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { BESIDE } from '../rollout/unread.ts';
import type { Format } from './format.ts';

/** Shorter texts are names and words of the writer. */
const LEAST = 20;

/** The parts of a record, and what none of them has beside the first. */
export function withLeftovers(record: JsonObject, parts: JsonObject[]): JsonObject[] {
  const [first, ...others] = parts;
  // A record that is its only part has nothing beside it.
  if (first === undefined || first === record) return parts;
  const held = new Held();
  for (const part of parts) held.add(part);
  const left = held.leftOf(record);
  return left === undefined ? parts : [{ ...first, [BESIDE]: left }, ...others];
}

/** The rollouts of a record that holds several, or none; null if it is one. */
export const splitRollouts = ({ split }: Format, record: JsonObject): JsonObject[] | null =>
  split === undefined ? null : withLeftovers(record, split(record));

/** Texts, and objects as such: a part shares most of them with its record. */
class Held {
  readonly #objects = new Set<object>();
  readonly #texts = new Set<string>();

  add(value: JsonValue | undefined): void {
    if (typeof value === 'string') {
      if (value.length >= LEAST) this.#texts.add(value);
    } else if (typeof value === 'object' && value !== null && !this.#objects.has(value)) {
      this.#objects.add(value);
      if (!isNumberList(value)) for (const one of Object.values(value)) this.add(one);
    }
  }

  /** The texts and lists of numbers that are not held, in place; undefined for none. */
  leftOf(value: JsonValue | undefined): JsonValue | undefined {
    if (typeof value === 'string') return value.length < LEAST || this.#texts.has(value) ? undefined : value;
    if (typeof value !== 'object' || value === null || this.#objects.has(value)) return undefined;
    if (isNumberList(value)) return value.length < LEAST ? undefined : value;
    if (Array.isArray(value)) {
      const left = value.flatMap((one) => this.leftOf(one) ?? []);
      return left.length === 0 ? undefined : left;
    }
    const left = Object.entries(value).flatMap(([key, one]) => {
      const held = isJsonObject(value) ? this.leftOf(one) : undefined;
      return held === undefined ? [] : [[key, held] as const];
    });
    return left.length === 0 ? undefined : Object.fromEntries(left);
  }
}

const isNumberList = (value: JsonValue): value is number[] => Array.isArray(value) && typeof value[0] === 'number';
