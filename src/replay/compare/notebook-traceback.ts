import { RAISED } from './traceback.ts';

/** The rule of dashes with which IPython begins a traceback, and the line below it. */
const HEADER = /^-{20,}$/;
const NAMED = /^(\w[\w.]*) +Traceback \(most recent call last\)$/;
/** IPython's lines between the header and the error: cells, frames, and numbered source lines. */
const INSIDE =
  /^(?:Cell In\s*\[\d+\]|File |Input In \[|<ipython-input|~?\/|[\w./~<>-]+\.py in |\s*(?:-+>)? *\d+ |\s*\.\.\.|\s*\.{3}|\s*$|\s{4,})/;
const COLOUR = /\x1b\[[\d;]*m/g;

/** The first frame of a traceback whose header is cut off. */
const FIRST_FRAME = /^\s*(?:Cell In *\[\d+\]|Input In \[\d+\]|(?:File )?<ipython-input-\d+-\w+>)/;

const PLAIN = 'Traceback (most recent call last):';

/** Whether a text contains an IPython traceback. */
export const hasNotebookTraceback = (text: string): boolean =>
  text
    .replace(COLOUR, '')
    .split('\n')
    .some((line, index) => NAMED.test(line) || (index === 0 && FIRST_FRAME.test(line)));

/**
 * A text with each traceback, IPython's or Python's, reduced to its header and final error. `raised` names the errors of tracebacks that
 * are cut off before their last line.
 */
export function withoutTracebacks(text: string): { text: string; raised: string | null } {
  const kept: string[] = [];
  let raised: string | null = null;
  let state: 'out' | 'notebook' | 'plain' = 'out';
  const lines = text.replace(COLOUR, '').split('\n');
  for (const [index, line] of lines.entries()) {
    const name = NAMED.exec(line)?.[1];
    if (name !== undefined) {
      state = 'notebook';
      raised = name;
      kept.push(PLAIN);
      continue;
    }
    if (index === 0 && FIRST_FRAME.test(line)) {
      state = 'notebook';
      kept.push(PLAIN);
      continue;
    }
    if (HEADER.test(line) && NAMED.test(lines[index + 1] ?? '')) continue;
    if (line === PLAIN) {
      state = 'plain';
      kept.push(PLAIN);
      continue;
    }
    const isNamed = raised === null ? RAISED.test(line) : line.startsWith(`${raised}:`) || line === raised;
    if (state === 'notebook' && isNamed) {
      state = 'out';
      raised = null;
    } else if (state === 'notebook' && (INSIDE.test(line) || !RAISED.test(line))) continue;
    else if (state === 'plain' && /^\s/.test(line)) continue;
    else state = 'out';
    kept.push(line);
  }
  // IPython leaves a blank line before the error.
  return { text: kept.join('\n'), raised };
}
