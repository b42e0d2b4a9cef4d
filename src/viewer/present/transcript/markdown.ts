import type { Range } from './block.ts';
import type { CodeLanguage } from './code-language.ts';
import { codeLanguageNamed } from './syntax.ts';

/** A stretch of a text: prose, with the fence lines around its code, or the code between two fences. */
export interface Stretched {
  start: number;
  end: number;
  /** null for prose, and for code in a language without colours. */
  code: CodeLanguage | null;
  isCode: boolean;
}

/** An opening fence alone on its line, with a language name. */
const FENCE = /^[ \t]{0,8}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`\n]*$/;
/** Beyond this, the text is shown as one. */
const MOST_FENCES = 200;

/** Alternating prose and fenced code that together make up the text. Code that is never closed extends to the end. */
export function stretches(text: string): Stretched[] {
  const all: Stretched[] = [];
  let start = 0;
  let open: { mark: string; code: CodeLanguage | null } | null = null;
  const add = (end: number, isCode: boolean, code: CodeLanguage | null): void => {
    if (end > start) all.push({ start, end, isCode, code });
    start = end;
  };
  for (let line = nextFence(text, 0); line !== -1 && all.length < MOST_FENCES; ) {
    const newline = text.indexOf('\n', line);
    const end = newline === -1 ? text.length : newline;
    const fence = end - line < 200 ? FENCE.exec(text.slice(line, end)) : null;
    if (fence !== null && open === null) {
      open = { mark: fence[1] ?? '', code: codeLanguageNamed(fence[2] ?? '') };
      add(Math.min(text.length, end + 1), false, null);
    } else if (fence !== null && open !== null && (fence[1] ?? '').startsWith(open.mark) && fence[2] === '') {
      add(line, true, open.code);
      open = null;
    }
    line = nextFence(text, end);
  }
  add(text.length, open !== null, open?.code ?? null);
  return all;
}

/** The start of the next line with a fence; -1 if absent. */
function nextFence(text: string, from: number): number {
  const ticks = text.indexOf('```', from);
  const waves = text.indexOf('~~~', from);
  const at = ticks === -1 ? waves : waves === -1 ? ticks : Math.min(ticks, waves);
  return at === -1 ? -1 : text.lastIndexOf('\n', at) + 1;
}

/** Headings, bold text, inline code and fences; marks stay in place, in the quiet style. LaTeX is unchanged. */
const MARKS =
  /^[ \t]{0,3}(#{1,6} )([^\n]*)|^[ \t]{0,8}(?:`{3,}|~{3,})[^`\n]*$|(\*\*)(?=[^\s*])([^*\n]{1,400}?)(\*\*)|(`)([^`\n]{1,200})(`)/gm;

/** A longer text stays plain. */
const LONGEST = 200_000;

export function markdownRanges(text: string): Range[] {
  const ranges: Range[] = [];
  if (text.length > LONGEST || !/[#*`~]/.test(text)) return ranges;
  for (const match of text.matchAll(MARKS)) {
    const [whole, hashes, title, stars, bold, , tick, code] = match;
    const at = match.index;
    const add = (start: number, length: number, style: Range['style']) =>
      ranges.push({ start, end: start + length, style });
    if (hashes !== undefined) {
      const from = at + whole.indexOf('#');
      add(from, hashes.length, 'quiet');
      if (title !== '') add(from + hashes.length, title!.length, 'heading');
    } else if (stars !== undefined) {
      add(at, 2, 'quiet');
      add(at + 2, bold!.length, 'strong');
      add(at + 2 + bold!.length, 2, 'quiet');
    } else if (tick !== undefined) {
      add(at, 1, 'quiet');
      add(at + 1, code!.length, 'string');
      add(at + 1 + code!.length, 1, 'quiet');
    } else add(at, whole.length, 'quiet');
  }
  return ranges;
}
