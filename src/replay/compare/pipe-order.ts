const PATH = /\/tmp\/[\w./-]+/g;

/**
 * Whether two texts hold the same lines, in an order that two writers to one pipe can produce: each writer's lines keep their order. Equal
 * texts return false.
 */
export function isOtherPipeOrder(recorded: string, fresh: string): boolean {
  const [a, b] = [outputLines(recorded), outputLines(fresh)];
  if (a.length !== b.length || a.length < 2 || a.length > MOST_LINES) return false;
  const places = new Map<string, number[]>();
  for (const [at, line] of b.entries()) {
    const known = places.get(line);
    if (known) known.push(at);
    else places.set(line, [at]);
  }
  // Each writer's last position; a line that neither can have written next proves a third.
  let [first, second] = [-1, -1];
  let isMoved = false;
  for (const [index, line] of a.entries()) {
    const at = places.get(line)?.shift();
    if (at === undefined) return false;
    isMoved ||= at !== index;
    const [low, high] = first < second ? [first, second] : [second, first];
    if (at > high) [first, second] = [low, at];
    else if (at > low) [first, second] = [at, high];
    else return false;
  }
  return isMoved;
}

const MOST_LINES = 20_000;

const outputLines = (text: string): string[] => text.trimEnd().replace(PATH, '/tmp').split('\n');
