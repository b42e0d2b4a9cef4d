/** A line of a program's output and its role in a traceback. */
export interface OutputLine {
  text: string;
  /**
   * header, frame (of the program), raised: the content of a traceback. source, mark, library, syntax, repeated: presentation that varies
   * between versions of Python. text: everything else.
   */
  part: 'text' | 'header' | 'frame' | 'raised' | 'source' | 'mark' | 'library' | 'syntax' | 'repeated';
  /** A frame: its line in the program, and the function. */
  line: number;
  in: string;
  /** Its index among the lines read. */
  index: number;
}

/** The last printed text, such as an input prompt, may precede it. */
const HEADER = /(?:Traceback \(most recent call last\):|Exception Group Traceback .*:)$/;
const FRAME = /^ {2,}File "([^"]*)", line (\d+)(?:, in (.+))?$/;
const LIBRARY = /\/(?:lib\/python[\d.]+|python\d+\.zip|site-packages|dist-packages|_pyodide)\/|^<frozen /;
/** Comprehensions have had no frame since 3.12. */
const INLINED = /^<(?:listcomp|dictcomp|setcomp)>$/;
const MARK = /^\s*[~^][ ~^]*$/;
const REPEATED = /^ +\[Previous line repeated \d+ more times?\]$/;
export const RAISED = /^(?:[A-Za-z_][\w.]*\.)?(?:[A-Z]\w*|\w*error|timeout)(?:: |:?$)/;

export const isShown = ({ part }: OutputLine): boolean =>
  part === 'text' || part === 'header' || part === 'frame' || part === 'raised';

/** @param inside the first lines may belong to a traceback whose beginning is cut off */
export function readLines(texts: readonly string[], inside = false): OutputLine[] {
  let state: 'out' | 'frames' | 'library' = inside && startsInside(texts) ? 'frames' : 'out';
  return texts.map((text, index): OutputLine => {
    const line: OutputLine = { text, part: 'text', line: 0, in: '', index };
    if (HEADER.test(text)) {
      state = 'frames';
      return { ...line, part: 'header' };
    }
    const frame = FRAME.exec(text);
    if (frame !== null && (state !== 'out' || isSyntax(texts, index))) {
      const [, path = '', number = '', name] = frame;
      state = 'frames';
      // Versions point at different lines of code that does not parse.
      if (name === undefined) return { ...line, part: 'syntax' };
      if (LIBRARY.test(path) || INLINED.test(name)) {
        state = 'library';
        return { ...line, part: 'library' };
      }
      return { ...line, part: 'frame', line: Number(number), in: name };
    }
    if (state === 'out') return line;
    if (REPEATED.test(text)) return { ...line, part: 'repeated' };
    if (/^ {3,}/.test(text)) {
      if (MARK.test(text) || /^\s+\.\.\.<\d+ lines?>\.\.\.$/.test(text)) return { ...line, part: 'mark' };
      return { ...line, part: state === 'library' ? 'library' : 'source' };
    }
    state = 'out';
    return { ...line, part: RAISED.test(text) ? 'raised' : 'text' };
  });
}

function startsInside(texts: readonly string[]): boolean {
  const first = texts.findIndex((text) => !/^ {3,}/.test(text));
  const line = texts[first];
  return line !== undefined && (FRAME.test(line) || (first > 0 && RAISED.test(line)));
}

/** Code that does not parse is reported without a header: its line, marks, and the error. */
function isSyntax(texts: readonly string[], index: number): boolean {
  for (let i = index + 1; i < Math.min(texts.length, index + 5); i++) {
    if (/^(?:Syntax|Indentation|Tab)Error\b/.test(texts[i] ?? '')) return true;
    if (!/^ {3,}/.test(texts[i] ?? '')) return false;
  }
  // Cut off before the error is named.
  return index + 5 > texts.length;
}

/** Whether two lines of a program are in one statement: versions name its first or its last line. */
export function isOneStatement(code: string, a: number, b: number): boolean {
  const [from, to] = a < b ? [a, b] : [b, a];
  if (to - from > 60) return false;
  const lines = code.split('\n');
  let depth = 0;
  let start = 1;
  for (let number = 1; number <= to; number++) {
    const text = (lines[number - 1] ?? '').replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|#.*$/g, '');
    if (depth <= 0 && !/\\$/.test(lines[number - 2] ?? '')) start = number;
    for (const c of text) depth += '([{'.includes(c) ? 1 : ')]}'.includes(c) ? -1 : 0;
    if (number === from && start > from) return false;
    if (number > from && start > from) return false;
  }
  return true;
}
