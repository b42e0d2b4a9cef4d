/** Names of the differences between two runs of a command that still count as the same result. */
export const WORLD_RULES = [
  'shell-lines',
  'times',
  'durations',
  'pids',
  'addresses',
  'temporary-names',
  'hashes',
  'chance',
  'set-order',
  'line-order',
  'disk-blocks',
  'link-counts',
  'view-layout',
  'tool-wording',
  'trace-depth',
] as const;
export type WorldRule = (typeof WORLD_RULES)[number];

interface TokenRule {
  name: WorldRule;
  /** A token of the new text, as a pattern without groups; the text in its place must match it too. */
  token: string;
  /** Whether it applies to a command. */
  applies: (command: string) => boolean;
  /** Whether the new token comes from this run; a date of last year does not. */
  isFresh?: (token: string, now: number) => boolean;
}

const always = () => true;
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const ASKS_CHANCE =
  /\brandom\b|\burandom\b|\buuid|\bsecrets\b|\$RANDOM|\$SRANDOM|\bshuf\b|\bmktemp\b|\btempfile\b|sort -R|\bhash\(|\bid\(/;
const IS_SEEDED = /\bseed\(|PYTHONHASHSEED=\d|--random-source/;
const ASKS_PID =
  /\$\$|\$!|\$PPID|\bBASHPID\b|getpid|getppid|\.pid\b|\bjobs -\w*[lp]|\bps\b|\bpgrep\b|\bpidof\b|\bpstree\b|\btop\b|\/proc\/self/;
/** A command that leaves another one running beside it. */
const RUNS_BESIDE = /(?<![&>])&(?![&>])|\bjobs\b|\bnohup\b|\bwait\b/;
const COUNTS = /\bwc\b|grep -\w*c|\buniq -c/;
const ASKS_CLOCK =
  /\bdate\b|\btime\b|\bls\b|\bstat\b|\buptime\b|\bgit\b|strftime|datetime|perf_counter|monotonic|\bwho\b|\blast\b|\bfind\b|-printf|\btar\b|\bunzip\b|http\.server|\.log\b|%T|%y|mtime/;

/** A timestamp from this run is close to the time of the run. */
function isNearNow(token: string, now: number): boolean {
  const text = token
    .replace(/\b(?:UTC|GMT)\b/, '')
    .replace(/(\d\d)\/(\w{3})\/(\d{4})[: ]/, '$1 $2 $3 ')
    .replace(',', '.')
    .trim();
  const withYear = /\d{4}/.test(text)
    ? text
    : `${text.replace(/\s+/g, ' ')} ${new Date(now).getUTCFullYear()}`.replace(
        /^(\w{3} \d+) (\d\d:\d\d(?::\d\d)?) (\d{4})$/,
        '$1 $3 $2',
      );
  const at = Date.parse(/[zZ]$|[+-]\d\d:?\d\d$/.test(withYear) ? withYear : `${withYear}Z`);
  const value = Number.isNaN(at) ? Date.parse(`${withYear} UTC`) : at;
  return Math.abs(value - now) < 3 * 86_400_000;
}

const RULES: readonly TokenRule[] = [
  { name: 'disk-blocks', token: '(?<=^total )\\d+$', applies: (command) => /\bls\b/.test(command) },
  {
    // File systems count the names of a folder in different ways.
    name: 'link-counts',
    token: '(?<=^ *(?:\\d+ +){0,2}d[rwxsStT-]{9}[.+@]? +)\\d+(?= )',
    applies: (command) => /\bls\b|\bll\b|\bfind\b.*-ls\b/.test(command),
  },
  {
    name: 'shell-lines',
    token: '(?<=^(?:/bin/|/usr/bin/)?(?:ba|da)?sh: (?:eval: |-c: )?line )\\d+(?=: )',
    applies: always,
  },
  {
    name: 'times',
    token: `${DAY} ${MONTH} +\\d{1,2} \\d\\d:\\d\\d:\\d\\d (?:(?:[A-Z]{3,4} )?\\d{4}(?: [+-]\\d{4})?)`,
    applies: always,
    isFresh: (token, now) =>
      isNearNow(
        token
          .replace(/^\w{3} /, '')
          .replace(/^(\w{3}) +(\d+) (\S+) (?:[A-Z]{3,4} )?(\d{4})(?: [+-]\d{4})?$/, '$1 $2 $4 $3'),
        now,
      ),
  },
  {
    name: 'times',
    token: '\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d+)?)?(?: ?[+-]\\d\\d:?\\d\\d|Z)?',
    applies: always,
    isFresh: (token, now) => isNearNow(token.replace(/ ([+-]\d\d)(\d\d)$/, '$1:$2'), now),
  },
  { name: 'times', token: `\\d\\d/${MONTH}/\\d{4}[: ]\\d\\d:\\d\\d:\\d\\d`, applies: always, isFresh: isNearNow },
  { name: 'times', token: `${MONTH} +\\d{1,2} \\d\\d:\\d\\d(?!:)`, applies: always, isFresh: isNearNow },
  {
    name: 'times',
    token: '\\b1[5-9]\\d{8}(?:\\.\\d+)?\\b',
    applies: always,
    isFresh: (token, now) => Math.abs(Number(token) * 1000 - now) < 3 * 86_400_000,
  },
  {
    name: 'times',
    token: '\\b1[5-9]\\d{8}(?:\\d{3}){1,3}\\b',
    applies: always,
    isFresh: (token, now) => Math.abs(Number(token.slice(0, 10)) * 1000 - now) < 3 * 86_400_000,
  },
  {
    name: 'times',
    token: '\\b\\d{4}-\\d\\d-\\d\\d\\b',
    applies: (command) => ASKS_CLOCK.test(command),
    isFresh: isNearNow,
  },
  {
    name: 'times',
    token: '\\b\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?\\b',
    applies: (command) => ASKS_CLOCK.test(command),
  },
  { name: 'durations', token: '(?<=\\bin )\\d+\\.\\d+(?= ?s(?:econds?)?\\b)', applies: always },
  { name: 'durations', token: '(?<=^(?:real|user|sys)\\s+)\\d+\\.\\d+$', applies: always },
  { name: 'durations', token: '\\b\\d+m\\d+\\.\\d+s\\b', applies: always },
  {
    name: 'durations',
    token: '\\b\\d+\\.\\d+(?:e-\\d+)?\\b',
    applies: (command) =>
      /perf_counter|monotonic|time\.time|process_time|timeit|\/usr\/bin\/time\b|%[eES]/.test(command),
  },
  { name: 'addresses', token: '(?<= at )0x[0-9a-f]{6,16}\\b', applies: always },
  { name: 'temporary-names', token: '\\btmp\\.[A-Za-z0-9]{6,12}\\b|\\btmp[a-z0-9_]{8}\\b', applies: always },
  {
    name: 'hashes',
    token: '\\b[0-9a-f]{7,40}\\b',
    applies: (command) => /\bgit\b/.test(command),
    isFresh: (token) => [7, 8, 9, 10, 40].includes(token.length) || /[a-f]/.test(token),
  },
  {
    name: 'pids',
    token: '(?<=^\\[\\d+\\][+-]? +)\\d+|(?<=line \\d+: +)\\d+(?= +[A-Z])|(?<=\\()\\d{2,7}(?=\\) - )',
    applies: always,
  },
  { name: 'pids', token: '\\b\\d{1,7}\\b', applies: (command) => ASKS_PID.test(command) && !COUNTS.test(command) },
  {
    name: 'chance',
    token: '\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b',
    applies: always,
    isFresh: always,
  },
  {
    name: 'chance',
    token: '-?\\b(?:[0-9a-f]{6,}|\\d+(?:\\.\\d+)?(?:e-?\\d+)?)\\b',
    applies: (command) => ASKS_CHANCE.test(command) && !IS_SEEDED.test(command),
  },
];

export type WorldVerdict = 'same' | 'normalised' | 'drift' | 'infra' | 'skipped' | 'unknown';

/** The result of comparing two texts; `rules` names what was tolerated. */
export interface WorldComparison {
  verdict: 'same' | 'normalised' | 'drift';
  rules: WorldRule[];
}

export interface CompareContext {
  /** The command, or the name of the tool. */
  command: string;
  /** ms since the epoch, of the new run. */
  now: number;
}

/** A recorded text against the new one. Trailing whitespace is ignored: agents strip it. */
export function compareTexts(recorded: string, fresh: string, context: CompareContext): WorldComparison {
  const [a, b] = [trimmed(recorded), trimmed(fresh)];
  if (a === b) return { verdict: 'same', rules: [] };
  const cut = readCut(recorded);
  if (cut !== null) return compareCut(cut, fresh, context);
  return compareLines(a.split('\n'), b.split('\n'), context);
}

/** A terminal writes its own line endings. */
const trimmed = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd();

function compareLines(a: readonly string[], b: readonly string[], context: CompareContext): WorldComparison {
  const rules = new Set<WorldRule>();
  const active = RULES.filter(({ applies }) => applies(context.command));
  const isLike = (one: string, other: string): boolean =>
    one === other || isSameLine(one, other, active, context.now, rules);
  if (a.length === b.length && a.every((line, i) => isLike(line, b[i] ?? '')))
    return { verdict: 'normalised', rules: [...rules] };
  // Our shell runs a command by `eval`, one level deeper than the agent's.
  const flat = b.map((line) => line.replace(/^\+(?=\++ )/, ''));
  if (
    a.length === flat.length &&
    flat.some((line, i) => line !== b[i]) &&
    a.every((line, i) => isLike(line, flat[i] ?? ''))
  )
    return { verdict: 'normalised', rules: [...rules, 'trace-depth'] };
  // Programs list a folder in on-disk order.
  if (
    /\bfind\b|grep -\w*[rR]|\brg\b|\bls -\w*U|os\.walk|listdir|iterdir|glob|\bdu\b|git (?:status|clean)/.test(
      context.command,
    ) &&
    !/\bsort\b|sorted\(/.test(context.command)
  ) {
    const [x, y] = [a.toSorted(), b.toSorted()];
    if (x.length === y.length && x.every((line, i) => isLike(line, y[i] ?? '')))
      return { verdict: 'normalised', rules: [...rules, 'line-order'] };
  }
  return { verdict: 'drift', rules: [] };
}

function isSameLine(
  recorded: string,
  fresh: string,
  rules: readonly TokenRule[],
  now: number,
  used: Set<WorldRule>,
): boolean {
  if (fresh.length > 20_000 || recorded.length > 20_000) return false;
  if (recorded.trimEnd() === fresh.trimEnd()) return true;
  const found: { start: number; end: number; rule: TokenRule }[] = [];
  for (const rule of rules)
    for (const { 0: token, index } of fresh.matchAll(new RegExp(rule.token, 'g'))) {
      const end = index + token.length;
      if (token === '' || found.some((one) => index < one.end && end > one.start)) continue;
      if (rule.isFresh?.(token, now) === false) continue;
      found.push({ start: index, end, rule });
    }
  found.sort((x, y) => x.start - y.start);
  let pattern = '';
  let at = 0;
  for (const { start, end, rule } of found) {
    // Columns shift with the width of their content.
    pattern += `${spacedPattern(fresh.slice(at, start))}(?:${rule.token})`;
    at = end;
  }
  pattern += spacedPattern(fresh.slice(at));
  if (found.length > 0 && new RegExp(`^${pattern}$`).test(recorded)) {
    for (const { rule } of found) used.add(rule.name);
    return true;
  }
  const [x, y] = [sortedSets(recorded), sortedSets(fresh)];
  if (x === y) {
    used.add('set-order');
    return true;
  }
  return false;
}

const spacedPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ +/g, ' +');

/** Sets of Python with their elements in order. */
const sortedSets = (line: string): string =>
  line.replace(/\{([^{}:]*,[^{}:]*)\}/g, (_, inside: string) => `{${inside.split(', ').sort().join(', ')}}`);

/** A recorded text whose middle an agent left out. `removed` in its unit; null if it does not say how much. */
interface CutText {
  head: string;
  tail: string;
  removed: number | null;
  unit: 'characters' | 'bytes' | 'lines';
}

const CUTS: readonly { pattern: RegExp; unit: CutText['unit'] }[] = [
  {
    pattern: /\n\[\.\.\. Command output truncated: removed (\d+) characters from the middle \.\.\.\]\n/,
    unit: 'characters',
  },
  { pattern: /\n\[\.\.\. output limited to \d+ bytes; (\d+) interior bytes omitted \.\.\.\]\n/, unit: 'bytes' },
  { pattern: /\n\n?\[\.\.\. omitted (\d+) of \d+ lines \.\.\.\]\n\n?/, unit: 'lines' },
  {
    pattern: /\n?<\/output_head>\s*<elided_chars>\s*(\d+) characters elided\s*<\/elided_chars>\s*<output_tail>\n?/,
    unit: 'characters',
  },
  { pattern: /\n?\.\.\. ?\[?(\d+) (?:characters|chars) (?:truncated|omitted)\]? ?\.\.\.\n?/, unit: 'characters' },
  { pattern: /\.\.\.\(truncated\)\.\.\.|\[…\]|\n?<response clipped>\n?/, unit: 'characters' },
];

function readCut(recorded: string): CutText | null {
  for (const { pattern, unit } of CUTS) {
    const match = pattern.exec(recorded);
    if (match === null) continue;
    const head = recorded
      .slice(0, match.index)
      .replace(/^Total output lines: \d+\n\n/, '')
      .replace(/^[\s\S]*<output_head>\n?/, '');
    const tail = recorded.slice(match.index + match[0].length).replace(/\n?<\/output_tail>[\s\S]*$/, '');
    return { head, tail, removed: match[1] === undefined ? null : Number(match[1]), unit };
  }
  return null;
}

/** Compares the ends of a truncated text with those of the new one, and its length if the record says how much is missing. */
function compareCut({ head, tail, removed, unit }: CutText, fresh: string, context: CompareContext): WorldComparison {
  const [start, end] = [trimmed(head), tail.trimEnd()];
  const whole = fresh.trimEnd();
  const sizeOf = (text: string) =>
    unit === 'bytes' ? Buffer.byteLength(text) : unit === 'lines' ? text.trimEnd().split('\n').length : text.length;
  // A newline at a boundary may belong to either side.
  const isLong = removed === null || Math.abs(sizeOf(fresh) - sizeOf(head) - sizeOf(tail) - removed) <= 4;
  if (isLong && whole.startsWith(start) && whole.endsWith(end)) return { verdict: 'same', rules: [] };
  if (!isLong) return { verdict: 'drift', rules: [] };
  const lines = whole.split('\n');
  const heads = start.split('\n').slice(0, -1);
  const tails = end.split('\n').slice(1);
  const first = compareLines(heads, lines.slice(0, heads.length), context);
  const last = compareLines(tails, tails.length === 0 ? [] : lines.slice(-tails.length), context);
  const isFit = first.verdict !== 'drift' && last.verdict !== 'drift' && heads.length + tails.length > 0;
  return isFit
    ? { verdict: 'normalised', rules: [...new Set([...first.rules, ...last.rules])] }
    : { verdict: 'drift', rules: [] };
}

/** Lines of both texts in any order. */
export function compareSets(recorded: string, fresh: string): WorldComparison {
  const sorted = (text: string) => text.trimEnd().split('\n').sort().join('\n');
  if (recorded.trimEnd() === fresh.trimEnd()) return { verdict: 'same', rules: [] };
  return sorted(recorded) === sorted(fresh)
    ? { verdict: 'normalised', rules: ['line-order'] }
    : { verdict: 'drift', rules: [] };
}

/** Whether a command asks for something random or time-dependent: its drift says nothing about the world. */
export const asksForChance = (command: string): boolean =>
  (ASKS_CHANCE.test(command) && !IS_SEEDED.test(command)) ||
  ASKS_PID.test(command) ||
  RUNS_BESIDE.test(command) ||
  /\bdate\b|\buptime\b|\bfree\b|\bdf\b|\bnproc\b|\/proc\/|\buname\b|perf_counter|time\.time|\bulimit\b|\blscpu\b|\bls -\w*i|\bstat\b.*%i|\bst_ino\b|\bhostname\b/.test(
    command,
  );
