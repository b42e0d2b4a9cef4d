import { printJson } from '../json/print.ts';
import { type JsonObject, listIn, objectIn } from '../json/value.ts';
import type { Context } from '../rollout/rollout.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { joinCalls, type SampledTokens } from './token-lists.ts';
import { idOf, idsOf, namedNumbers, numberOf, numbersOf, objectsOf } from './values.ts';

/** rLLM's episode (`rllm/utils/episode_logger.py`, `rllm/eval/episode_store.py`): a trajectory for each agent. */
export const rllmEpisode: Format = {
  name: 'rllm-episode',
  isStepless: true,
  basis: 'files',
  mapping: { rollouts: 'trajectories[]' },
  detects: (record) =>
    Array.isArray(record.trajectories) && (record.episode_id !== undefined || record.termination_reason !== undefined),
  split(record) {
    const { trajectories, ...episode } = record;
    return objectsOf(trajectories).map((one) => ({ ...one, rllm_episode: episode }));
  },
  read: (record, context) => rllm.read({ ...record, steps: [] }, context),
};

/**
 * One trajectory of rLLM. Each step repeats the history that the model saw; a step whose history does not extend the
 * previous one is another context.
 */
export const rllm: Format = messageFormat({
  name: 'rllm',
  isStepless: true,
  basis: 'files',
  mapping: {
    turns: 'steps[].chat_completions, each message once',
    score: 'reward',
    'reward of a turn': 'steps[].reward',
    returns: 'steps[].mc_return',
    tokens: 'steps[].prompt_ids and response_ids',
    step: 'training_step of the episode',
    group: 'the task of the episode',
  },
  detects: (record) => Array.isArray(record.steps) && record.rllm_episode !== undefined,
  find(record) {
    const episode = objectIn(record.rllm_episode);
    const steps = objectsOf(record.steps);
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [];
    const returns: (number | null)[] = [];
    let history: string[] = [];
    let first = 0;
    let calls: SampledTokens[] = [];
    const close = () => {
      const tokens = joinCalls(calls);
      const last = contexts.at(-1);
      if (tokens !== null && last !== undefined) last.tokens = tokens;
      calls = [];
    };
    for (const [at, step] of steps.entries()) {
      const list = stepHistory(step);
      const keys = list.map((message) => printJson([message.role ?? null, message.content ?? null]));
      const shared = sharedHead(history, keys);
      if (at === 0 || shared < history.length) {
        close();
        contexts.push({
          kind: at === 0 ? 'main' : 'compaction',
          name: null,
          after: shared > 0 ? first + shared - 1 : null,
        });
        if (at > 0) first = messages.length - shared;
      }
      for (let i = shared; i < list.length; i++) {
        const isReply = i === list.length - 1 && list[i]?.role === 'assistant';
        const message = chatMessage(objectIn(list[i]), `/steps/${at}/chat_completions/${i}`);
        const place = contexts.length - 1;
        messages.push({
          ...(isReply ? { ...message, reward: numberOf(step.reward) } : given(message)),
          context: place,
        });
        returns.push(isReply ? numberOf(step.mc_return) : null);
      }
      history = keys;
      const prompt = idsOf(step.prompt_ids);
      const sampled = idsOf(step.response_ids);
      if (prompt !== null && sampled !== null)
        calls.push({
          prompt,
          sampled,
          mask: null,
          logprobs: numbersOf(step.logprobs),
          version: numberOf(step.weight_version),
        });
    }
    close();
    const task = objectIn(episode.task);
    const versions = steps.map((step) => step.weight_version).filter((one) => one !== undefined && one !== null);
    return {
      known: new Set(['steps', 'reward', 'rllm_episode', 'uid', 'task']),
      messages,
      hasCallsApart: true,
      contexts,
      score: numberOf(record.reward),
      named: namedNumbers(record.signals),
      step: numberOf(episode.training_step),
      uid: idOf(record.uid),
      group: idOf(episode.task_hash) ?? idOf(episode.episode_id ?? episode.id)?.replace(/:\d+$/, '') ?? null,
      status: idOf(episode.termination_reason),
      groundTruth: task.answer ?? task.ground_truth,
      tokens: contexts[0]?.tokens ?? null,
      returns,
      advantage: numberOf(steps.at(-1)?.advantage),
      extras: {
        episode: objectIn(Object.fromEntries(Object.entries(episode).filter(([key]) => key !== 'task'))),
        ...(episode.task === undefined ? {} : { task: episode.task }),
        ...(versions.length > 0 ? { weight_versions: listIn(versions) } : {}),
      },
    };
  },
});

/** The messages of a step; without recorded messages, its observation and its reply. */
function stepHistory(step: JsonObject): JsonObject[] {
  const list = objectsOf(step.chat_completions);
  if (list.length > 0) return list;
  const text =
    typeof step.observation === 'string' ? step.observation : step.observation ? printJson(step.observation) : '';
  const reply = typeof step.model_response === 'string' ? step.model_response : '';
  return [
    ...(text === '' ? [] : [{ role: 'user', content: text }]),
    ...(reply === '' ? [] : [{ role: 'assistant', content: reply }]),
  ];
}

function sharedHead(a: readonly string[], b: readonly string[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}
