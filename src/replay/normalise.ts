/** A difference that a second run may show without being another result. */
export interface Rule {
  name: string;
  about: string;
  /** @param code what the call runs; null for a tool that runs none */
  apply(text: string, code: string | null): string;
}

const CLOCK =
  /\b(?:now|today|utcnow|time|time_ns|perf_counter|perf_counter_ns|monotonic|process_time|ctime|localtime|gmtime|timeit|strftime|hrtime)\s*\(|%%?time|\$\(date|`date|^[ \t]*(?:date|time)\b|Date\.now|new Date\(/m;
const IDENTITY = /\b(?:id|hash|object_id|identityHashCode)\s*\(|\.object_id\b/;

const DATE_TIMES = [
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:[A-Z][a-z]{2} +\d+|\d+ +[A-Z][a-z]{2})(?: +\d{4})?(?: +\d\d:\d\d(?::\d\d)?)?(?: +[A-Z]{3,4})?(?: +\d{4})?/g,
  /\b\d\d?:\d\d:\d\d(?:\.\d+)?/g,
  /\b1[5-9]\d{8}(?:\.\d+)?\b/g,
];
const UNIT = '(?:s|secs?|seconds?|ms|milliseconds?|us|µs|microseconds?|ns|nanoseconds?|minutes?)';
const DURATION = new RegExp(`\\b\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)? ?${UNIT}\\b`, 'g');
const TIMED_LINE = /\b(?:elapsed|took|time|duration|seconds?|runtime|finished in|completed in)\b/i;
const FRACTION = /\b\d+\.\d+(?:e[+-]?\d+)?|\b\d+(?:\.\d+)?e-\d+/g;
/** Test runners time every run, whatever the code does. */
const RUNNERS = /\b(?:Ran \d+ tests? in|(?:passed|failed|errors?|skipped|warnings?) in) \d+(?:\.\d+)?s/g;

function times(text: string, code: string | null): string {
  const told = text.replace(RUNNERS, (match) => match.replace(/\d+(?:\.\d+)?s$/, '<time>'));
  // Dates and durations are often the answer itself; only code that reads a clock is let off.
  if (code === null || !CLOCK.test(code)) return told;
  let out = told;
  for (const pattern of DATE_TIMES) out = out.replace(pattern, '<time>');
  out = out.replace(DURATION, '<time>');
  return out
    .split('\n')
    .map((line) => (TIMED_LINE.test(line) ? line.replace(FRACTION, '<time>') : line))
    .join('\n');
}

const ELEMENT = String.raw`(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[^'"{}:,\n]+)`;
const SET = new RegExp(String.raw`\{(${ELEMENT}(?:, ${ELEMENT})+)\}`, 'g');
const ELEMENTS = new RegExp(ELEMENT, 'g');

/**
 * The rules in the order of their work. Each is shy: what may be the answer itself is left as it is. Texts are a model's, so every pattern
 * is linear in them: repetitions are bounded, or end at what they cannot hold.
 */
export const RULES: readonly Rule[] = [
  {
    name: 'temporary-paths',
    about: 'directories and files of one run: /tmp/tmpab12cd34/x.py, /var/folders/…',
    apply: (text) =>
      text
        .replace(/(?:\/[\w.-]{1,64}){0,8}\/tmp[A-Za-z0-9_]{6,10}(?:\/[\w.-]{1,64}){0,8}/g, '<path>')
        .replace(/\/var\/folders\/[\w.+/-]+/g, '<path>')
        .replace(/(?<![\w/])tmp[A-Za-z0-9_]{8}(?:\.\w+)?\b/g, '<path>'),
  },
  {
    name: 'times',
    about: 'dates, clock times and durations of code that reads a clock; how long tests took',
    apply: times,
  },
  {
    name: 'addresses',
    about: 'where an object lies in memory: <f at 0x7f3a…>',
    apply: (text) => text.replace(/\bat 0x[0-9a-fA-F]{4,16}\b/g, 'at <address>'),
  },
  {
    name: 'object-ids',
    about: 'random UUIDs; the numbers of id() and hash() in code that asks for them',
    apply: (text, code) => {
      const plain = text.replace(
        /\b[0-9a-f]{8}-[0-9a-f]{4}-[14][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/gi,
        '<id>',
      );
      return code !== null && IDENTITY.test(code) ? plain.replace(/-?\b(?:0x[0-9a-f]{6,}|\d{7,})\b/g, '<id>') : plain;
    },
  },
  {
    name: 'set-order',
    about: 'the order in which a set prints its elements: {1, 2}',
    apply: (text) =>
      text.replace(SET, (_match, inside: string) => {
        const elements = (inside.match(ELEMENTS) ?? []).map((element) => element.trim());
        return `{${elements.sort().join(', ')}}`;
      }),
  },
  {
    name: 'traceback-marks',
    about: 'the lines of ^ and ~ below a line of a traceback, which not every Python writes',
    apply: (text) => (/^[ \t]*File "/m.test(text) ? text.replace(/^[ \t]*[~^][ ~^]*(?:\n|$)/gm, '') : text),
  },
  {
    name: 'library-frames',
    about: "a traceback's way through the interpreter's own library, which is another one in another Python",
    apply: (text) =>
      text.replace(/^ {2}File "[^"\n]*\/(?:lib\/python[\d.]+|python\d+\.zip)\/[^\n]*\n(?: {4}[^\n]*\n)*/gm, ''),
  },
  {
    name: 'outer-space',
    about: 'spaces at the ends of lines, and blank ones around the text, which a chat template may take away',
    // Line by line: a pattern for spaces before a line's end is quadratic in a run of spaces.
    apply: (text) =>
      text
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n')
        .trim(),
  },
];

export const RULE_NAMES = RULES.map((rule) => rule.name);

export const normalise = (text: string, rules: readonly Rule[], code: string | null): string =>
  rules.reduce((out, rule) => rule.apply(out, code), text);

/** The rules without those of these names. @throws RangeError for a name that is none */
export function rulesWithout(names: readonly string[]): readonly Rule[] {
  const unknown = names.find((name) => !RULE_NAMES.includes(name));
  if (unknown !== undefined) throw new RangeError(`'${unknown}' is no rule; the rules are ${RULE_NAMES.join(', ')}`);
  return RULES.filter((rule) => !names.includes(rule.name));
}
