// Recorded scores of verl's reward managers: the naive one reads the whole response, the dapo one takes off what its length costs.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/value.ts';
import { collectRollouts, rewardRouter, type Task } from '../../src/engine/index.ts';
import { overlongBuffer, withOverlong } from '../../src/engine/rewards/index.ts';
import type { Recorded } from '../support/shared-data.ts';
import { fakeModel } from './fake-model.ts';
import { recorded } from './verl-truth.ts';

const cases = recorded('managers.jsonl');
const why = cases.length === 0 ? ' (skipped: no recorded truth here)' : '';

const number = (value: Recorded): number => (typeof value === 'object' ? value.tensor : Number(value));

async function scored({ response, data_source, ground_truth, reward_kwargs, valid_tokens, manager }: Recorded) {
  const text = response.map((piece: Recorded) => piece.text).join('');
  const { fn } = rewardRouter().for(data_source);
  const buffer = overlongBuffer(reward_kwargs.overlong_buffer_cfg, reward_kwargs.max_resp_len);
  const { reward, metadata } = await fn({ ground_truth } as never, text);
  if (manager !== 'dapo' || buffer === null) return { reward, metadata, penalty: null, score: reward };
  return { reward, metadata, ...withOverlong(reward, valid_tokens, buffer) };
}

describe(`verl's reward managers${why}`, () => {
  it
    .skipIf(cases.length === 0)
    .each(cases.length === 0 ? [['-', null]] : cases.map((one, at) => [`${at + 1} ${one.manager}`, one]))(
    '%s',
    async (_, one: Recorded) => {
      if (one.verl.raises) {
        // The same is refused, in words of this program.
        await expect(scored(one)).rejects.toThrow(
          one.verl.raises === 'NotImplementedError' ? `data_source '${one.data_source}'` : /^overlong_buffer: /,
        );
        return;
      }
      const { reward, metadata, penalty, score: ours } = await scored(one);
      const { score, acc, pred, overlong_reward, overlong } = one.verl.reward_extra_info;
      expect(ours).toBe(number(one.verl.reward_score));
      expect(reward).toBe(number(score ?? acc));
      if (pred !== undefined) expect(metadata).toMatchObject({ pred, acc });
      // verl reports the penalty if it is asked to log it.
      if (overlong_reward !== undefined) expect(penalty! + 0).toBe(number(overlong_reward) + 0);
      else if (one.reward_kwargs.overlong_buffer_cfg?.log === true) expect(penalty).toBeNull();
      if (overlong !== undefined) expect(penalty! < 0).toBe(number(overlong) === 1);
    },
  );
});

describe('a response that runs into its overlong buffer', () => {
  const task = { index: 0, key: 'k', messages: [{ role: 'user', content: '5?' }], groundTruth: '5' };
  const score = async (completionTokens: number | null) => {
    const { model } = fakeModel(() => ({ text: '#### 5', promptTokens: 12, completionTokens }));
    const rollouts = collectRollouts({
      tasks: [{ ...task, dataSource: 'gsm8k', extraInfo: {}, toolsKwargs: {} } as unknown as Task],
      model,
      rewards: rewardRouter(),
      overlong: overlongBuffer({ len: 20, penalty_factor: 0.5 }, 100),
    });
    for await (const { record } of rollouts) return record as JsonObject;
    throw new Error('no rollout');
  };

  it('costs a part of the score, which the line says', async () => {
    expect(await score(80)).toMatchObject({ score: 1, reward: { metadata: { overlong_reward: 0, overlong: false } } });
    expect(await score(90)).toMatchObject({ score: 0.75, reward: { metadata: { overlong_reward: -0.25 } } });
  });

  it('is counted in 32 bits, as a tensor is', () => {
    const buffer = overlongBuffer({ len: 20, penalty_factor: 0.3 }, 100)!;
    // Worked out with struct of Python: each step is rounded to 32 bits. Before the buffer begins the score is what it was.
    expect(withOverlong(0.1, 87, buffer).score).toBe(-0.005000002682209015);
    expect(withOverlong(0.1, 80, buffer).score).toBe(Math.fround(0.1));
    expect(withOverlong(0.1, 79, buffer)).toEqual({ score: 0.1, penalty: 0 });
  });

  it('has no score where nobody counts its tokens', async () => {
    expect(await score(null)).toMatchObject({ score: null, status: 'NOT_SCORED', cause: 'no_reward' });
  });

  it('is refused where its numbers mean nothing', () => {
    expect(() => overlongBuffer({ len: 0 }, 100)).toThrow('len must be a whole number');
    expect(() => overlongBuffer({ len: 5, penalty: 1 }, 100)).toThrow("unknown key 'penalty'");
    expect(overlongBuffer({ enable: false, len: 0 }, 100)).toBeNull();
  });
});
