// Conversations that verl's own ToolAgentLoop held, held again by this engine under verlCompat.
import { describe, expect, it } from 'vitest';
import type { Recorded } from '../support/shared-data.ts';
import { familyTokenizer, marked, play } from './verl-play.ts';
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
        // verl's run raises: a name that is not configured is reported before any rollout here, see the tests of tasks.
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

/** Another family has other tokens for the same text: if they are counted, or a template adds a thought, the result differs. */
const isOfItsFamily = ({ scenario, config, apply_chat_template_kwargs: kwargs }: Recorded) =>
  config.response_length < 1024 ||
  config.prompt_length < 1024 ||
  kwargs.enable_thinking === false ||
  /without a token|would not give/.test(scenario);
const OTHER: Record<string, string> = { 'qwen2.5': 'qwen3', qwen3: 'qwen2.5' };
const swapped = played.filter((one) => !isOfItsFamily(one) && tokenizerFile(OTHER[one.family]!) !== null);

describe.each(['2026-01-29', '2026-08-22'] as const)(`verl of %s with the other family's tokens${why}`, (version) => {
  const of = swapped.filter(({ truth }) => truth[version] && !truth[version].raised);
  it
    .skipIf(of.length === 0)
    .each(of.length === 0 ? [['-', null]] : of.map((one) => [`${one.id} ${one.scenario}`, one]))(
    '%s',
    async (_, one: Recorded) => {
      const truth = one.truth[version];
      const [own, other] = [await familyTokenizer(one.family), await familyTokenizer(OTHER[one.family]!)];
      const server = one.server.map(({ ids }: Recorded) => {
        const text = own.decode(ids, false);
        const again = other.encode(text);
        return { text, ids: again, log_probs: again.map(() => -1) };
      });
      const { request, record } = await play({ ...one, family: OTHER[one.family], server }, version);
      expect(request.error).toBeNull();
      expect(marked(other, record.response_ids as number[], record.response_mask as number[])).toBe(
        marked(own, truth.response_ids, truth.response_mask),
      );
      expect(request.calls.flatMap(({ reward }) => (reward === null ? [] : [reward]))).toEqual(truth.tool_rewards);
      expect(request.turnScores.map(({ score }) => score)).toEqual(truth.turn_scores);
      expect(request.assistantTurns + request.userTurns + 1).toBe(truth.num_turns);
    },
  );
});
