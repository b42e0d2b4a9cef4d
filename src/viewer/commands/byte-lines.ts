/** Bytes that are written together: each write costs a system call and a pause. */
const TOGETHER = 1 << 16;
/** From this length on, the system copies faster than a loop. */
const LONG = 96;
/** Bytes of UTF-8 that a unit of a text takes at the most. */
const MOST_OF_A_UNIT = 3;

/** Lines as bytes. A text is encoded as it comes; a piece that recurs was encoded once. */
export class ByteLines {
  #bytes = Buffer.allocUnsafeSlow(TOGETHER * 2);
  #length = 0;

  /** There is enough for a write. */
  get isFull(): boolean {
    return this.#length >= TOGETHER;
  }

  text(text: string): void {
    this.#makeRoom(text.length * MOST_OF_A_UNIT);
    this.#length += this.#bytes.write(text, this.#length);
  }

  piece(piece: Uint8Array): void {
    const { length } = piece;
    this.#makeRoom(length);
    const [bytes, from] = [this.#bytes, this.#length];
    if (length < LONG) for (let i = 0; i < length; i++) bytes[from + i] = piece[i] ?? 0;
    else bytes.set(piece, from);
    this.#length = from + length;
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
