/**
 * The `data` of each server-sent event, as the bytes of a response arrive. CR, LF and CRLF end lines, an empty line ends an event,
 * comments and other fields are skipped (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 * An event that the stream ends in is given too: some servers leave out the last empty line.
 */
export async function* sseData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the very end may be half of a CRLF, so it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
      } else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    }
  }
  const last = rest.replace(/\r$/, '');
  if (last.startsWith('data:')) data.push(last.slice(last[5] === ' ' ? 6 : 5));
  if (data.length > 0) yield data.join('\n');
}
