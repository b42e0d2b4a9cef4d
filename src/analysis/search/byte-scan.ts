import { readSync } from 'node:fs';
import { itemAt, uint8At } from '../../core/lists/at.ts';
import { ESCAPED, type Sieve, sieveOf } from './sieve.ts';

/** Bytes read at once: few enough to stay in a core's second-level cache until they are examined. */
const CHUNK = 256 << 10;
/** Bytes before the chunk: the probe bytes to compare with, and the end of the previous chunk. */
const HEAD = 4096;
/** The first, middle and last byte of each needle are compared at sixteen positions at a time. */
const PROBES = 3;
const LANES = 16;
/** The start of a longer needle is selective enough. */
const LONGEST = 64;

/** Finds a sieve's needles in a file. It owns its read buffer and is made once for many files. */
export class ByteScan {
  readonly #needles: readonly Buffer[];
  readonly #fold: number;
  readonly #memory: Buffer;
  /**
   * The next position from `at` on, below `end`, at which the probes of some needle match; `end` or beyond if there is
   * none.
   */
  readonly #next: (at: number, end: number) => number;

  constructor({ needles, ignoresCase }: Sieve) {
    // Sets the bit that distinguishes lower from upper case. It also conflates some other bytes, which costs a parse
    // but never a hit.
    this.#fold = ignoresCase ? 0x20 : 0;
    this.#needles = [...needles, ESCAPED].map((needle) =>
      Buffer.from(needle.slice(0, LONGEST), 'latin1').map((byte) => byte | this.#fold),
    ) as Buffer[];
    const pages = Math.ceil((HEAD + CHUNK + HEAD) / 65536);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    this.#memory = Buffer.from(memory.buffer);
    const probes = this.#needles.map(({ length }) => [0, length >> 1, length - 1]);
    for (const [i, needle] of this.#needles.entries())
      for (const [k, offset] of itemAt(probes, i).entries())
        this.#memory.fill(uint8At(needle, offset), (i * PROBES + k) * LANES, (i * PROBES + k + 1) * LANES);
    this.#next = this.#compiled(moduleOf(probes, this.#fold), memory);
  }

  /**
   * Calls `found` with the positions of needles in the bytes from … to of a file, ascending; it returns the next
   * position worth checking.
   */
  scan(fd: number, from: number, to: number, found: (at: number) => number): void {
    const memory = this.#memory;
    const overlap = this.#needles.reduce((most, { length }) => Math.max(most, length), 0) - 1;
    let wanted = from;
    // Bytes of the previous chunk in which a needle that crosses the boundary may begin.
    let kept = 0;
    for (let at = from, isLast = false; !isLast; ) {
      const length = at < to ? readSync(fd, memory, HEAD, Math.min(CHUNK, to - at), at) : 0;
      isLast = length === 0;
      const end = HEAD + length;
      memory.fill(0, end, end + overlap + LANES);
      const base = at - HEAD;
      const limit = isLast ? end : Math.max(HEAD - kept, end - overlap);
      let place = Math.max(HEAD - kept, wanted - base);
      while (place < limit) {
        place = this.#next(place, limit);
        if (place >= limit) break;
        if (this.#isNeedle(place, end)) {
          wanted = found(base + place);
          place = Math.max(place + 1, wanted - base);
        } else place++;
      }
      at += length;
      kept = end - limit;
      memory.copyWithin(HEAD - kept, limit, end);
    }
  }

  #compiled(code: Uint8Array<ArrayBuffer>, memory: WebAssembly.Memory): (at: number, end: number) => number {
    try {
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { m: { m: memory } });
      return exports.next as (at: number, end: number) => number;
    } catch {
      // A processor without such instructions checks each position.
      return (at, end) => {
        let place = at;
        while (place < end && !this.#isNeedle(place, end)) place++;
        return place;
      };
    }
  }

  #isNeedle(place: number, end: number): boolean {
    return this.#needles.some((needle) => {
      if (place + needle.length > end) return false;
      for (let i = 0; i < needle.length; i++)
        if ((uint8At(this.#memory, place + i) | this.#fold) !== needle[i]) return false;
      return true;
    });
  }
}

let known: { pattern: string; scan: ByteScan | null } | null = null;

/** The scan for a pattern, kept for the next file; null if only a parse can decide. */
export function scanFor(pattern: string): ByteScan | null {
  if (known?.pattern !== pattern) {
    const sieve = sieveOf(pattern);
    known = { pattern, scan: sieve === null ? null : new ByteScan(sieve) };
  }
  return known.scan;
}

const V128 = 0x7b;
const I32 = 0x7f;
const [BLOCK, LOOP, END, BR, BR_IF, RETURN] = [0x02, 0x03, 0x0b, 0x0c, 0x0d, 0x0f];
const [GET, SET, TEE] = [0x20, 0x21, 0x22];
const [I32_CONST, I32_GE_U, I32_ADD, I32_CTZ] = [0x41, 0x4f, 0x6a, 0x68];
const NO_RESULT = 0x40;

/** An unsigned number in the module format (LEB128): seven bits per byte. */
const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
const simd = (code: number): number[] => [0xfd, ...leb(code)];
const load = (offset: number): number[] => [...simd(0x00), 0, ...leb(offset)];
const EQUAL = simd(0x23);
const AND = simd(0x4e);
const OR = simd(0x50);
const ANY = simd(0x53);
const BITMASK = simd(0x64);
const SPLAT = simd(0x0f);

/**
 * A module with one function, `next(at, end)`: it compares sixteen bytes at a time, JavaScript only one. @param probes
 * offsets of each needle's compared bytes
 */
function moduleOf(probes: readonly (readonly number[])[], fold: number): Uint8Array<ArrayBuffer> {
  const [at, end, folded, fits] = [0, 1, 2, 3];
  const constants = 4;
  const count = probes.flat().length;
  const code = [
    ...[I32_CONST, ...signed(fold), ...SPLAT, SET, folded],
    ...Array.from({ length: count }, (_, i) => [I32_CONST, 0, ...load(i * LANES), SET, constants + i]).flat(),
    ...[BLOCK, NO_RESULT, LOOP, NO_RESULT],
    ...[GET, at, GET, end, I32_GE_U, BR_IF, 1],
    ...probes.flatMap((offsets, i) => [
      ...offsets.flatMap((offset, k) => [
        ...[GET, at, ...load(offset), GET, folded, ...OR, GET, constants + i * PROBES + k, ...EQUAL],
        ...(k > 0 ? AND : []),
      ]),
      ...(i > 0 ? OR : []),
    ]),
    ...[TEE, fits, ...ANY, 0x04, NO_RESULT],
    ...[GET, at, GET, fits, ...BITMASK, I32_CTZ, I32_ADD, RETURN, END],
    ...[GET, at, I32_CONST, LANES, I32_ADD, SET, at, BR, 0],
    ...[END, END, GET, end, END],
  ];
  const body = [1, ...leb(count + 2), V128, ...code];
  const section = (id: number, bytes: readonly number[]): number[] => [id, ...leb(bytes.length), ...bytes];
  const text = (word: string): number[] => [word.length, ...Buffer.from(word)];
  const pages = Math.ceil((HEAD + CHUNK + HEAD) / 65536);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 2, I32, I32, 1, I32]),
    ...section(2, [1, ...text('m'), ...text('m'), 2, 1, ...leb(pages), ...leb(pages)]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('next'), 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body]),
  ]);
}

/** A small signed constant in the module format: seven bits with a sign. */
const signed = (value: number): number[] => (value < 64 ? [value] : [(value & 127) | 128, value >> 7]);
