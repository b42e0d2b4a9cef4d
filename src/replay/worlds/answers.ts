import { tabsExpanded, universalNewlines } from '../../analysis/files/known-file.ts';
import { readView, shownLines } from '../../analysis/files/views.ts';
import { type CompareContext, compareSets, compareTexts, type WorldComparison } from './compare.ts';
import type { ToolAnswer } from './file-tools.ts';

const DRIFT: WorldComparison = { verdict: 'drift', rules: [] };

/** Refusals common to all agents' tools, in any wording. */
const REFUSALS: readonly RegExp[] = [
  /has not been read yet/i,
  /has been modified since/i,
  /did not appear verbatim|String to replace not found|failed to (?:exactly )?match|Failed to find (?:expected lines|context)/i,
  /Multiple occurrences|Found \d+ matches|not unique/i,
  /already exists/i,
  /does not exist|No such file|not found/i,
  /syntax error/i,
  /No edit history/i,
  /Invalid patch/i,
  /Invalid `?(?:insert_line|view_range)/i,
];

/** The lines of a file begin here: they may hold any words. */
const SHOWN = /^\[File: |^ *\d+[\t→:]|`cat -n`/m;

const SUCCESS = /edited|updated|created successfully|undone successfully|Success|Applied|\[File: |cat -n|^\s*\d+[\t→]/;

/** Compares a file tool's recorded answer with the new one. */
export function compareAnswers(recorded: string, answer: ToolAnswer, context: CompareContext): WorldComparison {
  const plain = compareTexts(recorded, answer.text, context);
  if (plain.verdict === 'same') return plain;
  if (!answer.ok) {
    const kind = REFUSALS.findIndex((one) => one.test(answer.text));
    const words = recorded.split(SHOWN, 1).join();
    const isSame = kind !== -1 && REFUSALS.findIndex((one) => one.test(words)) === kind;
    return isSame ? { verdict: 'normalised', rules: ['tool-wording'] } : DRIFT;
  }
  if (answer.isSet) return compareSets(recorded, answer.text);
  if (answer.shows === null)
    return SUCCESS.test(recorded) && plain.verdict !== 'drift'
      ? plain
      : isWording(recorded, answer.text)
        ? { verdict: 'normalised', rules: ['tool-wording'] }
        : plain;
  if (REFUSALS.some((one) => one.test(recorded.slice(0, 300))) && !SUCCESS.test(recorded.slice(0, 300))) return DRIFT;
  return viewFits(recorded, answer) ? { verdict: 'normalised', rules: ['view-layout'] } : DRIFT;
}

/** The same success in different words. */
const isWording = (recorded: string, fresh: string): boolean =>
  /created successfully|Applied edit/.test(fresh) && SUCCESS.test(recorded);

/** Whether the lines shown in the record match the file as it is now. Which lines an agent shows is a matter of layout. */
function viewFits(recorded: string, { shows, text }: ToolAnswer): boolean {
  if (shows === null) return false;
  const total = /\[File: \S.* \((\d+) lines total\)\]/.exec(recorded)?.[1];
  const count = /\((\d+) lines total\)/.exec(text)?.[1];
  if (total !== undefined && count !== undefined && total !== count) return false;
  const view = readView(recorded);
  if (view.lines.size === 0) return total !== undefined ? Number(total) === 0 : SUCCESS.test(recorded);
  const clean = (line: string) => tabsExpanded(line.replace(/\r$/, '')).trimEnd();
  const lines = universalNewlines(shows.text).split('\n').map(clean);
  const isCut = /truncated|omitted|clipped/.test(recorded.slice(-300));
  for (const [number, line] of shownLines(view)) {
    const real = lines[number - 1];
    if (
      real === undefined ||
      (real !== clean(line) && !(line.length > 1900 && real.startsWith(clean(line).slice(0, 1900))))
    )
      return false;
  }
  // A line missing from the middle of a view breaks its numbering.
  if (isBroken(recorded)) return false;
  const isWholeView =
    /cat -n` on \//.test(recorded) && !/edited/.test(recorded.slice(0, 400)) && shows.to === null && shows.from === 1;
  const last = Math.max(...view.lines.keys());
  if (isWholeView && !isCut) return last >= lines.length - 1;
  if (shows.to !== null && !isCut) return last >= Math.min(shows.to, lines.length - 1);
  return true;
}

/** Whether numbered lines skip a number. */
function isBroken(text: string): boolean {
  const isWindow = /^\[File: /m.test(text);
  const numbers = [...text.matchAll(isWindow ? /^(\d+):/gm : /^ *(\d+)[\t→]/gm)].map((match) => Number(match[1]));
  return numbers.some((number, i) => i > 0 && number !== (numbers[i - 1] ?? 0) + 1);
}
