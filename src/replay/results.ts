import type { RunAgain } from '../analysis/query/again.ts';
import type { KeptLookup } from '../analysis/query/kept.ts';
import { changesOf, type Fingerprint, fingerprintOf } from '../core/json/fingerprint.ts';
import { ALL_RULES, RULE_NAMES } from './compare/rules.ts';
import { REPLAYS, type ReplayEntry } from './entries.ts';
import type { Journal } from './journal/journal.ts';
import { standingLabels } from './journal/labels.ts';
import { recordKey } from './journal/record-key.ts';
import { type Attempt, type ReplayOutcome, wordOf } from './outcome.ts';
import type { PlannedCall } from './plan.ts';
import type { ReplayOptions } from './replay-call.ts';

/** Characters of each text that the journal keeps; it is not meant to be a dump of outputs. */
const KEPT = 16_384;

/** The conditions of a verdict, apart from the call. */
export function howOf(
  plan: PlannedCall,
  { backend, tools, repeat = 1, rules = ALL_RULES }: Pick<ReplayOptions, 'backend' | 'tools' | 'repeat' | 'rules'>,
): Fingerprint {
  const runsCode = plan.code !== null && plan.tool?.url == null;
  return fingerprintOf({
    version: VERSION,
    backend: plan.tool?.url ?? plan.tool?.own?.runs ?? (plan.tool?.language === null ? 'built in' : backend.name),
    interpreter: runsCode ? (backend.interpreter ?? undefined) : undefined,
    packages: runsCode ? (backend.packages ?? undefined) : undefined,
    tool:
      plan.tool === null
        ? undefined
        : `${plan.tool.from} ${plan.tool.language ?? ''} ${plan.tool.form?.name ?? ''}`.trim(),
    'tool file': plan.tool?.from.startsWith('--tools') ? tools.fileHash : undefined,
    repeat: String(repeat),
    rules: rules.size === RULE_NAMES.length ? undefined : [...rules].join(' '),
    session: plan.predecessors !== null ? 'yes' : undefined,
    timeout: tools.timeout === undefined ? undefined : String(tools.timeout),
  });
}

/** Bumped when the way of judging changes, which invalidates older verdicts. */
const VERSION = '3';

/** Keeps a call's outcome. Outcomes of calls that did not run are not worth keeping. */
export function keepOutcome(journal: Journal, plan: PlannedCall, how: Fingerprint, outcome: ReplayOutcome): void {
  if (outcome.attempts.length === 0) return;
  const { recorded: _recorded, locator, result, ...rest } = outcome;
  journal.append(REPLAYS, {
    record: plan.record,
    locator,
    how,
    ...rest,
    result: result === null ? null : { ...result, text: shorten(result.text) },
    attempts: outcome.attempts.map(shortAttempt),
    outcomes: outcome.outcomes.map((one) => ({ ...one, result: shorten(one.result) })),
  });
}

const shorten = (text: string): string => (text.length > KEPT ? text.slice(0, KEPT) : text);

const shortAttempt = (attempt: Attempt): Attempt => ({
  ...attempt,
  result: shorten(attempt.result),
  stdout: attempt.stdout === null ? null : shorten(attempt.stdout),
  stderr: attempt.stderr === null ? null : shorten(attempt.stderr),
});

/** Every run of a call, oldest first, edited runs included. */
export function historyOf(journal: Journal, plan: PlannedCall): ReplayOutcome[] {
  return entriesOf(journal, plan).map((entry) => entryOutcome(entry, plan));
}

/** The last outcome of a call as recorded; null if it never ran. */
export function standingOutcome(journal: Journal, plan: PlannedCall): ReplayOutcome | null {
  const entry = entriesOf(journal, plan).findLast(({ edited }) => !edited);
  return entry === undefined ? null : entryOutcome(entry, plan);
}

/** An outcome reached in the same way, which need not be computed again; an `error` does not count. */
export function knownOutcome(journal: Journal, plan: PlannedCall, how: Fingerprint): ReplayOutcome | null {
  const entry = lastAnswer(journal, plan, (one) => changesOf(one.how, how).length === 0);
  return entry === undefined ? null : entryOutcome(entry, plan);
}

/** Why the last answer no longer holds, one entry per reason: `interpreter 3.11.2, was 3.8.18`. Empty: there is no answer. */
export function staleParts(journal: Journal, plan: PlannedCall, how: Fingerprint): string[] {
  const entry = lastAnswer(journal, plan, () => true);
  return entry === undefined ? [] : changesOf(entry.how, how);
}

const lastAnswer = (journal: Journal, plan: PlannedCall, holds: (entry: ReplayEntry) => boolean) =>
  entriesOf(journal, plan).findLast((one) => !one.edited && one.status !== 'error' && holds(one));

const entriesOf = (journal: Journal, { record, call }: PlannedCall): ReplayEntry[] =>
  journal.known(REPLAYS, record).filter((entry) => entry.call === call);

function entryOutcome(entry: ReplayEntry, plan: PlannedCall): ReplayOutcome {
  const { record: _record, at: _at, how: _how, arguments: args, ...rest } = entry;
  return {
    ...rest,
    result: rest.result as ReplayOutcome['result'],
    ...(args === undefined ? {} : { arguments: args }),
    locator: plan.locator,
    recorded: plan.recorded,
  };
}

/** Verdicts reported by others, the last of each: whether the call ever ran is unknown. */
export function reportedOf(journal: Journal, plan: PlannedCall): { by: string; outcome: ReplayOutcome }[] {
  const last = new Map<string, ReplayOutcome>();
  for (const { by, entry } of journal.reported(REPLAYS, plan.record))
    if (entry.call === plan.call && !entry.edited) last.set(by, entryOutcome(entry, plan));
  return [...last].map(([by, outcome]) => ({ by, outcome }));
}

const WORST = [
  'now_fails',
  'now_succeeds',
  'different',
  'flaky',
  'infra',
  'error',
  'unknown',
  'skipped',
  'normalised',
  'same',
];

/** One word for a rollout's row: the worst outcome among its calls. Empty if none ran. @param record its recordKey */
export function standingWord(journal: Journal, record: string): string {
  const words = new Map<number, string>();
  for (const entry of journal.known(REPLAYS, record)) if (!entry.edited) words.set(entry.call, wordOf(entry));
  return WORST.find((word) => [...words.values()].includes(word)) ?? '';
}

/** For filters: the last outcome of each call as recorded, and the labels. */
export const keptIn =
  (journals: readonly Journal[]): KeptLookup =>
  (raw) => {
    const record = recordKey(raw);
    const last = new Map<number, RunAgain>();
    for (const entry of journals.flatMap((journal) => journal.known(REPLAYS, record)))
      if (!entry.edited) last.set(entry.call, runAgain(entry));
    return { again: [...last.values()], labels: journals.flatMap((journal) => standingLabels(journal, record)) };
  };

const runAgain = ({
  status,
  verdict,
  call,
  turn,
  name,
  attempts,
  backend,
  environment,
  reason,
}: ReplayEntry): RunAgain => ({
  status,
  verdict,
  call,
  turn,
  tool: name,
  exit: attempts[0]?.exit_status ?? null,
  backend,
  python: environment?.python ?? null,
  reason,
});
