import { StringDecoder } from 'node:string_decoder';

/**
 * Gives the `data` of each server-sent event, as the bytes of a response arrive. CR, LF and CRLF end lines, an empty line ends an event,
 * comments and other fields are skipped (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 */
export class ServerEvents {
  /** Made where a character is torn between two chunks: as a rule none is. */
  #decoder: StringDecoder | null = null;
  #isFirst = true;
  #rest = '';
  #data: string[] = [];

  /** The events that are whole with these bytes. */
  push(chunk: Uint8Array): string[] {
    const text = this.#rest + this.#textOf(chunk);
    // A CR at the very end may be half of a CRLF, so it waits for the next chunk.
    const lines = text.includes('\r') ? text.split(/\r\n|\n|\r(?!$)/) : text.split('\n');
    this.#rest = lines.pop()!;
    const events: string[] = [];
    for (const line of lines) {
      if (line !== '') this.#addLine(line);
      else if (this.#data.length > 0) events.push(this.#take());
    }
    return events;
  }

  #textOf(chunk: Uint8Array): string {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if ((chunk.at(-1) ?? 0) >= 0x80) this.#decoder ??= new StringDecoder('utf8');
    const text = this.#decoder?.write(bytes) ?? bytes.toString('utf8');
    if (!this.#isFirst || text === '') return text;
    this.#isFirst = false;
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  }

  /** The event that the stream ended in: some servers leave out the last empty line. */
  end(): string[] {
    this.#addLine(this.#rest.replace(/\r$/, ''));
    return this.#data.length > 0 ? [this.#take()] : [];
  }

  #addLine(line: string): void {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }

  #take(): string {
    const data = this.#data.length === 1 ? this.#data[0]! : this.#data.join('\n');
    this.#data = [];
    return data;
  }
}
