// Conversations that verl's own ToolAgentLoop held, held again by this engine under verlCompat.
import { describe, expect, it } from 'vitest';
import type { Recorded } from '../support/shared-data.ts';
import { play } from './verl-play.ts';
import { recorded, tokenizerFile } from './verl-truth.ts';

const cases = [...recorded('loop.jsonl'), ...recorded('interactions.jsonl')];
const played = cases.filter(({ family }) => tokenizerFile(family) !== null);
const why =
  cases.length === 0
    ? ' (skipped: no recorded truth here)'
    : played.length === 0
      ? ' (skipped: npm ci in bench/ brings the tokenizers)'
      : '';

describe.each(['2026-01-29', '2026-08-22'] as const)(`verl of %s${why}`, (version) => {
  const of = played.filter(({ truth }) => truth[version]);
  it
    .skipIf(of.length === 0)
    .each(of.length === 0 ? [['-', null]] : of.map((one) => [`${one.id} ${one.scenario}`, one]))(
    '%s',
    async (_, one: Recorded) => {
      const truth = one.truth[version];
      if (truth.raised) {
        // verl's run raises: a name that is not configured is told before any rollout here, see the tests of tasks.
        return;
      }
      const { request, record, log, asked, trail } = await play(one, version);
      expect(request.error).toBeNull();
      expect(request.shownSchemas).toEqual(truth.tool_schemas_in_prompt);
      expect(record.prompt_ids).toEqual(truth.prompt_ids);
      expect(record.response_ids).toEqual(truth.response_ids);
      expect(record.response_mask).toEqual(truth.response_mask);
      expect(record.rollout_log_probs ?? null).toEqual(truth.response_logprobs);
      expect(asked).toEqual(truth.asked_with_tokens);
      expect(trail).toEqual(truth.trail.map(({ calls, ...rest }: Recorded) => rest));
      // Parallel calls run at once here, and one behind the other where the recorder's tools never wait.
      for (const step of ['create', 'execute', 'release'])
        expect(log.filter((entry) => entry.do === step)).toEqual(
          truth.tool_log.filter((entry: Recorded) => entry.do === step),
        );
      expect(request.calls.flatMap(({ reward }) => (reward === null ? [] : [reward]))).toEqual(truth.tool_rewards);
      expect(request.turnScores.map(({ score }) => score)).toEqual(truth.turn_scores);
      expect(request.assistantTurns + request.userTurns + 1).toBe(truth.num_turns);
      const { acc, step, ...line } = JSON.parse(truth.dump_line);
      expect(record).toMatchObject(line);
    },
  );
});
