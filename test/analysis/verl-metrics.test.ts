// The results of verl's own functions on small tables, against those of a dump with the same rows.
import { describe, expect, test } from 'vitest';
import { type FactRows, readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { membersByNumber } from '../../src/analysis/facts/members.ts';
import { bootstrapPlaces } from '../../src/analysis/prompts/bootstrap.ts';
import { validationOf } from '../../src/analysis/prompts/validation.ts';
import { summarise } from '../../src/analysis/summary.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { recorded } from '../engine/verl-truth.ts';
import { writeDump } from '../support/dump.ts';
import type { Recorded } from '../support/shared-data.ts';

const cases = recorded('metrics.jsonl');
const ofKind = (kind: string): Recorded[] => cases.filter((one) => one.kind === kind);

async function factsOf<T>(records: readonly object[], use: (facts: FactRows) => T): Promise<T> {
  const { dir, remove } = writeDump({ '1.jsonl': records });
  const dump = Dump.open([dir]);
  try {
    return use(await readFactRows(dump, null));
  } finally {
    dump.close();
    remove();
  }
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

describe.skipIf(cases.length === 0)(
  'the metrics of verl (skipped where the recorded tables are not beside the checkout)',
  () => {
    // A row without a response is aborted to verl, and in none of its scores; a dump does not hold it.
    const steps = ofKind('compute_data_metrics').filter(({ verl }) => Number.isFinite(verl['critic/score/mean']));

    test('scores and lengths of a step', async () => {
      expect(steps.length).toBeGreaterThan(3);
      for (const { case: name, batch, verl } of steps) {
        const width = batch.response_width;
        const rows = batch.attention_mask.flatMap((mask: number[], i: number) => {
          const length = sum(mask.slice(-width));
          if (length === 0) return [];
          const score = sum(batch.token_level_scores[i]);
          const ids = Array.from({ length }, (_, at) => 100 + at);
          const response_mask = batch.response_mask[i].slice(0, length);
          return [{ input: `user\n${i}\nassistant\n`, output: 'so', response_ids: ids, response_mask, score, step: 1 }];
        });
        await factsOf(rows, (facts) => {
          const scores = [...facts.numbers('score')];
          const told = summarise(
            facts,
            scores.map((_, row) => row),
          );
          expect([name, told.mean]).toEqual([name, expect.closeTo(verl['critic/score/mean'], 6)]);
          expect([name, Math.max(...scores)]).toEqual([name, expect.closeTo(verl['critic/score/max'], 6)]);
          expect([name, Math.min(...scores)]).toEqual([name, expect.closeTo(verl['critic/score/min'], 6)]);
          const lengths = [...facts.numbers('tokens')];
          expect([name, told.facts.get('tokens')]).toEqual([
            name,
            expect.closeTo(verl['response_length_non_aborted/mean'], 6),
          ]);
          expect([name, Math.max(...lengths)]).toEqual([name, verl['response_length_non_aborted/max']]);
          expect([name, Math.min(...lengths)]).toEqual([name, verl['response_length_non_aborted/min']]);
        });
      }
    });

    test('mean@n and std@n of a validation', async () => {
      const tables = ofKind('process_validation_metrics').filter(
        ({ verl, infos_dict }) => verl.raises === undefined && infos_dict.reward.every(Number.isFinite),
      );
      expect(tables.length).toBeGreaterThan(3);
      for (const { case: name, data_sources, sample_uids, infos_dict, verl } of tables) {
        const records = infos_dict.reward.map((score: number, i: number) => ({
          input: `user\n${data_sources[i]} ${sample_uids[i]}\nassistant\n`,
          output: 'so',
          score,
          step: 1,
          data_source: data_sources[i],
        }));
        await factsOf(records, (facts) => {
          const members = membersByNumber(facts.groups);
          const groups = Array.from({ length: members.length }, (_, group) => members.of(group));
          for (const [source, wanted] of Object.entries<Recorded>(verl))
            for (const [metric, value] of Object.entries<number>(wanted.reward)) {
              const [, kind, n] = /^(mean|std)@(\d+)$/.exec(metric) ?? [];
              if (kind === undefined) continue;
              const own = groups.filter((rows) => rows.length === Number(n) && data_sources[rows[0]!] === source);
              const numbers = facts.numbers(kind === 'mean' ? 'group.mean' : 'group.std');
              // One prompt alone is no group: its mean is that of all, and stats shows its spread.
              if (own.length === 0 && kind === 'std') continue;
              const got = own.length > 0 ? mean(own.map((rows) => numbers[rows[0]!]!)) : mean(infos_dict.reward);
              expect([name, source, metric, got]).toEqual([name, source, metric, expect.closeTo(value, 9)]);
            }
        });
      }
    });

    test('bootstraps draw the places that numpy draws', () => {
      const drawn = ofKind('bootstrap_indices');
      expect(drawn.length).toBeGreaterThan(1);
      for (const { n, subset_size: size, first_rows } of drawn)
        expect([...bootstrapPlaces(n, size)].slice(0, first_rows.flat().length)).toEqual(first_rows.flat());
    });

    test('every figure of a validation, to the draw', async () => {
      let compared = 0;
      for (const { case: name, data_sources, sample_uids, infos_dict, verl } of ofKind('process_validation_metrics')) {
        const rewards: unknown[] = infos_dict.reward;
        const records = rewards.map((score, i) => ({
          input: `user\n${data_sources[i]} ${sample_uids[i]}\nassistant\n`,
          output: 'so',
          score,
          step: 1,
          data_source: data_sources[i],
        }));
        // One prompt alone is no group.
        const other = { input: 'user\nother\nassistant\n', output: 'so', score: 0, step: 1, data_source: 'other' };
        await factsOf([...records, other, other], (facts) => {
          const members = [...rewards.keys()];
          const { figures, unknown } = validationOf(facts, 'score', members);
          // verl gives NaN, or ends, without a score.
          if (!rewards.every(Number.isFinite)) return expect([name, unknown]).toEqual([name, 1]);
          expect([name, unknown]).toEqual([name, 0]);
          const told: Recorded = {};
          for (const { source, metric, value } of figures) {
            told[source!] ??= { reward: {} };
            told[source!].reward[metric] = expect.closeTo(value, 9);
            compared++;
          }
          expect([name, verl]).toEqual([name, told]);
        });
      }
      expect(compared).toBeGreaterThan(30);
    });
  },
);
