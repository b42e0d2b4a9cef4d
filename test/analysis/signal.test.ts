import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ESTIMATORS } from '../../src/analysis/advantages/estimators.ts';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { compileQuery } from '../../src/analysis/query/query.ts';
import { fitAdvantages } from '../../src/analysis/signal/fit.ts';
import { lessonOf } from '../../src/analysis/signal/lesson.ts';
import { auditSignal, SIGNAL_CHECKS } from '../../src/analysis/signal/signal-audit.ts';
import { inGroups, type SignalRow, signalRow } from '../../src/analysis/signal/signal-row.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { parseLine } from '../../src/core/dump/parse-line.ts';
import { recorded } from '../engine/verl-truth.ts';
import { writeDump } from '../support/dump.ts';
import type { Recorded } from '../support/shared-data.ts';

/** A line of a verl dump to which somebody added values by token. */
interface Line {
  rewards?: (number | string)[] | undefined;
  mask: number[];
  uid?: string | undefined;
  output?: string;
  score?: number;
  [list: string]: unknown;
}

const rowsOf = (lines: readonly Line[]): SignalRow<number>[] =>
  inGroups(
    lines.map(({ rewards, mask, output = 'word', ...more }, at) => {
      const record = {
        input: 'user\nq\nassistant\n',
        output,
        step: 1,
        response_mask: mask,
        ...(rewards === undefined ? {} : { token_level_rewards: rewards }),
        ...more,
      };
      const { rollout } = parseLine(JSON.stringify(record), { validation: false });
      return signalRow(rollout!, at)!;
    }),
  );

const told = (lines: readonly Line[]) => auditSignal(rowsOf(lines)).findings;
const words = (lines: readonly Line[]) => told(lines).map(({ check }) => check);

describe('signal', () => {
  it('a reward on a masked token, with its place', () => {
    const [finding, ...more] = told([{ rewards: [0, 0, 1], mask: [1, 1, 0] }]);
    expect(finding).toMatchObject({ check: 'reward_masked', token: 2 });
    expect(more).toEqual([]);
    expect(words([{ rewards: [0, 1, 0], mask: [1, 1, 0] }])).toEqual([]);
  });

  it('a return that is reset at an observation', () => {
    const line = { rewards: [0, 0, 1], mask: [1, 0, 1], uid: 'p_0_0' };
    expect(told([{ ...line, returns: [0, 0.5, 1] }])[0]).toMatchObject({ check: 'reward_blocked', token: 0 });
    expect(words([{ ...line, returns: [0.5, 0, 1] }])).toEqual([]);
    // Its own reward is 0, and so is what follows.
    expect(words([{ ...line, rewards: [0, 0, 0], returns: [0, 0, 0] }])).toEqual([]);
  });

  it('a row that is not trained counts for its group, unless the advantages say that it did not', () => {
    const lines = [
      { rewards: [0, 1], mask: [0, 0], uid: 'p_0_0' },
      { rewards: [0, 0], mask: [1, 1], uid: 'p_1_0' },
      { rewards: [0, 0], mask: [1, 1], uid: 'p_2_0' },
      { rewards: [0, 1], mask: [1, 1], uid: 'p_3_0' },
    ];
    expect(words(lines)).toEqual(['baseline_untrained']);
    const withAdvantages = (values: number[]) =>
      lines.map((line, i) => ({ ...line, advantages: [values[i]!, values[i]!] }));
    expect(words(withAdvantages([0, -0.866, -0.866, 0.866]))).toEqual(['baseline_untrained']);
    // Those of the three that are trained.
    expect(words(withAdvantages([0, -0.57735, -0.57735, 1.1547]))).toEqual([]);
  });

  it('a session whose last output is not trained', () => {
    const lines = [
      { rewards: [0, 1], mask: [1, 1], uid: 'p_0_0' },
      { rewards: [0, 1], mask: [0, 0], uid: 'p_0_1' },
      { rewards: [0, 1], mask: [1, 1], uid: 'p_1_0' },
    ];
    expect(words(lines)).toContain('session_zeroed');
    expect(words([lines[0]!, { ...lines[1]!, mask: [1, 0] }, { ...lines[2]!, rewards: [0, 0] }])).toEqual([]);
  });

  it('rewards that do not sum to the score, NaN, equal rewards, a rollout written twice', () => {
    expect(words([{ rewards: [0, 1], mask: [1, 1], score: 0.5 }])).toEqual(['reward_sum']);
    const group = (scores: (number | string)[]) =>
      scores.map((score, i) => ({ rewards: [score], mask: [1], uid: `p_${i}_0` }));
    expect(words(group([1, 'NaN', 0]))).toEqual(['group_nan']);
    expect(words(group([1, 1]))).toEqual(['no_signal']);
    const withAdvantages = (score: number, advantage: number) =>
      group([score, score]).map((line) => ({ ...line, advantages: [advantage] }));
    expect(told(group([1, 1]))[0]?.message).toContain('with a baseline of the group');
    expect(told(withAdvantages(0, 0))[0]?.message).toContain(': the group teaches nothing');
    // A critic, or a baseline of the batch.
    expect(words(withAdvantages(0, -0.8))).toEqual([]);
    expect(words(withAdvantages(1, 1.1))).toEqual([]);
    // 0.7 less the mean of 0.7 in 32 bits, over 1e-6.
    expect(words(withAdvantages(0.7, 0.0596))).toEqual(['no_signal']);
    const copy = { mask: [1, 1, 1, 1], response_ids: [5, 6, 7, 8], rollout_log_probs: [-0.1, -0.2, -0.3, -0.4] };
    expect(
      words([
        { ...copy, rewards: [0, 0, 0, 1], uid: 'p_0_0' },
        { ...copy, rewards: [0, 0, 0, 0], uid: 'p_1_0' },
      ]),
    ).toEqual(['duplicate']);
  });

  it('where nothing by token is recorded nothing is said of it', () => {
    const { findings, observed } = auditSignal(
      rowsOf([
        { mask: [1, 0, 1], score: 1, uid: 'p_0_0' },
        { mask: [1, 0, 1], score: 0, uid: 'p_1_0' },
      ]),
    );
    expect(findings).toEqual([]);
    expect(observed).toEqual({ masks: 2, rewards: 0, advantages: 0, groups: 1 });
  });

  it('clean groups with spread say nothing', () => {
    const rollout = fc.record({
      turns: fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 4 })), {
        minLength: 1,
        maxLength: 4,
      }),
      score: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(rollout, { minLength: 2, maxLength: 6 }), (rollouts) => {
        fc.pre(rollouts.some(({ score }) => score !== rollouts[0]!.score));
        const lines = rollouts.map(({ turns, score }, i): Line => {
          const mask = turns.flatMap(([own, given], at) => [
            ...new Array<number>(own).fill(1),
            ...(at === turns.length - 1 ? [] : new Array<number>(given).fill(0)),
          ]);
          return { mask, rewards: mask.map((_, t) => (t === mask.length - 1 ? score : 0)), score, uid: `p_${i}_0` };
        });
        expect(told(lines)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  const cases = recorded('signal.jsonl');
  const checkOf = (finding: string) =>
    Object.entries(SIGNAL_CHECKS).find(([, { word }]) => word === finding)?.[0] ?? null;
  it.skipIf(cases.length === 0)("the recorded metrics of verl's threads (skipped without ../shared/data)", () => {
    const wrong = cases.flatMap(({ inputs, finding, title, verl }: Recorded) => {
      const rewards = inputs.token_level_rewards ?? (inputs.width ? [[0, 0, inputs.reward]] : undefined);
      const masks: number[][] = inputs.response_mask ?? [[0, 0, 0]];
      // Only what came of the rewards shows how they flowed; two trained tokens are whitened to the same advantages either way.
      const flow = finding === 'reward does not reach the turns before an observation' ? verl['2026-01-29'] : {};
      const lines = masks.map(
        (mask, i): Line => ({
          ...(flow.advantages ? { advantages: flow.advantages[i] } : {}),
          ...(flow.returns && masks.flat().filter((bit) => Number(bit) === 1).length === 2
            ? { returns: flow.returns[i] }
            : {}),
          mask: mask.map(Number),
          rewards: rewards?.[i],
          uid: inputs.keys?.[i] ?? inputs.uid?.[i],
          ...(finding === 'reward on padding' ? { output: '' } : {}),
          ...(inputs.old_log_probs
            ? { old_log_probs: inputs.old_log_probs[i], rollout_log_probs: inputs.rollout_log_probs[i] }
            : {}),
        }),
      );
      const found = words(lines);
      const isSilent = finding === 'none' || finding.startsWith('reference');
      const isRight = isSilent ? found.length === 0 : found.includes(checkOf(finding) as never);
      return isRight ? [] : [`${title}: ${finding}, reported ${found}`];
    });
    expect(wrong).toEqual([]);
  });

  it.skipIf(cases.length === 0)(
    'a return that is not reset, recorded, says nothing (skipped without ../shared/data)',
    () => {
      const flows = cases.filter(({ inputs }: Recorded) => inputs.estimator === 'reinforce_plus_plus');
      expect(flows.length).toBeGreaterThan(3);
      for (const { inputs, verl } of flows)
        for (const list of ['advantages', 'returns', 'none'])
          expect(
            words(
              inputs.response_mask.map((mask: number[], i: number) => ({
                mask: mask.map(Number),
                rewards: inputs.token_level_rewards[i],
                adv_estimator: inputs.estimator,
                [list]: verl['2026-08-22'][list]?.[i],
              })),
            ),
          ).toEqual([]);
    },
  );

  it('a clean step says nothing, whatever keys it lacks', () => {
    const keys = ['uid', 'rewards', 'advantages', 'returns', 'adv_estimator', 'score'] as const;
    const clean = Array.from({ length: 12 }, (_, i): Line => {
      const score = i % 4 === 0 ? 1 : 0;
      const mask = [1, 1, 0, 0, 1, 1];
      const advantage = score === 1 ? 1.5 : -0.5;
      return {
        input: `user\nquestion ${Math.floor(i / 4)}\nassistant\n`,
        mask,
        rewards: [0, 0, 0, 0, 0, score],
        advantages: mask.map((bit) => bit * advantage),
        returns: mask.map((bit) => bit * advantage),
        adv_estimator: 'grpo',
        score,
        uid: `p${Math.floor(i / 4)}_${i % 4}_0`,
      };
    });
    fc.assert(
      fc.property(fc.subarray([...keys]), (lacking) => {
        const lines = clean.map((line) => ({ ...line, ...Object.fromEntries(lacking.map((key) => [key, undefined])) }));
        expect(words(lines)).toEqual([]);
      }),
      { numRuns: 64 },
    );
  });

  it('rollouts that have a group each though groups were meant are an error, and one alone by design is not', () => {
    const line = (i: number, more: Partial<Line>): Line => ({
      input: `user\nquestion ${Math.floor(i / 4)}\nassistant\n`,
      mask: [1],
      rewards: [i % 2],
      uid: `own${i}_0_0`,
      ...more,
    });
    const lines = (more: (i: number) => Partial<Line> = () => ({})) =>
      Array.from({ length: 12 }, (_, i) => line(i, more(i)));
    expect(told(lines())).toMatchObject([
      { check: 'group_alone', severity: 'error', message: expect.stringContaining('12 rollouts are of 3 prompts') },
    ]);
    const apart = (i: number) => ({ input: `user\nquestion ${i}\nassistant\n` });
    expect(words(lines(apart))).toEqual([]);
    expect(words(lines((i) => ({ ...apart(i), adv_estimator: 'grpo' })))).toEqual(['group_alone']);
    expect(words(lines((i) => ({ ...apart(i), adv_estimator: 'gae' })))).toEqual([]);
    expect(words(lines((i) => ({ ...apart(i), advantages: [i % 2] })))).toEqual(['group_alone']);
    // Pictures may distinguish prompts of one text.
    expect(words(lines(() => ({ input: 'user\nwhat is this?\nassistant\n' })))).toEqual([]);
  });

  it('uids that no two rollouts share are reported where prompts came several times, unless the advantages are of prompts', () => {
    const lines = (advantage?: (i: number) => number) =>
      Array.from(
        { length: 12 },
        (_, i): Line => ({
          input: `user\nquestion ${Math.floor(i / 4)}\nassistant\n`,
          mask: [1],
          rewards: [i % 2],
          uid: `own-${i}`,
          ...(advantage ? { advantages: [advantage(i)] } : {}),
        }),
      );
    expect(told(lines())).toMatchObject([{ check: 'group_alone', severity: 'warning' }]);
    expect(told(lines((i) => i % 2))).toMatchObject([{ check: 'group_alone', severity: 'error' }]);
    expect(told(lines((i) => (i % 2 === 0 ? -0.8660239 : 0.8660239)))).toEqual([]);
  });

  it('PPO and REINFORCE++ with one rollout a prompt are known by their advantages', () => {
    const mask = [1, 1, 0, 1];
    const rewards = [1, 0, 0, 1, 0].map((score) => [0, 0, 0, score]);
    const masks = rewards.map(() => mask);
    const values = rewards.map((_, i) => [0.1 * i, 0.3, 0, 0.5 - 0.1 * i]);
    const batch = { rewards, masks, values, groups: rewards.map((_, i) => i) };
    for (const { name, advantages: judge } of ESTIMATORS) {
      if (!/^(?:gae|reinforce_plus_plus gamma)/.test(name)) continue;
      const advantages = judge(batch);
      const rows = rowsOf(
        rewards.map((own, i) => ({
          mask,
          rewards: own,
          advantages: advantages?.[i],
          values: values[i],
          uid: `p${i}_0_0`,
          input: `user\nquestion ${i}\nassistant\n`,
        })),
      );
      expect(fitAdvantages(rows)?.best).toContain(name);
      const checks = auditSignal(rows).findings.map(({ check }) => check);
      expect(new Set(checks)).toEqual(new Set(name.includes('reset') ? ['reward_blocked'] : []));
    }
  });

  const advantages = recorded('advantages.jsonl');
  it.skipIf(advantages.length === 0)(
    'the estimators that fit hold the true one (skipped without ../shared/data)',
    () => {
      const missing = advantages.flatMap(({ label, case: name, verl, ...batch }: Recorded) => {
        if (verl.raises !== undefined) return [];
        // A spread that 32 bits hold in their last digit alone distinguishes nothing.
        if (/differences of 1e-7/.test(name)) return [];
        const rows = rowsOf(
          batch.response_mask.map((mask: number[], i: number) => ({
            mask,
            rewards: batch.token_level_rewards[i],
            uid: `${batch.uid[i]}_${i}_0`,
            advantages: verl.advantages[i],
            ...(batch.values ? { values: batch.values[i] } : {}),
            ...(batch.reward_baselines ? { reward_baselines: batch.reward_baselines[i] } : {}),
          })),
        );
        const fit = fitAdvantages(rows);
        return [...(fit?.byGroup ?? [])].flatMap(([group, names]) =>
          names.has(label) ? [] : [`${label}: ${name}, ${group}: ${[...names]}`],
        );
      });
      expect(missing).toEqual([]);
    },
  );

  it('an estimator that is not known is unknown', () => {
    const rows = rowsOf(
      [1, 0, 0, 1].map((score, i) => ({ mask: [1], rewards: [score], advantages: [score * 7 + i], uid: `p_${i}_0` })),
    );
    expect(fitAdvantages(rows)).toMatchObject({ best: [], groups: 1 });
  });

  it('the row that does not fit is named', () => {
    const groups = ['a', 'b', 'c'].flatMap((group) => [1, 0].map((score, i) => ({ group, score, i })));
    const rows = rowsOf(
      groups.map(({ group, score, i }) => ({
        mask: [1],
        rewards: [score],
        advantages: [group === 'c' && i === 0 ? 5 : (score * 2 - 1) * Math.SQRT1_2],
        uid: `${group}_${i}_0`,
      })),
    );
    const { findings } = auditSignal(rows);
    expect(findings.map(({ check, rows: own }) => [check, own])).toEqual([['advantage_differs', [4]]]);
  });

  it('what a step taught: weight by advantage and trained tokens, the ratio of trainer to sampler', () => {
    const rows = rowsOf([
      {
        mask: [1, 1, 0],
        rewards: [0, 1, 0],
        advantages: [1, 1, 0],
        rollout_log_probs: [-1, -1, -9],
        old_log_probs: [-1, -2, 0],
        uid: 'p_0_0',
      },
      { mask: [1, 1, 1], rewards: [0, 0, 0], advantages: [0, 0, 0], uid: 'p_1_0' },
      { mask: [1, 1, 1], rewards: [0, 0, 0], advantages: [-2, -2, -2], uid: 'p_2_0' },
    ]);
    const { heaviest, zero, known, ratio, trainedBy, lossBy } = lessonOf(rows, null);
    expect([zero, known]).toEqual([1, 3]);
    expect(heaviest.map(({ row, share }) => [row, share])).toEqual([
      [2, 0.75],
      [0, 0.25],
    ]);
    expect(trainedBy.get('unknown') ?? trainedBy.get('assistant')).toBeGreaterThan(0);
    // The trained tokens of the first row cannot be attributed: its mask has more runs than it has turns.
    expect(Object.fromEntries(lossBy!.roles)).toEqual({ unknown: 0.25, assistant: 0.75 });
    expect(Object.fromEntries(lossBy!.contexts)).toEqual({ unknown: 0.25, main: 0.75 });
    expect(ratio!.tokens).toBe(2);
    expect(ratio!.mean).toBeCloseTo((1 + Math.exp(-1)) / 2);
    expect(ratio!.outside).toBe(0.5);
    // k3: r − 1 − ln r
    expect(ratio!.kl).toBeCloseTo((Math.exp(-1) - 1 + 1) / 2);
  });
});

it('a filter finds the rollouts of a finding about their whole step, and no other', async () => {
  const line = (prompt: string, score: number) => ({ input: `user\n${prompt}\nassistant\n`, output: 'So.', score });
  const run = writeDump({
    '1.jsonl': [line('a', 1), line('b', 1), line('a', 1), line('b', 0)].map((one) => JSON.stringify(one)),
  });
  const dump = Dump.open([run.dir]);
  try {
    const found = async (text: string) => {
      const rows = await readFactRows(dump, compileQuery(text));
      return Array.from({ length: rows.length }, (_, row) => rows.place(row).record);
    };
    expect(await found('finding:no_signal')).toEqual([0, 2]);
    expect(await found('!finding:no_signal && score == 1')).toEqual([1]);
    expect(await found('finding:no_signal && output ~ /So/ && sample > 1')).toEqual([2]);
    expect(await found('finding:group_alone')).toEqual([]);
  } finally {
    dump.close();
    run.remove();
  }
});
