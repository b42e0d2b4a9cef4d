/** Stdin that comes in turns: a line is there once the program has begun a line of stdout with the word of the one before it. */
export class TurnInput {
  #left: Buffer;
  readonly #words: readonly Buffer[];
  /** Bytes that may be read now. */
  #open: number;
  #turn = 0;
  #tail: Buffer = Buffer.from('\n');

  /** @param words without any the whole is there at once */
  constructor(content: Buffer, words: readonly string[]) {
    this.#left = content;
    this.#words = words.map((word) => Buffer.from(`\n${word}`));
    this.#open = words.length === 0 ? content.length : this.#lineLength(0);
  }

  read(buffer: Uint8Array): number {
    const length = this.#left.copy(buffer, 0, 0, Math.min(this.#open, buffer.length));
    this.#left = this.#left.subarray(length);
    this.#open -= length;
    return length;
  }

  /** The program's output on stdout. */
  heard(bytes: Uint8Array): void {
    const word = this.#words[this.#turn];
    if (word === undefined) return;
    const seen = Buffer.concat([this.#tail, bytes]);
    if (seen.includes(word)) {
      this.#turn++;
      this.#open += this.#lineLength(this.#open);
      this.#tail = seen.subarray(-1);
    } else this.#tail = seen.subarray(Math.max(0, seen.length - word.length + 1));
  }

  #lineLength(from: number): number {
    const end = this.#left.indexOf(10, from);
    return (end === -1 ? this.#left.length : end + 1) - from;
  }
}
