/** An operation of Codex' patch envelope (`*** Begin Patch`), in order. */
export type PatchOperation =
  | { kind: 'add'; path: string; text: string }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo: string | null; chunks: readonly PatchChunk[] };

export interface PatchChunk {
  /** The line after `@@`; the search begins after it. */
  context: string | null;
  old: readonly string[];
  new: readonly string[];
  isEndOfFile: boolean;
}

/** Reads a patch; a string is the reason why it is not one, in Codex' words. */
export function readCodexPatch(text: string): PatchOperation[] | string {
  const lines = text.trim().split('\n');
  if (lines[0]?.trim() !== '*** Begin Patch')
    return "Invalid patch: The first line of the patch must be '*** Begin Patch'";
  if (lines.at(-1)?.trim() !== '*** End Patch')
    return "Invalid patch: The last line of the patch must be '*** End Patch'";
  const operations: PatchOperation[] = [];
  let at = 1;
  const end = lines.length - 1;
  const isHead = (line: string) => /^\*\*\* (?:Add|Delete|Update) File: /.test(line);
  while (at < end) {
    const line = lines[at] ?? '';
    const head = /^\*\*\* (Add|Delete|Update) File: (.*)$/.exec(line.trim());
    if (head === null) {
      if (line.trim() === '') {
        at++;
        continue;
      }
      return `Invalid patch hunk on line ${at + 1}: '${line}' is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'`;
    }
    const path = head[2] ?? '';
    at++;
    if (head[1] === 'Add') {
      const added: string[] = [];
      while (at < end && lines[at]?.startsWith('+')) added.push((lines[at++] ?? '').slice(1));
      operations.push({ kind: 'add', path, text: added.map((one) => `${one}\n`).join('') });
    } else if (head[1] === 'Delete') operations.push({ kind: 'delete', path });
    else {
      const move = /^\*\*\* Move to: (.*)$/.exec(lines[at] ?? '');
      if (move !== null) at++;
      const chunks: { context: string | null; old: string[]; new: string[]; isEndOfFile: boolean }[] = [];
      for (; at < end && !isHead(lines[at] ?? ''); at++) {
        const one = lines[at] ?? '';
        const mark = /^@@(?: (.*))?$/.exec(one.trimEnd());
        if (mark !== null) chunks.push({ context: mark[1] ?? null, old: [], new: [], isEndOfFile: false });
        else if (one.trim() === '*** End of File') {
          const last = chunks.at(-1);
          if (last !== undefined) last.isEndOfFile = true;
        } else {
          if (chunks.length === 0) chunks.push({ context: null, old: [], new: [], isEndOfFile: false });
          const chunk = chunks.at(-1);
          const body = one.slice(1);
          if (chunk === undefined) continue;
          if (one.startsWith('+')) chunk.new.push(body);
          else if (one.startsWith('-')) chunk.old.push(body);
          else if (one.startsWith(' ') || one === '') {
            chunk.old.push(body);
            chunk.new.push(body);
          } else
            return `Invalid patch hunk on line ${at + 1}: Unexpected line found in update hunk: '${one}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`;
        }
      }
      if (chunks.length === 0) return `Invalid patch hunk on line ${at}: Update file hunk for path '${path}' is empty`;
      operations.push({ kind: 'update', path, moveTo: move?.[1] ?? null, chunks });
    }
  }
  return operations;
}

/**
 * Codex compares lines exactly first, then ignoring trailing space, then ignoring surrounding space, then with
 * typographic characters replaced by plain ones.
 */
const WAYS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) =>
    line
      .trim()
      .replace(/[\u2010-\u2015\u2212]/g, '-')
      .replace(/[\u2018-\u201b]/g, "'")
      .replace(/[\u201c-\u201f]/g, '"')
      .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' '),
];

function seek(lines: readonly string[], wanted: readonly string[], from: number, isEndOfFile: boolean): number | null {
  if (wanted.length === 0) return from;
  if (wanted.length > lines.length) return null;
  const start = isEndOfFile ? lines.length - wanted.length : from;
  for (const way of WAYS)
    for (let at = start; at + wanted.length <= lines.length; at++)
      if (wanted.every((line, i) => way(lines[at + i] ?? '') === way(line))) return at;
  return null;
}

/** The text after an update, or null with the lines that were not found. Codex gives every file a final newline. */
export function applyChunks(
  text: string,
  chunks: readonly PatchChunk[],
): { text: string } | { missing: string; isContext: boolean } {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const edits: { at: number; count: number; put: readonly string[] }[] = [];
  let from = 0;
  for (const chunk of chunks) {
    if (chunk.context !== null) {
      const at = seek(lines, [chunk.context], from, false);
      if (at === null) return { missing: chunk.context, isContext: true };
      from = at + 1;
    }
    if (chunk.old.length === 0) {
      const at = lines.at(-1) === '' ? lines.length - 1 : lines.length;
      edits.push({ at, count: 0, put: chunk.new });
      continue;
    }
    let { old, new: put } = chunk;
    let at = seek(lines, old, from, chunk.isEndOfFile);
    if (at === null && old.at(-1) === '') {
      old = old.slice(0, -1);
      if (put.at(-1) === '') put = put.slice(0, -1);
      at = seek(lines, old, from, chunk.isEndOfFile);
    }
    if (at === null) return { missing: chunk.old.join('\n'), isContext: false };
    edits.push({ at, count: old.length, put });
    from = at + old.length;
  }
  for (const { at, count, put } of edits.toSorted((a, b) => b.at - a.at)) lines.splice(at, count, ...put);
  if (lines.at(-1) !== '') lines.push('');
  return { text: lines.join('\n') };
}
