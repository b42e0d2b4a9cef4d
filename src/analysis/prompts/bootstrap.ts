import { float64At, uint32At } from '../../core/lists/at.ts';

/** verl reseeds each of its bootstraps with the same number, so all prompts of one size draw the same places. */
const SEED = 42;
const DRAWS = 1000;

/** numpy's RandomState of a seed: the Mersenne twister of 1998, 32 bits a call. */
function twister(seed: number): () => number {
  const state = new Uint32Array(624);
  state[0] = seed;
  for (let i = 1; i < 624; i++) {
    const last = uint32At(state, i - 1) ^ (uint32At(state, i - 1) >>> 30);
    state[i] = Math.imul(1812433253, last) + i;
  }
  let at = 624;
  return () => {
    if (at === 624) {
      for (let i = 0; i < 624; i++) {
        const bits = (uint32At(state, i) & 0x80000000) | (uint32At(state, (i + 1) % 624) & 0x7fffffff);
        state[i] = uint32At(state, (i + 397) % 624) ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0);
      }
      at = 0;
    }
    let value = uint32At(state, at++);
    value ^= value >>> 11;
    value ^= (value << 7) & 0x9d2c5680;
    value ^= (value << 15) & 0xefc60000;
    return (value ^ (value >>> 18)) >>> 0;
  };
}

const known = new Map<string, Uint32Array>();

/** The places that `np.random.choice(length, size, replace=True)` draws in a thousand calls, concatenated. */
export function bootstrapPlaces(length: number, size: number): Uint32Array {
  const name = `${length} ${size}`;
  const old = known.get(name);
  if (old !== undefined) return old;
  const next = twister(SEED);
  const places = new Uint32Array(DRAWS * size);
  const most = length - 1;
  const mask = most === 0 ? 0 : 2 ** (32 - Math.clz32(most)) - 1;
  for (let i = 0; i < places.length && most > 0; i++) {
    let place = (next() & mask) >>> 0;
    while (place > most) place = (next() & mask) >>> 0;
    places[i] = place;
  }
  if (known.size < MOST_KNOWN) known.set(name, places);
  return places;
}

/** These take 20 MB for a group of 5,000. */
const MOST_KNOWN = 16;

interface DrawnSpread {
  mean: number;
  std: number;
}

/** Mean and population deviation, without building a list. */
export function momentsOver(count: number, at: (i: number) => number): DrawnSpread {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += at(i);
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += (at(i) - mean) ** 2;
  return { mean, std: Math.sqrt(squares / count) };
}

/**
 * The best, worst or voted value of `size` of the values, drawn a thousand times. @param value of the drawn places from
 * … to
 */
export function bootstrapped(
  length: number,
  size: number,
  value: (places: Uint32Array, from: number, to: number) => number,
): DrawnSpread {
  const places = bootstrapPlaces(length, size);
  const values = new Float64Array(DRAWS);
  for (let draw = 0; draw < DRAWS; draw++) values[draw] = value(places, draw * size, (draw + 1) * size);
  return momentsOver(DRAWS, (i) => float64At(values, i));
}
