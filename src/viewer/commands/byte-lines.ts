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

/** Lines as bytes. A text is encoded as it comes; a piece that recurs was encoded once. */
export class ByteLines {
  #bytes = Buffer.allocUnsafeSlow(TOGETHER * 2);
  #length = 0;
  #taken = 0;

  get length(): number {
    return this.#length;
  }

  /** How often bytes were taken: what was written since is still here. */
  get taken(): number {
    return this.#taken;
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

  /** Bytes that are here already. */
  again(from: number, to: number): void {
    this.#makeRoom(to - from);
    const [bytes, by] = [this.#bytes, this.#length - from];
    if (to - from < LONG) for (let at = from; at < to; at++) bytes[at + by] = bytes[at] ?? 0;
    else bytes.copyWithin(this.#length, from, to);
    this.#length += to - from;
  }

  /** All bytes so far, which nothing changes later. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafeSlow(TOGETHER * 2);
    this.#length = 0;
    this.#taken++;
    return bytes;
  }

  #makeRoom(length: number): void {
    if (this.#length + length <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + length));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}
