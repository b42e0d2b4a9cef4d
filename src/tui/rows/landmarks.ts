import type { Place } from '../../dump/dump.ts';
import type { DumpRecord } from '../../dump/dump-file.ts';
import type { Facts } from '../../dump/line-index.ts';
import { scoreText } from '../../present/quantities.ts';
import { outcomeWord } from '../../present/replay/outcome-text.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import { ERROR_CHECKS, type Finding } from '../../rollout/finding.ts';
import type { State } from '../state/state.ts';

/** A turn that a key stops at; null for what is about the whole record. */
export interface Stop {
  turn: number | null;
  /** What is there, in words. */
  says: string;
}

/** What keys go from one to the next of. */
export interface StopKind {
  /** `error` in 'error 1/3', 'no more errors'. */
  word: string;
  /** In the order of turns, one a turn. */
  stops(record: DumpRecord, state: State): readonly Stop[];
  /** Whether a record has any; null where that takes a parse. */
  has(place: Place, state: State): boolean | null;
}

const ofFacts =
  (holds: (facts: Facts) => boolean) =>
  ({ file, record }: Place): boolean | null => {
    const facts = file.facts(record);
    return facts === undefined ? null : holds(facts);
  };

const findings = (severity: Finding['severity']) => (record: DumpRecord) =>
  onePerTurn(
    record.findings.filter((one) => one.severity === severity).map(({ turn, message }) => ({ turn, says: message })),
  );

const DRIFTS = ['different', 'now_fails', 'now_succeeds', 'flaky'];

export const STOPS = {
  error: {
    word: 'error',
    stops: findings('error'),
    has: ofFacts((facts) => facts.findings.some((check) => ERROR_CHECKS.includes(check))),
  },
  warning: {
    word: 'warning',
    stops: findings('warning'),
    has: ofFacts((facts) => facts.findings.some((check) => !ERROR_CHECKS.includes(check))),
  },
  call: {
    word: 'tool call',
    stops: ({ rollout }) =>
      onePerTurn(
        (rollout?.turns ?? []).flatMap((turn) =>
          turn.toolCalls.map(({ name }) => ({ turn: turn.index, says: name ?? 'a call without a name' })),
        ),
      ),
    has: ofFacts((facts) => facts.toolCalls > 0),
  },
  reward: {
    word: 'reward',
    stops: ({ rollout }) =>
      (rollout?.turns ?? []).flatMap(({ index, reward }) =>
        reward === null ? [] : [{ turn: index, says: `${reward > 0 ? '+' : ''}${scoreText(reward)}` }],
      ),
    has: () => null,
  },
  drift: {
    word: 'drift',
    stops: (record, state) => drifts(record, state.replay.rollouts.get(record.locator)),
    has: ({ file, record }, state) => {
      const { words, rollouts } = state.replay;
      if (words.size === 0 && rollouts.size === 0) return false;
      const locator = file.locator(record);
      return DRIFTS.includes(words.get(locator) ?? '') || hasDrift(rollouts.get(locator));
    },
  },
} as const satisfies Record<string, StopKind>;

export type StopName = keyof typeof STOPS;
export const stopKind = (name: StopName): StopKind => STOPS[name];

function onePerTurn(stops: readonly Stop[]): Stop[] {
  const byTurn = new Map<number | null, Stop>();
  for (const stop of stops) if (!byTurn.has(stop.turn)) byTurn.set(stop.turn, stop);
  return [...byTurn.values()].sort((a, b) => (a.turn ?? -1) - (b.turn ?? -1));
}

const hasDrift = (replay: RolloutReplay | undefined): boolean =>
  replay !== undefined && [...replay.calls.values()].some(({ standing }) => standing?.status === 'drift');

/** A rollout whose drift the list tells before its calls were looked up stops as a whole. */
function drifts({ rollout }: DumpRecord, replay: RolloutReplay | undefined): Stop[] {
  const calls = (rollout?.turns ?? []).flatMap((turn) => turn.toolCalls.map((call) => ({ call, turn: turn.index })));
  const found = calls.flatMap(({ call, turn }) => {
    const standing = replay?.calls.get(call.index)?.standing;
    if (standing?.status !== 'drift') return [];
    return [{ turn: call.resultTurn ?? turn, says: outcomeWord(standing) }];
  });
  return onePerTurn(found);
}
