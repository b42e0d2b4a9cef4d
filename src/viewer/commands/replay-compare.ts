import { printJson } from '../../core/json/print.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import {
  diffOf,
  type PlannedCall,
  type ReplayBackend,
  type ReplayOutcome,
  type ReplayTools,
  type Rules,
  replayMany,
} from '../../replay/index.ts';
import { diffLines } from '../present/replay-text.ts';
import { print, say } from './output.ts';

export interface TwoEnvironments {
  rollouts: AsyncIterable<readonly PlannedCall[]>;
  tools: ReplayTools;
  backends: readonly [ReplayBackend, ReplayBackend];
  repeat: number;
  rules: Rules;
  concurrency: number | undefined;
  signal: AbortSignal;
  json: boolean;
}

/**
 * Runs each call in two environments and reports what the second gives that the first does not. Nothing is kept. @returns the number of
 * calls, and of those that differ
 */
export async function compareEnvironments(options: TwoEnvironments): Promise<{ calls: number; different: number }> {
  const { rollouts, backends, json, ...common } = options;
  const firsts = new Map<PlannedCall, ReplayOutcome>();
  async function* asRecorded(): AsyncGenerator<readonly PlannedCall[]> {
    for await (const { plan, outcome } of replayMany({ ...common, backend: backends[0], rollouts })) {
      const { result } = outcome;
      const skip =
        plan.skip ?? (result === null ? `the first environment gave no result: ${outcome.reason ?? ''}` : null);
      const next = { ...plan, recorded: result, skip };
      firsts.set(next, outcome);
      yield [next];
    }
  }
  const packages = new Map<string, readonly [string, string]>();
  const tally = { calls: 0, different: 0 };
  for await (const { plan, outcome } of replayMany({ ...common, backend: backends[1], rollouts: asRecorded() })) {
    const first = firsts.get(plan) as ReplayOutcome;
    firsts.delete(plan);
    tally.calls++;
    if (outcome.status === 'drift') tally.different++;
    for (const [name, version] of Object.entries(first.environment?.packages ?? {})) {
      const now = outcome.environment?.packages[name];
      if (now !== undefined && now !== version) packages.set(name, [version, now]);
    }
    await print(json ? `${printJson(comparedJson(first, outcome))}\n` : comparedText(first, outcome));
  }
  const [a, b] = backends.map(({ interpreter }) => interpreter ?? 'unknown');
  const changed = [...packages].map(([name, [before, now]]) => `${name} ${before} → ${now}`);
  say(
    `Python ${a} → ${b}${changed.length === 0 ? '' : `, ${changed.join(', ')}`}: ${tally.different} of ${tally.calls} calls differ`,
  );
  return tally;
}

const verdictText = ({ environment, status, verdict, reason, result }: ReplayOutcome) => ({
  environment,
  status,
  verdict,
  reason,
  result,
});

const comparedJson = (first: ReplayOutcome, second: ReplayOutcome) => ({
  locator: second.locator,
  turn: second.turn,
  call: second.call,
  name: second.name,
  /** Against the record. */
  first: verdictText(first),
  /** Against the first. */
  second: verdictText(second),
  diff: diffOf(second),
});

function comparedText(first: ReplayOutcome, second: ReplayOutcome): string {
  const words = ({ status, verdict, reason }: ReplayOutcome) =>
    `${verdict ?? status}${reason === null ? '' : ` (${reason})`}`;
  const head = `${second.locator}#t${second.turn}  call ${second.call} ${second.name ?? '?'}: first ${words(first)}, second against it ${words(second)}`;
  const diff = second.status === 'drift' ? diffOf(second) : null;
  return `${[sanitiseLine(head), ...(diff === null ? [] : diffLines(diff).map((line) => `    ${line}`))].join('\n')}\n`;
}
