/** How the program uses the clock, judged from its text. Languages other than Python are recognised by their most common calls. */
export interface ClockUse {
  /** A reading reaches the output; one that only seeds a generator does not. */
  reads: boolean;
  /** The program also uses randomness, so not everything that changes is time. */
  hasChance: boolean;
  /** Names that hold a reading, or a value derived from one. */
  names: ReadonlySet<string>;
}

const CALL =
  /\b(?:now|today|utcnow|time|time_ns|perf_counter|perf_counter_ns|monotonic|monotonic_ns|process_time|thread_time|ctime|localtime|gmtime|asctime|strftime|hrtime|getTime|default_timer|timeit|currentTimeMillis|nanoTime|clock)\s*\(|%%?time\b|\$\(date|`date|(?:^|[;&|]\s*)(?:date|time)\b(?!\s*=)|Date\.now|new Date\(\)|performance\.now|\$SECONDS|cProfile|\bprofile\.run|pstats/m;
const SEED = /\b(?:seed|Random|RandomState|default_rng|SystemRandom|srand)\s*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)/g;
const CHANCE =
  /\b(?:random|secrets|urandom|uuid[14]|shuffle|randint|randrange|randn?|choices?|sample|default_rng|getrandbits|token_hex|SystemRandom)\b|Math\.random|\$RANDOM|\bshuf\b/;
/** The order of a set of texts, and their hashes, change with every run of Python. */
const HASHED = /\b(?:set|frozenset|hash)\s*\(|\{[^{}:\n]*['"][^{}:\n]*,[^{}:\n]*\}|\{[^{}:\n]+\bfor\b[^{}:\n]+\}/;

/** Whether two runs of a program may print different results, so that one match may be luck. */
export function mayWaver(code: string): boolean {
  const isSeeded = new RegExp(SEED.source).test(code);
  return HASHED.test(code) || (!isSeeded && CHANCE.test(code.replace(/^\s*(?:import|from)\b.*$/gm, '')));
}

/** Test runners time every run by themselves. */
const RUNNER = /\b(?:unittest|pytest|doctest)\b/;

const ASSIGNED = /^[ \t]*(?:(?:const|let|var)\s+)?([A-Za-z_]\w*)\s*(?::[^=\n]+)?[-+*/]?=(?!=)\s*(.+)$/gm;

export function clockUse(code: string | null): ClockUse {
  const none = { reads: false, hasChance: false, names: new Set<string>() };
  if (code === null) return none;
  const text = code.replace(SEED, 'seed()');
  const hasChance = CHANCE.test(text.replace(/^\s*(?:import|from)\b.*$/gm, ''));
  if (!CALL.test(text)) return { ...none, hasChance, reads: RUNNER.test(text) };
  const names = new Set<string>();
  const assigned = [...text.matchAll(ASSIGNED)];
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const [, name = '', value = ''] of assigned) if (isOfClock(value, names)) names.add(name);
  }
  // An unused reading does not reach the output.
  const rest = text.replace(ASSIGNED, (line, _name: string, value: string) => (isOfClock(value, names) ? '' : line));
  return { reads: isOfClock(rest, names), hasChance, names };
}

const WORDS = /[A-Za-z_]\w*/g;

/** An expression that reads a clock, or a name that holds a reading. */
export const isOfClock = (text: string, names: ReadonlySet<string>): boolean =>
  CALL.test(text) || (text.match(WORDS) ?? []).some((word) => names.has(word));

const UNITS: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
const UNIT =
  /^[ ]?(?:(ns|nanosec(?:ond)?s?)|(us|µs|usec|microsec(?:ond)?s?)|(ms|msec|millisec(?:ond)?s?)|(s|secs?|seconds?)|(mins?|minutes?)|(h|hours?))\b(?!\/)/;
const LABEL =
  /\b(?:elapsed|took|taken|times?|duration|runtime|seconds?|secs?|finished in|completed in|speed|latency|cost)\W{0,6}$/i;
const RATE = /^[ ]?[A-Za-z]{0,12}\/(?:s|sec|second)\b/;
const RUN_IN =
  /\b(?:Ran \d+ tests? in|(?:passed|failed|errors?|skipped|warnings?|calls|CPU|user|sys|real|total|wall)\b.{0,20}) ?$/i;

const secondsOf = (unit: string | undefined): number => UNITS[unit ?? ''] ?? Number.NaN;

/** The number in seconds, as far as the words beside it give a unit; null if nothing says that it is a time. */
export function durationAt(text: string, start: number, end: number): number | null {
  const before = text.slice(Math.max(0, start - 40), start);
  const after = text.slice(end, end + 16);
  const value = Number(text.slice(start, end));
  const unit = UNIT.exec(after);
  if (unit !== null) {
    return value * secondsOf(['ns', 'us', 'ms', 's', 'min', 'h'][unit.slice(1).findIndex((one) => one !== undefined)]);
  }
  if (!LABEL.test(before) && !RUN_IN.test(before)) return null;
  const word = /\((ns|us|µs|ms|s)\)\W{0,4}$/.exec(before)?.[1];
  return value * secondsOf(word ?? 's');
}

export const isRate = (text: string, end: number): boolean => RATE.test(text.slice(end, end + 20));

/** A duration cannot be longer than the run that measured it; the slack is for a loaded host. */
export const fitsRun = (seconds: number, run: number | null): boolean =>
  seconds >= 0 && seconds <= (run ?? 60) * 1.2 + 0.5;

const DAY = 86_400;

/** A reading of the wall clock as a number: seconds, milliseconds and so on since 1970. */
export function isEpochNear(value: number, now: number): boolean {
  return [1, 1e3, 1e6, 1e9].some((scale) => Math.abs(value / scale - now) < DAY);
}
export const isEpoch = (value: number): boolean =>
  [1, 1e3, 1e6, 1e9].some((scale) => value / scale > 1.2e9 && value / scale < 2.2e9);

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*';
const CLOCK_TIME = String.raw`\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AP]M)?`;
const ZONE = String.raw`(?:Z|[+-]\d\d:?\d\d| ?(?:UTC|GMT)[+-]?\d*)?`;
/** Dates and times of day as programs print them, the longest first. */
const STAMP = new RegExp(
  [
    String.raw`\d{4}[-/]\d\d[-/]\d\d(?:[T ]${CLOCK_TIME}${ZONE})?`,
    String.raw`\d\d?[-/.]\d\d?[-/.]\d{4}(?:[T ]${CLOCK_TIME})?`,
    `${WEEKDAY},? +(?:${MONTH} +\\d+|\\d+ +${MONTH}),?(?: +\\d{4})?(?: +${CLOCK_TIME})?${ZONE}(?: +\\d{4})?`,
    `(?:${MONTH} +\\d+|\\d+ +${MONTH}),?(?: +\\d{4})(?: +${CLOCK_TIME})?`,
    String.raw`\d{8}[T_-]?\d{6}`,
    String.raw`\d\d?:\d\d:\d\d(?:[.,]\d+)?`,
  ].join('|'),
  'y',
);

/** A date or a time of day at `start`; null if absent. */
export function stampAt(text: string, start: number): string | null {
  STAMP.lastIndex = start;
  return STAMP.exec(text)?.[0] ?? null;
}

/** Whether a date or time is that of the run, in the sandbox's zone or any other. @param now seconds since 1970 */
export function isStampNear(stamp: string, now: number): boolean {
  const compact = /^(\d{4})(\d\d)(\d\d)[T_-]?(\d\d)(\d\d)(\d\d)$/.exec(stamp);
  const time = /^(\d\d?):(\d\d):(\d\d)/.exec(stamp);
  if (time !== null) {
    const ofDay = Number(time[1]) * 3600 + Number(time[2]) * 60 + Number(time[3]);
    const away = Math.abs(ofDay - (now % DAY));
    // Time zones are whole quarters of an hour.
    const within = away % 900;
    return Math.min(within, 900 - within) < 120;
  }
  const text = compact === null ? stamp.replace(/,(\d+)$/, '.$1') : compact.slice(1, 4).join('-');
  const parsed = Date.parse(/\d{4}/.test(text) ? text : `${text} ${new Date(now * 1000).getUTCFullYear()}`);
  const [, day = '', month = '', year = ''] = /^(\d\d?)[-/.](\d\d?)[-/.](\d{4})/.exec(text) ?? [];
  const isNear = (ms: number): boolean => Math.abs(ms / 1000 - now) < 2 * DAY;
  // Some formats write the month first, some the day.
  return isNear(parsed) || isNear(Date.UTC(Number(year), Number(month) - 1, Number(day)));
}
