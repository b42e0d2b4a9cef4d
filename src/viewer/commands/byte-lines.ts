/** Bytes that are written together: each write costs a system call and a pause. */
const TOGETHER = 1 << 16;
/** From this length on, the system copies faster than a loop. */
const LONG = 96;
/** Up to this length, a loop encodes faster than the system. */
const SHORT = 48;
/** The first unit that takes more than one byte. */
const FIRST_WIDE = 0x80;
/** Bytes of UTF-8 that a unit of a text takes at the most. */
const MOST_OF_A_UNIT = 3;
const ZERO = 0x30;
const LETTER_A = 0x61;
/** The greatest number whose digits `digits` writes, and the greatest with six hexadecimal digits. */
const MOST_WHOLE = 2 ** 31 - 1;
const MOST_SIX = 2 ** 24 - 1;

/** Whether `digits` writes a number; 0 and -0 look alike. */
export const hasDigits = (value: number): boolean => value >= 0 && value <= MOST_WHOLE && (value | 0) === value;
/** Whether `sixDigits` writes a number. */
export const hasSixDigits = (value: number): boolean => hasDigits(value) && value <= MOST_SIX;

/** Lines as bytes. A text is encoded as it comes; a piece that recurs was encoded once. */
export class ByteLines {
  #bytes = Buffer.allocUnsafeSlow(TOGETHER * 2);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** There is enough for a write. */
  get isFull(): boolean {
    return this.#length >= TOGETHER;
  }

  text(text: string): void {
    const { length } = text;
    this.#makeRoom(length * MOST_OF_A_UNIT);
    const [bytes, from] = [this.#bytes, this.#length];
    if (length < SHORT) {
      let at = 0;
      for (; at < length; at++) {
        const unit = text.charCodeAt(at);
        if (unit >= FIRST_WIDE) break;
        bytes[from + at] = unit;
      }
      if (at === length) {
        this.#length = from + length;
        return;
      }
    }
    this.#length = from + bytes.write(text, from);
  }

  piece(piece: Uint8Array | string): void {
    if (typeof piece === 'string') {
      this.text(piece);
      return;
    }
    const { length } = piece;
    this.#makeRoom(length);
    const [bytes, from] = [this.#bytes, this.#length];
    if (length < LONG) for (let i = 0; i < length; i++) bytes[from + i] = piece[i] ?? 0;
    else bytes.set(piece, from);
    this.#length = from + length;
  }

  /** @param value a whole number from 0 up to `MOST_WHOLE` @param end a byte that follows; none by default */
  digits(value: number, end = 0): void {
    let size = 1;
    for (let rest = (value / 10) | 0; rest > 0; rest = (rest / 10) | 0) size++;
    this.#makeRoom(size + 1);
    const [bytes, from] = [this.#bytes, this.#length];
    for (let at = from + size - 1, rest = value | 0; at >= from; at--) {
      const tens = (rest / 10) | 0;
      bytes[at] = ZERO + rest - tens * 10;
      rest = tens;
    }
    bytes[from + size] = end;
    this.#length = from + (end === 0 ? size : size + 1);
  }

  /** Six hexadecimal digits. @param value a whole number from 0 up to `MOST_SIX` */
  sixDigits(value: number): void {
    this.#makeRoom(6);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let shift = 20; shift >= 0; shift -= 4) {
      const digit = (value >> shift) & 15;
      bytes[at++] = digit < 10 ? ZERO + digit : LETTER_A + digit - 10;
    }
    this.#length = at;
  }

  /** All bytes so far, which nothing changes later. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafeSlow(TOGETHER * 2);
    this.#length = 0;
    return bytes;
  }

  #makeRoom(length: number): void {
    if (this.#length + length <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + length));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}
