import { itemAt } from '../../core/lists/at.ts';
import { noiseOf, type RunFacts } from './noise.ts';
import type { RuleName, Rules } from './rules.ts';
import { isOneStatement, isShown, type OutputLine, readLines } from './traceback.ts';
import { networkWording, sharedWording } from './wording.ts';

/** How closely two texts match. */
export interface Likeness {
  rules: Set<RuleName>;
  /** Characters of the record that match noise, or that lie beside a cut and cannot be compared. */
  loose: number;
}

export interface MatchContext {
  rules: Rules;
  facts: RunFacts;
}

/** Longer lines are compared verbatim. */
const MAX_NOISY_LINE = 200_000;

/** Compares a whole text; null if they differ. */
export function matchWhole(recorded: string, fresh: string, context: MatchContext): Likeness | null {
  const likeness: Likeness = { rules: new Set(), loose: 0 };
  const [before, after] = withoutOuterSpace(recorded, fresh, context, likeness);
  if (before === after) return likeness;
  const a = readLines(before.split('\n'));
  const b = readLines(after.split('\n'));
  if (!context.rules.has('tracebacks')) return matchAll(a, b, context, likeness) ? likeness : null;
  const [shownA, shownB] = [a.filter(isShown), b.filter(isShown)];
  if (!sourcesFit(a, context) || !matchAll(shownA, shownB, context, likeness)) return null;
  return noteDropped(a, b, likeness) ? likeness : null;
}

/** The beginning and the end of a truncated text. Either may be empty. */
export function matchEnds(head: string, tail: string, fresh: string, context: MatchContext): Likeness | null {
  const likeness: Likeness = { rules: new Set(), loose: 0 };
  const lines = readLines(fresh.split('\n'));
  const heads = head.split('\n');
  const tails = tail.split('\n');
  const top = head === '' ? -1 : matchHead(heads, lines, context, likeness);
  if (top === null) return null;
  const bottom = tail === '' ? lines.length : matchTail(tails, lines, context, likeness);
  if (bottom === null || bottom < top) return null;
  return likeness;
}

/** @returns the index of the last line that was reached */
function matchHead(texts: string[], fresh: OutputLine[], context: MatchContext, likeness: Likeness): number | null {
  const partial = texts.at(-1) ?? '';
  const whole = readLines(texts.slice(0, -1));
  const drops = context.rules.has('tracebacks');
  const shown = drops ? whole.filter(isShown) : whole;
  const others = drops ? fresh.filter(isShown) : fresh;
  if (drops && !sourcesFit(whole, context)) return null;
  if (shown.length > others.length || !matchAll(shown, others.slice(0, shown.length), context, likeness)) return null;
  const reached = others[shown.length - 1]?.index ?? -1;
  if (partial === '') return reached;
  const next = others[shown.length]?.index ?? fresh.length - 1;
  for (let i = reached + 1; i <= next; i++) {
    const found = matchLine(partial, itemAt(fresh, i), 'prefix', context);
    if (found !== null) return takeLikeness(likeness, found) && i;
  }
  if (!drops || !isInTraceback(fresh, reached, next)) return null;
  const start = partial.trimStart();
  const isFramePart = isFrameStart(partial, others[shown.length], context);
  const isSource =
    start !== partial && (textLines(context).some((line) => line.startsWith(start)) || /^[~^ ]*$/.test(start));
  const isLibrary = /^ {4,}/.test(partial) && whole.at(-1)?.part === 'library';
  if (!isFramePart && !isSource && !isLibrary) return null;
  likeness.rules.add('tracebacks');
  likeness.loose += partial.length;
  return reached;
}

const FRAME_START = /^ {2}File "[^"]*(?:", line (\d*)(?:(,)(?: i?n? ?([\w<>]*))?)?)?$/;

/** A frame line that the cut goes through: its path may differ, the rest may not. */
function isFrameStart(partial: string, frame: OutputLine | undefined, { facts }: MatchContext): boolean {
  if ('  File "'.startsWith(partial)) return true;
  const [match, line = '', comma, name = ''] = FRAME_START.exec(partial) ?? [];
  if (match === undefined || frame === undefined) return false;
  if (frame.part !== 'frame') return true;
  const isThere = comma
    ? Number(line) === frame.line || isOneStatement(facts.code ?? '', Number(line), frame.line)
    : String(frame.line).startsWith(line);
  return isThere && frame.in.startsWith(name);
}

/** @returns the index of the first line that was reached */
function matchTail(texts: string[], fresh: OutputLine[], context: MatchContext, likeness: Likeness): number | null {
  const drops = context.rules.has('tracebacks');
  // A template may remove the last newline.
  const isTrimmed = texts.at(-1) !== '' && fresh.at(-1)?.text === '';
  const end = isTrimmed ? fresh.slice(0, -1) : fresh;
  if (isTrimmed) {
    if (!context.rules.has('outer-space')) return null;
    likeness.rules.add('outer-space');
  }
  if (texts.length === 1) {
    const last = end.at(-1);
    const found = last === undefined ? null : matchLine(itemAt(texts, 0), last, 'suffix', context);
    return found === null ? null : takeLikeness(likeness, found) && last!.index;
  }
  const partial = texts[0] ?? '';
  const whole = readLines(texts.slice(1), true);
  const shown = drops ? whole.filter(isShown) : whole;
  const others = drops ? end.filter(isShown) : end;
  const first = others.length - shown.length;
  if (first < 0 || !matchAll(shown, others.slice(first), context, likeness)) return null;
  const reached = others[first]?.index ?? end.length;
  const previous = others[first - 1]?.index ?? 0;
  if (partial === '') return reached;
  for (let i = reached - 1; i >= previous; i--) {
    const found = matchLine(partial, itemAt(fresh, i), 'suffix', context);
    if (found !== null) return takeLikeness(likeness, found) && i;
  }
  if (!drops || !isInTraceback(fresh, previous - 1, reached)) return null;
  const words = partial.trim();
  const frame = /^[^"]*(?:", line )?\d*, in (\S+)$|^[^"]*", line \d+(?:, in (\S+))?$/.exec(partial);
  const isFrame = frame !== null && (frame[1] ?? frame[2]) === fresh[previous]?.in;
  const isSource = textLines(context).some((line) => line.endsWith(words)) || /^[~^ ]*$/.test(partial);
  const isLibrary = fresh.slice(previous, reached).some(({ part }) => part === 'library');
  if (!isFrame && !isSource && !isLibrary && !whole.some(({ part }) => part === 'library')) return null;
  likeness.rules.add('tracebacks');
  likeness.loose += partial.length;
  return previous;
}

const isInTraceback = (lines: readonly OutputLine[], from: number, to: number): boolean =>
  lines.slice(Math.max(0, from), to + 1).some(({ part }) => part !== 'text');

const textLines = ({ facts }: MatchContext): string[] => (facts.code ?? '').split('\n').map((line) => line.trim());

/** The program lines shown in a recorded traceback are lines of this program. */
function sourcesFit(lines: readonly OutputLine[], context: MatchContext): boolean {
  if (context.facts.code === null || !lines.some(({ part }) => part === 'source')) return true;
  const code = new Set(textLines(context));
  const wrapped = (text: string): boolean => /^print\(.*\)$/.test(text) && code.has(text.slice(6, -1).trim());
  const isSyntax = lines.some(({ part }) => part === 'syntax');
  return lines.every(
    ({ part, text }) => part !== 'source' || isSyntax || code.has(text.trim()) || wrapped(text.trim()),
  );
}

function matchAll(
  a: readonly OutputLine[],
  b: readonly OutputLine[],
  context: MatchContext,
  likeness: Likeness,
): boolean {
  if (a.length !== b.length) return false;
  return a.every((line, i) => {
    const other = itemAt(b, i);
    if (line.text === other.text) return true;
    const found = matchLine(line.text, other, 'whole', context, line);
    return found !== null && takeLikeness(likeness, found);
  });
}

function takeLikeness(likeness: Likeness, { rules, loose }: Likeness): true {
  for (const rule of rules) likeness.rules.add(rule);
  likeness.loose += loose;
  return true;
}

/** A part that was left out of both counts as noise if it differs. */
function noteDropped(a: readonly OutputLine[], b: readonly OutputLine[], { rules }: Likeness): true {
  const dropped = (lines: readonly OutputLine[]) =>
    lines
      .filter((line) => !isShown(line))
      .map(({ text }) => text)
      .join('\n');
  if (dropped(a) !== dropped(b)) rules.add('tracebacks');
  return true;
}

/** A recorded line, whole or partial, against a new line. */
function matchLine(
  recorded: string,
  fresh: OutputLine,
  how: 'whole' | 'prefix' | 'suffix',
  context: MatchContext,
  recordedLine?: OutputLine,
): Likeness | null {
  const { rules, facts } = context;
  const { text } = fresh;
  const is =
    how === 'whole' ? recorded === text : how === 'prefix' ? text.startsWith(recorded) : text.endsWith(recorded);
  if (is) return { rules: new Set(), loose: 0 };
  if (
    how === 'whole' &&
    recordedLine !== undefined &&
    rules.has('tracebacks') &&
    recordedLine.part === 'frame' &&
    fresh.part === 'frame'
  ) {
    if (recordedLine.in !== fresh.in) return null;
    const isThere = recordedLine.line === fresh.line || isOneStatement(facts.code ?? '', recordedLine.line, fresh.line);
    return isThere ? { rules: new Set(['tracebacks']), loose: 0 } : null;
  }
  const noise = text.length > MAX_NOISY_LINE ? [] : noiseOf(text, fresh.index, facts, rules);
  const found =
    noise.length === 0
      ? null
      : how === 'suffix'
        ? fromEnd(recorded, text, noise)
        : fromStart(recorded, text, noise, how);
  if (found !== null) return found;
  const isRaised = how === 'whole' && recordedLine?.part === 'raised' && fresh.part === 'raised';
  if (isRaised && rules.has('python-wording') && sharedWording(recorded) === sharedWording(text))
    return { rules: new Set(['python-wording']), loose: 0 };
  if (how === 'whole' && rules.has('network-wording')) {
    const words = networkWording(recorded);
    if (words !== null && words === networkWording(text)) return { rules: new Set(['network-wording']), loose: 0 };
  }
  return null;
}

type Noises = ReturnType<typeof noiseOf>;

function fromStart(recorded: string, text: string, noise: Noises, how: 'whole' | 'prefix'): Likeness | null {
  const likeness: Likeness = { rules: new Set(), loose: 0 };
  let at = 0;
  let from = 0;
  for (const one of noise) {
    const literal = text.slice(from, one.start);
    const left = recorded.length - at;
    if (how === 'prefix' && left < literal.length) return literal.startsWith(recorded.slice(at)) ? likeness : null;
    if (!recorded.startsWith(literal, at)) return null;
    at += literal.length;
    from = one.end;
    if (how === 'prefix' && at === recorded.length) return likeness;
    const end = one.read(recorded, at);
    likeness.rules.add(one.rule);
    if (how === 'prefix' && (end === -1 || end === recorded.length)) {
      const rest = recorded.slice(at);
      likeness.loose += rest.length;
      return end !== -1 || one.isPart(rest) ? likeness : null;
    }
    if (end === -1) return null;
    if (recorded.slice(at, end) === text.slice(one.start, one.end)) {
      if (noise.length === 1) likeness.rules.delete(one.rule);
    } else likeness.loose += end - at;
    at = end;
  }
  const rest = text.slice(from);
  const isEnd = how === 'prefix' ? rest.startsWith(recorded.slice(at)) : recorded.slice(at) === rest;
  return isEnd ? likeness : null;
}

function fromEnd(recorded: string, text: string, noise: Noises): Likeness | null {
  const likeness: Likeness = { rules: new Set(), loose: 0 };
  let at = recorded.length;
  let to = text.length;
  for (const one of noise.toReversed()) {
    const literal = text.slice(one.end, to);
    if (at < literal.length) return literal.endsWith(recorded.slice(0, at)) ? likeness : null;
    if (!recorded.slice(0, at).endsWith(literal)) return null;
    at -= literal.length;
    to = one.start;
    if (at === 0) return likeness;
    const start = one.readBack(recorded, at);
    likeness.rules.add(one.rule);
    if (start <= 0) {
      const rest = recorded.slice(0, at);
      likeness.loose += rest.length;
      return start === 0 || one.isPart(rest) ? likeness : null;
    }
    likeness.loose += at - start;
    at = start;
  }
  return text.slice(0, to).endsWith(recorded.slice(0, at)) ? likeness : null;
}

/** A template may strip whitespace around a text. */
function withoutOuterSpace(
  recorded: string,
  fresh: string,
  { rules }: MatchContext,
  likeness: Likeness,
): [string, string] {
  if (!rules.has('outer-space')) return [recorded, fresh];
  let [a, b] = [recorded.trimEnd(), fresh.trimEnd()];
  const isTrimmed = recorded.length - a.length !== fresh.length - b.length;
  // Leading whitespace is part of the text, unless all of it is gone.
  const isStripped = !/^\s/.test(a) && /^\s/.test(b);
  if (isStripped) b = b.trimStart();
  if (isTrimmed || isStripped) likeness.rules.add('outer-space');
  if (
    !isTrimmed &&
    recorded.slice(a.length) !== fresh.slice(b.length + (isStripped ? fresh.length - fresh.trimStart().length : 0))
  )
    likeness.rules.add('outer-space');
  return [a, b];
}
