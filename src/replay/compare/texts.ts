import { type Cut, cutShows, lengthOf, possibleCuts } from './cut.ts';
import { type Likeness, type MatchContext, matchEnds, matchWhole } from './match.ts';
import { hasNotebookTraceback, withoutTracebacks } from './notebook-traceback.ts';
import type { RuleName } from './rules.ts';
import { type OutputLine, readLines } from './traceback.ts';

/** How a new text matches the recorded one. */
export interface Match {
  /** The rules that were needed; empty if the texts are equal. */
  rules: readonly RuleName[];
  compared: 'whole' | 'shown_part';
  /** Characters of the record that were compared. */
  shown: number;
  total: number;
}

/** null: the texts differ. A truncated recorded text is compared as far as it goes: the new one is truncated in the same way. */
export function matchTexts(recorded: string, fresh: string, context: MatchContext): Match | null {
  const total = lengthOf(fresh);
  if (recorded === fresh) return { rules: [], compared: 'whole', shown: total, total };
  const cuts = possibleCuts(recorded);
  for (const cut of cuts)
    if (cutShows(cut, fresh)) return { rules: [], compared: 'shown_part', shown: cut.shown, total };
  const whole = matchWhole(recorded, fresh, context) ?? matchOtherShape(recorded, fresh, context);
  if (whole !== null) return { rules: [...whole.rules], compared: 'whole', shown: total, total };
  for (const cut of cuts) {
    const ends = fits(cut, total, fresh)
      ? (matchEnds(cut.head, cut.tail, fresh, context) ?? matchDeep(cut.head, cut.tail, fresh, context))
      : null;
    // Without noise, lengths are exact: a text that is shown in full was not cut.
    if (ends === null || (ends.rules.size === 0 && total <= cut.shown && !hasFrame(fresh))) continue;
    const shown = Math.max(0, cut.shown - ends.loose);
    // A text that is all noise was not compared at all.
    if (shown > 0) return { rules: [...ends.rules], compared: 'shown_part', shown, total };
  }
  return null;
}

/** The same result in another shape: a notebook's traceback beside Python's own, or the two outputs of one pipe in another order. */
function matchOtherShape(recorded: string, fresh: string, context: MatchContext): Likeness | null {
  const { rules, facts } = context;
  if (rules.has('tracebacks') && (hasNotebookTraceback(recorded) || hasNotebookTraceback(fresh))) {
    const [then, now] = [withoutTracebacks(recorded), withoutTracebacks(fresh)];
    const found = then.raised === null && now.raised === null ? matchWhole(then.text, now.text, context) : null;
    if (found !== null) return { ...found, rules: new Set([...found.rules, 'tracebacks']) };
  }
  if (rules.has('pipe-order') && JOINS_OUTPUTS.test(facts.code ?? '') && isOtherPipeOrder(recorded, fresh))
    return { rules: new Set(['pipe-order']), loose: 0 };
  return null;
}

/** Both outputs go into one pipe, so buffering decides the order. */
const JOINS_OUTPUTS = /2>&1|&>|stderr\s*=\s*(?:subprocess\.)?STDOUT|dup2\(\s*1\s*,\s*2\s*\)|redirect_stderr/;

/** A text shorter than the shown part was not cut. Traceback length varies between Python versions. */
const fits = (cut: Cut, total: number, fresh: string): boolean => total + 64 > cut.shown || hasFrame(fresh);

const hasFrame = (text: string): boolean => /^ {2}File "/m.test(text);

const PATH = /\/tmp\/[\w./-]+/g;

/**
 * Whether two texts hold the same lines, in an order that two writers to one pipe can produce: each writer's lines keep their order. Equal
 * texts return false.
 */
function isOtherPipeOrder(recorded: string, fresh: string): boolean {
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

const TOO_DEEP = /^RecursionError\b/;

/**
 * The ends of a text printed by a program that recursed too deep. How many frames the traceback has, and which of several mutually
 * recursive frames is last, depends on the interpreter's depth before the program began, so any of the program's frames matches any other.
 */
function matchDeep(head: string, tail: string, fresh: string, context: MatchContext): Likeness | null {
  if (!context.rules.has('tracebacks')) return null;
  const now = readLines(fresh.split('\n'));
  const last = now.findLast(({ part }) => part === 'raised');
  if (last === undefined || !TOO_DEEP.test(last.text)) return null;
  const frames = now.filter(({ part }) => part === 'frame');
  const isOwn = ({ line, in: name }: OutputLine) => frames.some((frame) => frame.line === line && frame.in === name);
  const heads = readLines(head.split('\n'));
  // The line at the cut is incomplete.
  const tails = readLines(tail.split('\n').slice(1), true);
  const cut = heads.pop();
  const whole = [...heads, ...tails];
  if (!heads.some(({ part }) => part === 'header') || !whole.filter(({ part }) => part === 'frame').every(isOwn))
    return null;
  const said = (lines: readonly OutputLine[]) =>
    lines.filter(({ part }) => part === 'text' || part === 'raised').map(({ text }) => text);
  const [before, after] = [said(heads), said(tails)];
  const all = said(now);
  const printed = all.slice(0, before.length);
  const ended = after.length === 0 ? [] : all.slice(-after.length);
  const isSame = (a: readonly string[], b: readonly string[]) =>
    matchWhole(a.join('\n'), b.join('\n'), context) !== null;
  if (!isSame(before, printed) || !isSame(after, ended)) return null;
  return { rules: new Set(['tracebacks']), loose: cut?.text.length ?? 0 };
}
