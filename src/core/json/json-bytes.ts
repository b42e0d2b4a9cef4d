import { isUtf8 } from 'node:buffer';
import { uint8At } from '../lists/at.ts';
import { printJson } from './print.ts';

/** Bytes that one byte of a text takes at most. */
const LONGEST_ESCAPE = 6;
/** Bytes of one unit of a string. */
const LONGEST_CHARACTER = 3;
/** Characters that are written one by one. */
const SHORT = 32;
/** Two quotes, or a short number. */
const ASIDE = 64;

const QUOTE = 0x22;
const decoder = new TextDecoder();

/** As the printer has each byte in a text; a longer one is escaped. */
const ESCAPES = Array.from({ length: 0x80 }, (_, byte) =>
  Buffer.from(printJson(String.fromCharCode(byte)).slice(1, -1)),
);

/** For each byte of a word, its highest bit. */
const HIGHEST = 0x80808080 | 0;

/** Whether a text holds all four bytes of a word as they are: ASCII, but none that JSON escapes, nor DEL. */
const isPlain = (word: number): boolean =>
  ((word |
    // Below 0x20, or the quote, which takes the place of 0x20.
    ((word ^ 0x02020202) - 0x21212121) |
    // The backslash becomes 0.
    ((word ^ 0x5c5c5c5c) - 0x01010101) |
    (word + 0x01010101)) &
    HIGHEST) ===
  0;

/** JSON in bytes that grow. UTF-8 becomes a text of JSON as it is, without a string between, several times as fast as by the printer. */
export class JsonBytes {
  readonly #size: number;
  #bytes: Buffer;
  #view: DataView;
  /** The bytes of the last text and those around it: many texts lie in one page. */
  #source: DataView = new DataView(new ArrayBuffer(0));
  #length = 0;

  /** @param size of the bytes that are taken at once, about */
  constructor(size: number) {
    this.#size = size;
    this.#bytes = Buffer.allocUnsafeSlow(size);
    this.#view = viewOf(this.#bytes);
  }

  get length(): number {
    return this.#length;
  }

  /** Adds JSON as it is. */
  add(json: string): void {
    this.#makeRoom(json.length * LONGEST_CHARACTER);
    const start = this.#length;
    // A call costs more than a few characters.
    for (let at = 0; at < json.length; at++) {
      const code = json.charCodeAt(at);
      if (code >= 0x80 || at === SHORT) {
        this.#length = start + this.#bytes.write(json, start);
        return;
      }
      this.#view.setUint8(start + at, code);
    }
    this.#length = start + json.length;
  }

  /** Adds a text, as `printJson` prints it once it is decoded. */
  addText(utf8: Uint8Array): void {
    this.#makeRoom(utf8.length * LONGEST_ESCAPE);
    if (this.#source.buffer !== utf8.buffer) this.#source = new DataView(utf8.buffer);
    const [source, target] = [this.#source, this.#view];
    const end = utf8.byteOffset + utf8.length;
    let at = this.#length;
    target.setUint8(at++, QUOTE);
    let isAscii = true;
    for (let from = utf8.byteOffset; from < end; ) {
      for (; from <= end - 4; from += 4, at += 4) {
        const word = source.getInt32(from, true);
        if (!isPlain(word)) break;
        target.setInt32(at, word, true);
      }
      if (from === end) break;
      const byte = source.getUint8(from);
      const escaped = ESCAPES[byte];
      if (escaped === undefined) {
        if ((isAscii && !isUtf8(utf8)) || mayBeUnsafe(utf8, from - utf8.byteOffset)) {
          this.add(printJson(decoder.decode(utf8)));
          return;
        }
        isAscii = false;
        target.setUint8(at++, byte);
      } else for (let i = 0; i < escaped.length; i++) target.setUint8(at++, uint8At(escaped, i));
      from++;
    }
    target.setUint8(at++, QUOTE);
    this.#length = at;
  }

  /** The bytes so far, which are the taker's. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafeSlow(this.#size);
    this.#view = viewOf(this.#bytes);
    this.#length = 0;
    return taken;
  }

  #makeRoom(most: number): void {
    const needed = this.#length + most + ASIDE;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView => new DataView(buffer, byteOffset, byteLength);

/** The first bytes of a character that the printer may escape, and which next ones do not show that it does not. */
function mayBeUnsafe(utf8: Uint8Array, at: number): boolean {
  const [next, third] = [utf8[at + 1] ?? 0, utf8[at + 2] ?? 0];
  switch (utf8[at]) {
    case 0xc2:
      return next < 0xa0 || next === 0xad;
    case 0xd8:
      return next === 0x9c;
    case 0xe1:
      return next === 0xa0;
    case 0xe2:
      return next === 0x81 || (next === 0x80 && (third < 0x90 || third >= 0xa8));
    case 0xef:
      return next === 0xbb || next === 0xbf;
    default:
      return false;
  }
}
