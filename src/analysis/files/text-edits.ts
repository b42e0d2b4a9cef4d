import { type KnownFile, type KnownLine, partialFile, UNKNOWN } from './known-file.ts';
import { shownLines, type View } from './views.ts';

/** A replacement in lines that are only partly known. */
export interface PartialEdit {
  old: string;
  new: string;
  all: boolean;
}

/** How many more lines one text has than another. */
const growth = ({ old, new: text }: PartialEdit): number => text.split('\n').length - old.split('\n').length;

/** Consecutive known lines, as one text. */
function lineRuns(lines: ReadonlyMap<number, KnownLine>): { from: number; text: string }[] {
  const runs: { from: number; texts: string[] }[] = [];
  for (const number of [...lines.keys()].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    const { text } = lines.get(number) as KnownLine;
    if (last !== undefined && last.from + last.texts.length === number) last.texts.push(text);
    else runs.push({ from: number, texts: [text] });
  }
  return runs.map(({ from, texts }) => ({ from, text: `${texts.join('\n')}\n` }));
}

/** Each occurrence of a text in the known lines: the run, and the offset in it. */
function editPlaces(lines: ReadonlyMap<number, KnownLine>, text: string): { from: number; text: string; at: number }[] {
  if (text === '') return [];
  return lineRuns(lines).flatMap((run) => {
    const found: { from: number; text: string; at: number }[] = [];
    for (let at = run.text.indexOf(text); at !== -1; at = run.text.indexOf(text, at + text.length))
      found.push({ ...run, at });
    return found;
  });
}

const newlinesIn = (text: string): number => text.split('\n').length - 1;

/** Replaces lines; those after them shift. */
function withLines(
  lines: ReadonlyMap<number, KnownLine>,
  from: number,
  count: number,
  put: readonly KnownLine[],
): Map<number, KnownLine> {
  const moved = new Map<number, KnownLine>();
  for (const [number, line] of lines) {
    if (number < from) moved.set(number, line);
    else if (number >= from + count) moved.set(number + put.length - count, line);
  }
  for (const [i, line] of put.entries()) moved.set(from + i, line);
  return moved;
}

/** One replacement inside a run of known lines. */
function replaceAt(
  lines: ReadonlyMap<number, KnownLine>,
  place: { from: number; text: string; at: number },
  edit: PartialEdit,
  call: number,
): Map<number, KnownLine> {
  const start = place.text.lastIndexOf('\n', place.at - 1) + 1;
  const stop = place.at + edit.old.length;
  // The rest of the line in which the old text ends becomes part of the new one.
  const end = place.text[stop - 1] === '\n' && edit.new.endsWith('\n') ? stop - 1 : place.text.indexOf('\n', stop);
  const tail = end === -1 ? place.text.length - 1 : Math.max(end, stop - 1);
  const before = place.text.slice(start, tail);
  const after = `${place.text.slice(start, place.at)}${edit.new}${place.text.slice(stop, tail)}`;
  const kept = edit.new.endsWith('\n') && tail < stop ? after.slice(0, -1) : after;
  const first = place.from + newlinesIn(place.text.slice(0, start));
  const olds = before.split('\n');
  const put = kept.split('\n').map((text, i): KnownLine => {
    const known = lines.get(first + i);
    return text === olds[i] && known !== undefined ? known : { text, by: call };
  });
  return withLines(lines, first, olds.length, put);
}

/**
 * The line at which the new text begins in the lines that an answer shows; null if it is absent, or occurs more than
 * once.
 */
function placeInView(view: ReadonlyMap<number, string>, text: string): number | null {
  const known = new Map([...view].map(([number, line]) => [number, { text: line, by: null }] as const));
  const places = editPlaces(known, text.endsWith('\n') ? text : text.trimEnd());
  const [only] = places;
  return places.length === 1 && only !== undefined ? only.from + newlinesIn(only.text.slice(0, only.at)) : null;
}

/** A partly known file after a successful replacement, updated with the lines that the answer shows. */
export function editedPartly(
  file: KnownFile,
  edits: readonly PartialEdit[],
  call: number,
  view: View | null,
): KnownFile {
  let lines = file.lines as Map<number, KnownLine>;
  let isWhole = file.isWhole;
  const shown = view === null ? new Map<number, string>() : shownLines(view);
  for (const edit of edits) {
    const places = editPlaces(lines, edit.old);
    const isPlaced = edit.all ? places.length > 0 && (isWhole || growth(edit) === 0) : places.length === 1;
    if (isPlaced) {
      for (const place of places.toReversed()) lines = replaceAt(lines, place, edit, call);
      continue;
    }
    isWhole = false;
    const at = edits.length === 1 && edit.new.trim() !== '' ? placeInView(shown, edit.new) : null;
    if (at !== null) {
      const count = edit.old.split('\n').length;
      const texts = edit.new.split('\n');
      lines = withLines(lines, at, count, []);
      lines = withLines(
        lines,
        at,
        0,
        texts.map((text) => ({ text, by: call })),
      );
      // The new text may begin and end within a line.
      lines.delete(at);
      lines.delete(at + texts.length - 1);
    } else if (growth(edit) === 0) {
      const olds = new Set(edit.old.split('\n'));
      lines = new Map(
        [...lines].filter(
          ([, { text }]) => ![...olds].some((old) => old === '' || text.includes(old) || old.includes(text)),
        ),
      );
    } else lines = new Map();
  }
  const merged = new Map(lines);
  const written = new Set(edits.flatMap((edit) => edit.new.split('\n')));
  const removed = new Set(edits.flatMap((edit) => edit.old.split('\n')));
  for (const [number, text] of shown) {
    const known = merged.get(number);
    if (known?.text === text) continue;
    merged.set(number, { text, by: written.has(text) && !removed.has(text) ? call : null });
  }
  return partialFile(merged, isWhole);
}

/** Lines with known numbers afterwards, such as those of a patch's hunk. */
export function withHunk(file: KnownFile, from: number, removed: number, put: readonly KnownLine[]): KnownFile {
  const base = file.status === 'unknown' ? UNKNOWN : file;
  return partialFile(withLines(base.lines, from, removed, put), file.isWhole && file.status !== 'unknown');
}
