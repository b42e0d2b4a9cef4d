import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { ERROR_CHECKS } from '../../../core/rollout/checks.ts';
import type { Facts } from '../../../core/rollout/fact-row.ts';
import type { Finding } from '../../../core/rollout/finding.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { outcomeWord } from '../../present/replay/outcome-text.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import type { LandmarkName } from '../state/find.ts';
import type { State } from '../state/state.ts';

/** A turn that a key goes to; null for the whole record. */
export interface Landmark {
  turn: number | null;
  /** A description for the footer. */
  says: string;
  /** How many are in its turn; absent = one. */
  many?: number;
}

/** A kind of turn that keys step through. */
export interface LandmarkKind {
  /** `error` in 'error 1/3', 'no more errors'. */
  word: string;
  /** In turn order, at most one per turn. */
  landmarks(record: DumpRecord, state: State): readonly Landmark[];
  /** Whether a record has any; null if that requires a parse. */
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

export const LANDMARKS: Readonly<Record<LandmarkName, LandmarkKind>> = {
  error: {
    word: 'error',
    landmarks: findings('error'),
    has: ofFacts((facts) => facts.findings.some((check) => ERROR_CHECKS.includes(check))),
  },
  warning: {
    word: 'warning',
    landmarks: findings('warning'),
    has: ofFacts((facts) => facts.findings.some((check) => !ERROR_CHECKS.includes(check))),
  },
  call: {
    word: 'tool call',
    landmarks: ({ rollout }) =>
      onePerTurn(
        (rollout?.turns ?? []).flatMap((turn) =>
          turn.toolCalls.map(({ name }) => ({ turn: turn.index, says: name ?? 'a call without a name' })),
        ),
      ),
    has: ofFacts((facts) => Number(facts.value('tool_calls')) > 0),
  },
  reward: {
    word: 'reward',
    landmarks: ({ rollout }) =>
      (rollout?.turns ?? []).flatMap(({ index, reward }) =>
        reward === null ? [] : [{ turn: index, says: `${reward > 0 ? '+' : ''}${scoreText(reward)}` }],
      ),
    has: () => null,
  },
  drift: {
    word: 'drift',
    landmarks: (record, state) => drifts(record, state.replay.rollouts.get(record.locator)),
    has: ({ file, record }, state) => {
      const { words, rollouts } = state.replay;
      if (words.size === 0 && rollouts.size === 0) return false;
      const locator = file.locator(record);
      return DRIFTS.includes(words.get(locator) ?? '') || hasDrift(rollouts.get(locator));
    },
  },
};

function onePerTurn(landmarks: readonly Landmark[]): Landmark[] {
  const byTurn = new Map<number | null, Landmark>();
  for (const landmark of landmarks) {
    const first = byTurn.get(landmark.turn);
    if (first === undefined) byTurn.set(landmark.turn, { ...landmark });
    else first.many = (first.many ?? 1) + 1;
  }
  return [...byTurn.values()].sort((a, b) => (a.turn ?? -1) - (b.turn ?? -1));
}

const hasDrift = (replay: RolloutReplay | undefined): boolean =>
  replay !== undefined && [...replay.calls.values()].some(({ standing }) => standing?.status === 'drift');

/** If the list shows drift before the calls were looked up, the rollout counts as one landmark. */
function drifts({ rollout }: DumpRecord, replay: RolloutReplay | undefined): Landmark[] {
  const calls = (rollout?.turns ?? []).flatMap((turn) => turn.toolCalls.map((call) => ({ call, turn: turn.index })));
  const found = calls.flatMap(({ call, turn }) => {
    const standing = replay?.calls.get(call.index)?.standing;
    if (standing?.status !== 'drift') return [];
    return [{ turn: call.resultTurn ?? turn, says: outcomeWord(standing) }];
  });
  return onePerTurn(found);
}
