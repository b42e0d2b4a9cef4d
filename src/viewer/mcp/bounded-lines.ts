import { Transform, type TransformCallback } from 'node:stream';

/** Bytes of a line's start and end in which its id is looked for. */
const ENDS = 200;
const ID = '"id"\\s*:\\s*(-?\\d+|"(?:[^"\\\\]|\\\\.)*")';
const AT_START = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2.0"\\s*,\\s*)?${ID}`);
const AT_END = new RegExp(`${ID}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2.0"\\s*)?\\}\\s*$`);

/**
 * Passes on whole lines. A line of more than `most` bytes is left out, and `refuse` gets the id of its JSON-RPC request
 * (null if it has none): the SDK would close the connection without a word.
 */
export class BoundedLines extends Transform {
  readonly #most: number;
  readonly #refuse: (id: string | number | null) => void;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Start and end of a line that is too long. */
  #ends: { start: string; end: Buffer } | null = null;

  constructor(most: number, refuse: (id: string | number | null) => void) {
    super();
    this.#most = most;
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      this.#add(chunk.subarray(from, to + 1));
      this.#endLine();
      from = to + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
    done();
  }

  #add(piece: Buffer): void {
    if (this.#ends !== null) {
      this.#ends.end = Buffer.concat([this.#ends.end, piece.subarray(-ENDS)]).subarray(-ENDS);
      return;
    }
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size <= this.#most) return;
    const line = Buffer.concat(this.#pieces);
    this.#ends = { start: line.toString('utf8', 0, ENDS), end: line.subarray(-ENDS) };
    this.#pieces = [];
  }

  #endLine(): void {
    if (this.#ends === null) this.push(Buffer.concat(this.#pieces));
    else {
      const { start, end } = this.#ends;
      const [, id] = AT_START.exec(start) ?? AT_END.exec(end.toString()) ?? [];
      this.#refuse(id === undefined ? null : (JSON.parse(id) as string | number));
    }
    this.#pieces = [];
    this.#size = 0;
    this.#ends = null;
  }
}
