/** UTF-16 units of a long text that are processed between two pauses: about a millisecond. */
export const TEXT_SLICE = 500_000;

/** Like `includes`, with pauses for long text. */
export function* including(text: string, sought: string): Generator<void, boolean> {
  for (let at = 0; at < text.length; at += TEXT_SLICE) {
    if (text.slice(at, at + TEXT_SLICE + sought.length - 1).includes(sought)) return true;
    yield;
  }
  return sought === '';
}
