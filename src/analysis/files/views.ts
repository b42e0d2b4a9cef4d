import { type KnownFile, type KnownLine, linesOf, partialFile, tabsExpanded, universalNewlines } from './known-file.ts';

/** A text that a tool or the recording shortened. */
export const CUT =
  /\[…\]|\.\.\.\(truncated\)|truncated|output_head|omitted|elided|<response clipped>|characters? (?:left out|removed)/;

/** Lines that a result shows with their numbers. */
export interface View {
  lines: ReadonlyMap<number, string>;
  /** The last shown line is empty: a file that ends in a newline is shown with one extra line. */
  endsEmpty: boolean;
}

const NUMBERED = /^ *(\d+)(?:\t|→)(.*)$/;
const WINDOWED = /^(\d+):(.*)$/;

/** Some views cut lines longer than this. */
const LONG = 1900;

/** The numbered lines of a view, as `cat -n` or SWE-agent's window writes them; the longest run of growing numbers. */
export function readView(text: string): View {
  const pattern = /^\[File: /m.test(text) ? WINDOWED : NUMBERED;
  const lines = new Map<number, string>();
  let last: number | null = null;
  for (const line of text.split('\n')) {
    const match = pattern.exec(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (match === null) continue;
    const number = Number(match[1]);
    if (last !== null && number !== last + 1) continue;
    lines.set(number, match[2] ?? '');
    last = number;
  }
  const endsEmpty = last !== null && last > 1 && lines.get(last) === '';
  return { lines, endsEmpty };
}

/** The lines of a view that are certainly lines of the file. */
export function shownLines({ lines, endsEmpty }: View): Map<number, string> {
  const shown = new Map(lines);
  if (endsEmpty) shown.delete(Math.max(...shown.keys()));
  return shown;
}

/** Things that a view hides do not count as a difference: line ends, tabs, the rest of a long line. */
function isShownAs(line: string, shown: string): boolean {
  const clean = (text: string) => tabsExpanded(text.replace(/\r$/, ''));
  const [a, b] = [clean(line), clean(shown)];
  return a === b || a.trimEnd() === b.trimEnd() || (b.length >= LONG && a.startsWith(b.slice(0, LONG)));
}

/** Whether the shown lines match a known file. @param isWhole the view is of the whole file */
function agrees(file: KnownFile, view: View, isWhole: boolean): boolean {
  if (file.text === null && file.status === 'certain') return view.lines.size === 0;
  const shown = shownLines(view);
  if (file.status === 'certain') {
    const texts = linesOf(universalNewlines(file.text ?? ''));
    if (
      isWhole &&
      shown.size > 0 &&
      Math.max(...shown.keys()) < texts.length &&
      texts.slice(shown.size).some((one) => one !== '')
    )
      return false;
    return [...shown].every(([number, text]) =>
      texts[number - 1] === undefined ? text === '' : isShownAs(texts[number - 1] ?? '', text),
    );
  }
  return [...shown].every(([number, text]) => {
    const known = file.lines.get(number);
    return known === undefined || isShownAs(known.text, text);
  });
}

/** A file after a view of it. A view that contradicts what was known means that something else changed the file. */
export function afterView(file: KnownFile, view: View, isWhole: boolean): { file: KnownFile; contradicts: boolean } {
  const fits = agrees(file, view, isWhole);
  if (file.status === 'certain' && fits && file.text !== null) return { file, contradicts: false };
  const shown = shownLines(view);
  const lines = new Map<number, KnownLine>(fits && !isWhole ? file.lines : []);
  for (const [number, text] of shown) {
    const known = file.lines.get(number);
    lines.set(number, known !== undefined && isShownAs(known.text, text) ? known : { text, by: null });
  }
  return { file: partialFile(lines, isWhole || (fits && file.isWhole)), contradicts: !fits };
}
