import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { Rewards } from '../rollout/rewards.ts';
import { type Rollout, type Turn, toolCallsOf } from '../rollout/rollout.ts';
import { numberOf } from './scalars.ts';

/**
 * Lays flat reward lists on turns: `tool_rewards` on the results of executed calls, `turn_scores` on the user turns of an
 * interaction, each only when there are exactly as many; any other list is kept whole as unaligned.
 */
export function layRewards(extras: JsonObject, rollout: Pick<Rollout, 'turns' | 'responseTurn' | 'score'>): Rewards {
  const { turns, responseTurn } = rollout;
  const response = turns.slice(responseTurn);
  const results = toolCallsOf(rollout as Rollout)
    .map((call) => turns[call.resultTurn ?? -1])
    .filter((turn): turn is Turn => turn !== undefined && turn.index >= responseTurn);
  const targets: [string, Turn[]][] = [
    ['tool_rewards', results],
    ['turn_scores', response.filter((turn) => turn.role === 'user')],
  ];
  const unaligned: Rewards['unaligned'] = [];
  for (const [field, owners] of targets) {
    const values = extras[field];
    if (!Array.isArray(values) || values.length === 0) continue;
    if (values.length !== owners.length || values.some((value) => !isReward(value))) {
      unaligned.push({ field, values });
      continue;
    }
    for (const [i, owner] of owners.entries()) owner.reward = numberOf(values[i]) ?? owner.reward;
  }
  const perTurn = turns.map((turn) => turn.reward);
  return {
    total: rollout.score,
    perTurn: perTurn.some((reward) => reward !== null) ? perTurn : null,
    returns: null,
    advantage: null,
    unaligned,
  };
}

const isReward = (value: JsonValue): boolean => value === null || (!isJsonObject(value) && numberOf(value) !== null);
