import { itemAt } from '../../core/lists/at.ts';
import {
  type ClockUse,
  durationAt,
  fitsRun,
  isEpoch,
  isEpochNear,
  isOfClock,
  isRate,
  isStampNear,
  stampAt,
} from './clock.ts';
import type { RuleName, Rules } from './rules.ts';
import { readSet } from './sets.ts';

/** Facts about a run beside its text. */
export interface RunFacts {
  /** null for a tool that runs no code. */
  code: string | null;
  clock: ClockUse;
  /** Seconds that the run took; null if not measured. */
  seconds: number | null;
  /** When it ran: seconds since 1970. */
  now: number;
  /** The output lines of a second run of the same program; null if there was none. */
  again: readonly string[] | null;
}

/** A piece of a new line that need not match the recorded one. */
export interface Noise {
  start: number;
  end: number;
  rule: RuleName;
  /** The end of the matching token in a recorded line, which begins before `end`; -1 if absent. */
  read(text: string, start: number): number;
  readBack(text: string, end: number): number;
  /** A token that a cut goes through. */
  isPart(text: string): boolean;
}

const ADDRESS = /(?<= at )0x[0-9a-fA-F]{6,16}(?=[>,\s])/g;
const ADDRESS_TOKEN = /0x[0-9a-fA-F]{6,16}/y;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[14][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/gi;
const UUID_TOKEN = /[0-9a-f]{8}-[0-9a-f]{4}-[14][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/iy;
const NAME = '[\\w.+-]{1,64}';
const TEMPORARY = new RegExp(
  `(?:/private)?(?:/tmp|/var/tmp|/dev/shm|/var/folders/\\w+/\\w+/T)(?:/${NAME}){0,8}?/tmp[a-z0-9_]{8}(?:[.]\\w+)?(?:/${NAME}){0,8}|(?<![\\w./])tmp[a-z0-9_]{8}(?:[.]\\w+)?\\b`,
  'g',
);
const TEMPORARY_TOKEN = new RegExp(
  `(?:/${NAME}){0,8}/tmp[A-Za-z0-9_]{6,10}(?:[.]\\w+)?(?:/${NAME}){0,8}|tmp[A-Za-z0-9_]{8}(?:[.]\\w+)?`,
  'y',
);
const WARNED = /^(\S+?)(?=:\d+: \w*Warning: )/;
const WARNED_TOKEN = /\S+?(?=:\d+: \w*Warning: )/y;
const NUMBER = /(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;
const NUMBER_TOKEN = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/y;
const LARGE = /(?<![\w.])-?(?:0x[0-9a-f]{6,16}|\d{7,20})(?![\w.])/g;
const LARGE_TOKEN = /-?(?:0x[0-9a-f]{6,16}|\d{7,20})/y;
const STAMP_START = /(?<![\w.:])(?=\d|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/g;

const IDENTITY = /\b(?:id|hash|object_id|identityHashCode|get_ident|native_id)\s*\(|\.(?:object_id|ident)\b/;
const ASKS_UUID = /\buuid[14]?\b|randomUUID/;
const ASKS_TEMPORARY =
  /\btempfile\b|\bmkdtemp\b|\bmktemp\b|__file__|getcwd|\bPath\(|abspath|sys\.argv|sys\.path|\bpwd\b|\binspect\b/;
const LITERAL = /#.*|([rbfu]{0,2})("{3}[\s\S]*?"{3}|'{3}[\s\S]*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/gi;

/** A program that writes braces itself may mean literal text. Braces filled in by a format do not count. */
function writesBraces(code: string): boolean {
  for (const [, kind = '', text = ''] of code.matchAll(LITERAL)) {
    if (/f/i.test(kind) ? text.includes('{{') : text.replace(/\{[^{}\s,]*\}/g, '').includes('{')) return true;
  }
  return false;
}

/** The pieces of a new line that may differ, in order and not nested. */
export function noiseOf(line: string, index: number, facts: RunFacts, rules: Rules): Noise[] {
  const found: Noise[] = [];
  const add = (one: Noise) => {
    if (rules.has(one.rule) && !found.some(({ start, end }) => one.start < end && start < one.end)) found.push(one);
  };
  const warned = WARNED.exec(line);
  if (warned !== null) add(token(0, warned[0].length, 'tracebacks', WARNED_TOKEN, /\S/));
  // Printed text may mention addresses too; those of objects appear between angle brackets.
  if (line.includes('<'))
    for (const { 0: text, index: start } of line.matchAll(ADDRESS))
      if (line.lastIndexOf('<', start) > -1)
        add(token(start, start + text.length, 'addresses', ADDRESS_TOKEN, /[0-9a-fx]/i));
  const { code, clock } = facts;
  if (code === null) return found.sort((a, b) => a.start - b.start);
  if (ASKS_UUID.test(code))
    for (const { 0: text, index: start } of line.matchAll(UUID))
      add(token(start, start + text.length, 'object-ids', UUID_TOKEN, /[0-9a-f-]/i));
  for (const { 0: text, index: start } of line.matchAll(TEMPORARY)) {
    // A name that the program chose did not come from the system.
    const stem = /tmp[a-z0-9_]{8}/.exec(text)?.[0] ?? '';
    const isOwn = [stem.slice(0, 8), stem.slice(0, 7)].some((part) => code.includes(part));
    if (!isOwn && (text.startsWith('/') || ASKS_TEMPORARY.test(code)))
      add(token(start, start + text.length, 'temporary-paths', TEMPORARY_TOKEN, /[\w./+-]/));
  }
  if (line.includes('{') && !writesBraces(code)) sets(line, add);
  if (clock.reads) times(line, index, facts, add);
  if (IDENTITY.test(code)) {
    // If the program also uses randomness, only a number as long as an address is taken for one.
    for (const { 0: text, index: start } of line.matchAll(LARGE))
      if (!clock.hasChance || text.replace(/^-?(?:0x)?/, '').length >= (text.includes('x') ? 11 : 13))
        add(token(start, start + text.length, 'object-ids', LARGE_TOKEN, /[0-9a-fx-]/));
  }
  return found.sort((a, b) => a.start - b.start);
}

/** Longest token that is searched for backwards. */
const MAX_TOKEN = 600;

function token(
  start: number,
  end: number,
  rule: RuleName,
  pattern: RegExp,
  letter: RegExp,
  accepts: (text: string, at: number) => boolean = () => true,
): Noise {
  const read = (text: string, at: number): number => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    return match !== null && accepts(text, at) ? at + match[0].length : -1;
  };
  return {
    start,
    end,
    rule,
    read,
    readBack(text, to) {
      let from = to;
      while (from > 0 && to - from < MAX_TOKEN && letter.test(text[from - 1] ?? '')) from--;
      for (let at = from; at < to; at++) if (read(text, at) === to) return at;
      return -1;
    },
    isPart: (text) => text.length < MAX_TOKEN && [...text].every((c) => letter.test(c)),
  };
}

function sets(line: string, add: (noise: Noise) => void): void {
  for (let start = line.indexOf('{'); start !== -1; start = line.indexOf('{', start + 1)) {
    const set = readSet(line, start);
    // Numbers hash the same in every run: in a set of them, the order shows which Python it was, or that the set differs.
    if (set === null || !set.hasText) continue;
    const elements = set.key.slice(1, -1).split(', ');
    const read = (text: string, at: number): number => {
      const other = text[at] === '{' ? readSet(text, at) : null;
      return other !== null && other.key === set.key ? other.end : -1;
    };
    add({
      start,
      end: set.end,
      rule: 'set-order',
      read,
      readBack(text, to) {
        for (let at = text.lastIndexOf('{', to - 1), tries = 0; at !== -1 && tries < 50; tries++) {
          if (read(text, at) === to) return at;
          at = at === 0 ? -1 : text.lastIndexOf('{', at - 1);
        }
        return -1;
      },
      // The element that the cut goes through is left out.
      isPart: (text) => {
        const parts = text.replace(/^\{/, '').replace(/\}$/, '').split(', ');
        return parts.slice(1, -1).every((part) => elements.includes(part));
      },
    });
    start = set.end - 1;
  }
}

function times(line: string, index: number, facts: RunFacts, add: (noise: Noise) => void): void {
  const { clock, seconds, now, code, again } = facts;
  const moves = movedNumbers(line, again?.[index]);
  for (const { index: start } of line.matchAll(STAMP_START)) {
    const stamp = stampAt(line, start);
    if (stamp === null || !isStampNear(stamp, now)) continue;
    const letters = /[\w:.,/+ -]/;
    add({ ...token(start, start + stamp.length, 'times', /(?=[\s\S])/y, letters), ...stampToken });
  }
  const year = String(new Date(now * 1000).getUTCFullYear());
  for (const { 0: text, index: start } of line.matchAll(NUMBER)) {
    const end = start + text.length;
    const number = (accepts: (recorded: string, at: number) => boolean) =>
      add(token(start, end, 'times', NUMBER_TOKEN, /[\d.eE+-]/, accepts));
    const tokenOf = (recorded: string, at: number): string => {
      NUMBER_TOKEN.lastIndex = at;
      return NUMBER_TOKEN.exec(recorded)?.[0] ?? '';
    };
    const value = Number(text);
    if (isEpochNear(value, now)) number((recorded, at) => isEpoch(Number(tokenOf(recorded, at))));
    else if (text === year && /\.year\b|%Y/.test(code ?? ''))
      number((recorded, at) => /^20\d\d$/.test(tokenOf(recorded, at)));
    else if (isRate(line, end) && !clock.hasChance) number(() => true);
    else {
      const took = durationAt(line, start, end);
      const isDuration =
        took !== null && fitsRun(took, seconds) && (!clock.hasChance || isOfReading(line, start, facts));
      // Without randomness, a value that a second run changes came from the clock.
      const isMoved = !clock.hasChance && moves.has(start) && fitsRun(value * 1e-9, seconds);
      if (isDuration || isMoved)
        number((recorded, at) => {
          const other = tokenOf(recorded, at);
          return other.includes('.') === text.includes('.') || other.includes('e') || text.includes('e');
        });
    }
  }
}

const stampToken = {
  read(text: string, at: number): number {
    const stamp = stampAt(text, at);
    return stamp === null ? -1 : at + stamp.length;
  },
  readBack(text: string, to: number): number {
    for (let at = Math.max(0, to - 60); at < to; at++) {
      const stamp = stampAt(text, at);
      if (stamp !== null && at + stamp.length === to) return at;
    }
    return -1;
  },
};

/** Whether the program prints a clock reading after the words before a number. */
function isOfReading(line: string, start: number, { code, clock }: RunFacts): boolean {
  const words = /[^\d{}'"%]{1,14}$/.exec(line.slice(0, start))?.[0].trim() ?? '';
  if (words === '' || code === null) return false;
  for (let at = code.indexOf(words); at !== -1; at = code.indexOf(words, at + 1)) {
    const behind = code.slice(at + words.length, at + words.length + 80);
    const shown = /^[^{}\n]*?\{([^{}\n]*)\}/.exec(behind)?.[1] ?? /^[^\n]*?['"]\s*[,%+]\s*([^\n]*)/.exec(behind)?.[1];
    if (shown !== undefined && isOfClock(shown, clock.names)) return true;
  }
  return false;
}

/** The offsets of the numbers in a line that a second run changed. */
function movedNumbers(line: string, again: string | undefined): Set<number> {
  const moved = new Set<number>();
  if (again === undefined || again === line) return moved;
  const [mine, others] = [[...line.matchAll(NUMBER)], [...again.matchAll(NUMBER)]];
  if (mine.length !== others.length || line.replace(NUMBER, '0') !== again.replace(NUMBER, '0')) return moved;
  for (const [i, { 0: text, index }] of mine.entries()) if (text !== itemAt(others, i)[0]) moved.add(index);
  return moved;
}
