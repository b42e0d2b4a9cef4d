import { Command } from 'commander';
import { type FactRows, readFactRows } from '../../analysis/facts/fact-rows.ts';
import { checkNamed } from '../../analysis/query/fields.ts';
import { readSignal } from '../../analysis/signal/read-signal.ts';
import {
  auditSignal,
  SIGNAL_CHECKS,
  SIGNAL_NAMES,
  type SignalCheck,
  type SignalFinding,
} from '../../analysis/signal/signal-audit.ts';
import { Dump } from '../../core/dump/dump.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import { itemAt, numberInAt } from '../../core/lists/at.ts';
import { CHECKS, type Check } from '../../core/rollout/checks.ts';
import { formatPercent, plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { textTable } from '../present/text-table.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { sayOfFiles } from './file-notes.ts';
import { xml } from './junit.ts';
import { ANSWER_IS_NO, DONE, print, run, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';
import { tokenizerOption } from './tokenizer-option.ts';

interface AuditOptions extends ReadingFlags {
  failOn: string[];
  allow: string;
  signal: boolean;
  json?: boolean;
  junit?: boolean;
  tokenizer?: string;
}

export const auditCommand = (): Command =>
  withReading(
    new Command('audit')
      .description(
        'for CI: count what each check finds, of the rollouts that it could check; exit 1 if a condition holds',
      )
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option(
        '--fail-on <expr>',
        'fail if a rollout matches this filter or signal was lost (signal, signal:error, signal:reward_masked); repeatable',
        (text: string, all: string[]) => [...all, text],
        [],
      )
      .option(
        '--allow <share>',
        'let this many match each condition: 3 rollouts, or 5% of those that could be checked',
        '0',
      )
      .option('--no-signal', 'skip the checks of the learning signal, which read every record')
      .option('--json', 'one JSON object per line: the checks, then the conditions')
      .option('--junit', 'as JUnit XML: a test for each condition')
      .addOption(tokenizerOption()),
  ).action((paths: string[], options: AuditOptions) => run(() => audit(paths, options)));

interface CheckRate {
  check: Check | SignalCheck;
  found: number;
  observed: number;
  unobserved: number;
  /** The share of the observed rollouts; null if there were none. */
  rate: number | null;
  first: string | null;
}

interface AuditOutcome {
  expression: string;
  matched: number;
  /** Rollouts in which every check that the expression names had something to look at. */
  observed: number;
  /** unobserved: it cannot be determined. */
  status: 'passed' | 'failed' | 'unobserved';
  locators: string[];
}

/** Locators listed for a failure. */
const NAMED = 10;

async function audit(
  paths: readonly string[],
  { failOn, allow, signal, json, junit, tokenizer, ...options }: AuditOptions,
): Promise<number> {
  const signalAsked = failOn.filter(isOfSignal);
  for (const text of signalAsked) if (!signal) throw new UsageError(`--fail-on ${text} does not go with --no-signal`);
  const queries = failOn
    .filter((text) => !isOfSignal(text))
    .map((text) => {
      const query = filterOf(text, '--fail-on');
      if (query === null) throw new UsageError('--fail-on: a condition is missing, such as finding:tool_error');
      return query;
    });
  const mayMatch = allowance(allow);
  const dump = Dump.open(paths, await dumpOptions(options, tokenizer));
  for (const notice of dump.notices) say(notice);
  const outcomes: AuditOutcome[] = [];
  let all: FactRows;
  let rates: CheckRate[];
  try {
    all = await readFactRows(dump, null);
    rates = CHECKS.map((check) => rateOf(all, check));
    if (signal) {
      const lost = await lostSignal(dump);
      rates.push(...SIGNAL_NAMES.map((check) => signalRate(lost, check)));
      for (const text of signalAsked) outcomes.push(signalOutcome(lost, text, mayMatch));
    }
    for (const query of queries) {
      const rows = await readFactRows(dump, query);
      const observed = observedBy(all, query.text);
      const isOver = rows.length > mayMatch(observed);
      outcomes.push({
        expression: query.text,
        matched: rows.length,
        observed,
        status: isOver ? 'failed' : observed === 0 ? 'unobserved' : 'passed',
        locators: Array.from({ length: Math.min(NAMED, rows.length) }, (_, row) => locatorOf(rows, row)),
      });
    }
    sayOfFiles(dump.files, all.length === 0);
  } finally {
    dump.close();
  }
  if (all.length === 0) {
    say('no rollouts');
    return dump.hasRefused || dump.files.every(({ state }) => state === 'failed') ? USAGE : ANSWER_IS_NO;
  }
  if (junit) await print(junitOf(outcomes));
  else if (json) for (const line of auditJson(rates, outcomes)) await print(`${printJson(line)}\n`);
  else for (const line of auditTable(rates, outcomes)) await print(`${line}\n`);
  return outcomes.some(({ status }) => status === 'failed') ? ANSWER_IS_NO : DONE;
}

interface LostSignal {
  findings: { check: SignalCheck; severity: SignalFinding['severity']; locator: string }[];
  /** How many rows, or groups, each check could look at, and how many it could not. */
  observed: Record<SignalCheck, number>;
  unobserved: Record<SignalCheck, number>;
  rows: number;
}

/** `signal` is any of these checks except `no_signal`, which is ordinary; `signal:error` the certain ones, `signal:NAME` one of them. */
const isOfSignal = (text: string): boolean => /^\s*signal\s*(?::|$)/.test(text);

/** The findings that need all rows of a step together. */
async function lostSignal(dump: Dump): Promise<LostSignal> {
  const none = () => Object.fromEntries(SIGNAL_NAMES.map((name) => [name, 0])) as Record<SignalCheck, number>;
  const lost: LostSignal = { findings: [], observed: none(), unobserved: none(), rows: 0 };
  for await (const { rows } of readSignal(dump, null)) {
    const { findings, observed, unobserved } = auditSignal(rows);
    lost.rows += rows.length;
    for (const name of SIGNAL_NAMES) {
      lost.observed[name] += observed[SIGNAL_CHECKS[name].of];
      lost.unobserved[name] += unobserved[SIGNAL_CHECKS[name].of];
    }
    for (const { check, severity, rows: own, turn } of findings) {
      const { file, record } = itemAt(rows, numberInAt(own, 0)).at;
      lost.findings.push({ check, severity, locator: `${file.locator(record)}${turn === null ? '' : `#t${turn}`}` });
    }
  }
  return lost;
}

function signalRate({ findings, observed, unobserved }: LostSignal, check: SignalCheck): CheckRate {
  const own = findings.filter((finding) => finding.check === check);
  const seen = observed[check];
  return {
    check,
    found: own.length,
    observed: seen,
    unobserved: unobserved[check],
    rate: seen === 0 ? null : own.length / seen,
    first: own[0]?.locator ?? null,
  };
}

/** @throws UsageError for an unknown check */
function signalOutcome(lost: LostSignal, text: string, mayMatch: (observed: number) => number): AuditOutcome {
  const [, name = ''] = /^\s*signal\s*(?::\s*(\w+))?\s*$/.exec(text) ?? [];
  const check = SIGNAL_NAMES.find((one) => one === name);
  const isError = name === 'error';
  if (check === undefined && !isError && (name !== '' || text.includes(':')))
    throw new UsageError(`--fail-on ${text}: expected signal, or signal: and one of error, ${SIGNAL_NAMES.join(', ')}`);
  const own = lost.findings.filter((finding) => {
    if (check !== undefined) return finding.check === check;
    return isError ? finding.severity === 'error' : finding.check !== 'no_signal';
  });
  const observed = check === undefined ? lost.rows : lost.observed[check];
  return {
    expression: text.trim(),
    matched: own.length,
    observed,
    status: own.length > mayMatch(observed) ? 'failed' : observed === 0 ? 'unobserved' : 'passed',
    locators: own.slice(0, NAMED).map(({ locator }) => locator),
  };
}

const locatorOf = (rows: FactRows, row: number): string => {
  const { file, record } = rows.place(row);
  return file.locator(record);
};

/** How many of the observable rollouts may match. @throws UsageError */
function allowance(text: string): (observed: number) => number {
  const given = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim());
  if (given === null) throw new UsageError('--allow: expected a number of rollouts, or a share such as 5%');
  const value = Number(given[1]);
  return given[2] === '%' ? (observed) => (observed * value) / 100 : () => value;
}

function rateOf(all: FactRows, check: Check): CheckRate {
  let found = 0;
  let observed = 0;
  let first: string | null = null;
  for (let row = 0; row < all.length; row++) {
    if (all.isObserved(row, check)) observed++;
    if (!all.has(row, check)) continue;
    found++;
    first ??= locatorOf(all, row);
  }
  return {
    check,
    found,
    observed,
    unobserved: all.length - observed,
    rate: observed === 0 ? null : found / observed,
    first,
  };
}

function observedBy(all: FactRows, expression: string): number {
  const checks = [...expression.matchAll(/\bfinding\s*:\s*(\w+)/g)].flatMap(([, name]) => checkNamed(name!) ?? []);
  let observed = 0;
  for (let row = 0; row < all.length; row++) if (checks.every((check) => all.isObserved(row, check))) observed++;
  return observed;
}

const auditJson = (rates: readonly CheckRate[], outcomes: readonly AuditOutcome[]) => [
  ...rates.map((rate) => ({ ...rate })),
  ...outcomes.map(({ expression, ...rest }) => ({ fail_on: expression, ...rest })),
];

function auditTable(rates: readonly CheckRate[], outcomes: readonly AuditOutcome[]): string[] {
  const seen = rates.filter(({ observed }) => observed > 0);
  const body = seen.map(({ check, found, observed, unobserved, rate, first }) => [
    check,
    String(found),
    String(observed),
    String(unobserved),
    formatPercent(rate!),
    first ?? '',
  ]);
  const blind = rates.filter(({ observed }) => observed === 0).map(({ check }) => check);
  return [
    ...textTable(
      [['check', 'found', 'checked', 'skipped', 'rate', 'first'], ...body],
      (column) => column > 0 && column < 5,
    ),
    ...(blind.length === 0 ? [] : ['', `skipped in every rollout: ${blind.join(', ')}`]),
    ...(outcomes.length === 0 ? [] : ['']),
    ...outcomes.flatMap((outcome) => [
      `${STATUS_WORD[outcome.status]}  ${sanitiseLine(outcome.expression)}: ${saysOf(outcome)}`,
      ...(outcome.status === 'failed' ? outcome.locators.map((locator) => `  ${sanitiseLine(locator)}`) : []),
    ]),
  ];
}

const STATUS_WORD = { passed: 'passed', failed: 'failed', unobserved: 'skipped' } as const;

const saysOf = ({ matched, observed }: AuditOutcome): string =>
  observed === 0 && matched === 0 ? 'no rollout has what it checks' : `${matched} of ${plural(observed, 'rollout')}`;

const junitOf = (outcomes: readonly AuditOutcome[]): string => {
  const count = (status: AuditOutcome['status']): number => outcomes.filter((one) => one.status === status).length;
  const cases = outcomes.map((outcome) => {
    const inner =
      outcome.status === 'failed'
        ? `<failure message="${xml(saysOf(outcome))}">${xml(outcome.locators.join('\n'))}</failure>`
        : outcome.status === 'unobserved'
          ? `<skipped message="${xml(saysOf(outcome))}"/>`
          : '';
    return `  <testcase classname="rollout-viewer.audit" name="${xml(outcome.expression)}">${inner}</testcase>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="rollout-viewer audit" tests="${outcomes.length}" failures="${count('failed')}" skipped="${count('unobserved')}">
${cases.join('')}</testsuite>
`;
};
