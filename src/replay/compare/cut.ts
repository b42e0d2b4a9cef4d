/** A recorded result that verl's loop truncated (`tool_response_truncate_side`). */
export interface Cut {
  /** Which part is missing. verl's 2026 writers swapped `left` and `right`, so only the text itself shows it. */
  missing: 'end' | 'start' | 'middle';
  head: string;
  tail: string;
  /** Characters (code points) of the result that are shown. */
  shown: number;
}

const MARK = '...(truncated)';
const MIDDLE = '...(truncated)...';
const START = '(truncated)...';

/** The longest tail without its last newline, which some chat templates remove. */
const TRIMMED = 2;

/** Every way to read a result as truncated, the likeliest first. A program may print the mark itself, so none is certain. */
export function possibleCuts(recorded: string): Cut[] {
  const cuts: Cut[] = [];
  if (recorded.startsWith(START)) cuts.push(cutAt('start', '', recorded.slice(START.length)));
  const middles: { cut: Cut; odds: number }[] = [];
  for (let at = recorded.indexOf(MIDDLE); at !== -1; at = recorded.indexOf(MIDDLE, at + 1)) {
    const [head, tail] = [recorded.slice(0, at), recorded.slice(at + MIDDLE.length)];
    const odds = Math.abs(lengthOf(head) - lengthOf(tail));
    if (odds <= TRIMMED) middles.push({ cut: cutAt('middle', head, tail), odds });
  }
  cuts.push(...middles.sort((a, b) => a.odds - b.odds).map((one) => one.cut));
  const end = recorded.trimEnd();
  if (end.endsWith(MARK)) cuts.push(cutAt('end', end.slice(0, -MARK.length), ''));
  return cuts.filter(({ shown }) => shown > 0);
}

const cutAt = (missing: Cut['missing'], head: string, tail: string): Cut => ({
  missing,
  head,
  tail,
  shown: lengthOf(head) + lengthOf(tail),
});

/** Code points, as Python counts. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Whether this text, cut in the same way, reads as recorded. */
export function cutShows({ head, tail, shown }: Cut, text: string): boolean {
  return text.startsWith(head) && text.endsWith(tail) && lengthOf(text) > shown;
}
