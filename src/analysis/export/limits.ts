import { keysIn } from '../../core/json/value.ts';
import type { ExportConversation } from './conversation.ts';

/** Something that a format may be unable to hold, and how to detect it in a conversation. */
interface LimitDeclaration {
  /** After "refuses": the rollout, and what would be lost. */
  says: string;
  holds: (conversation: ExportConversation) => boolean;
}

const response = ({ messages, response: at }: ExportConversation) => messages.slice(at);

const replies = (conversation: ExportConversation) => response(conversation).filter(({ role }) => role === 'assistant');

const behindSystem = ({ messages }: ExportConversation) =>
  messages[0]?.role === 'system' ? messages.slice(1) : messages;

/** Which roles may come before a role; an empty one is the beginning. */
const MAY_FOLLOW = new Map([
  ['user', ['', 'assistant']],
  ['assistant', ['user', 'tool']],
  ['tool', ['assistant', 'tool']],
]);

const TAG = /<\/?(?:think|tool_call)>/;
const MEDIUM = /<(?:image|video|audio)>/;
const TURN_NUMBER = /\{\{(?:idx|ROUND[01])\}\}/;

/** Roles that chat templates know. */
const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

/** A name that OpenAI's API takes for a function. */
const FUNCTION_NAME = /^[\w-]{1,64}$/;

/** Every call has an id and, unless the rollout ends with it, one result after it; every result has a call before it. */
function hasLooseCall({ messages }: ExportConversation): boolean {
  let open = new Set<string | null>();
  for (const { role, calls, answers } of messages) {
    if (role === 'tool') {
      if (answers === null || !open.delete(answers)) return true;
      continue;
    }
    if (open.size > 0) return true;
    open = new Set(calls.map(({ id }) => id));
    if (open.size < calls.length || open.has(null)) return true;
  }
  return false;
}

/**
 * Every loss that an export can cause. A format declares the ones it has. A rollout with one of them is refused, unless
 * the user drops such rollouts (`--drop`) or accepts the loss by name (`--accept NAME`).
 */
export const LIMITS = {
  unrecorded: {
    says: 'a rollout with a turn whose content is not recorded',
    holds: ({ isUnrecorded }) => isUnrecorded,
  },
  empty: {
    says: 'a rollout without a reply of the model',
    holds: (one) => !response(one).some(({ role }) => role === 'assistant'),
  },
  cut: {
    says: 'a rollout that was cut: the loader would add an end token that the model never wrote, and train on it',
    holds: ({ isCut }) => isCut,
  },
  inferred: {
    says: 'a rollout without a recorded mask: its trained text is inferred from roles (--inferred takes it)',
    holds: ({ isInferred }) => isInferred,
  },
  split_mask: {
    says: 'a rollout whose recorded mask does not follow its turns: its loader masks whole turns',
    holds: ({ isSplit }) => isSplit,
  },
  contexts: {
    says: 'a rollout with several message histories: only the main one would go out',
    holds: ({ contexts }) => contexts > 0,
  },
  pictures: { says: 'a rollout with pictures, which would be lost', holds: ({ hasPictures }) => hasPictures },
  masked_results: {
    says: 'a rollout with tool results: its loader trains on them although they were masked',
    holds: (one) => response(one).some(({ role }) => role !== 'assistant'),
  },
  masked_turns: {
    says: 'a rollout with masked turns of the model: its loader trains on them',
    holds: (one) => replies(one).some(({ trained }) => trained === false),
  },
  untrained: {
    says: 'a rollout of which nothing is trained',
    holds: (one) => replies(one).every(({ trained }) => trained === false),
  },
  roles: {
    says: 'a rollout with a turn whose role is unknown to chat templates',
    holds: ({ messages }) => messages.some(({ role }) => !ROLES.has(role)),
  },
  half_characters: {
    // Python cannot encode it, and bytes cannot hold it.
    says: 'a rollout with half a character (a lone surrogate), which no tokenizer takes',
    holds: ({ messages }) => messages.some(({ text }) => !text.isWellFormed()),
  },
  no_prompt: {
    says: 'a rollout without a message before the reply',
    holds: ({ response: at }) => at === 0,
  },
  loose_calls: {
    says: 'a rollout with a call or a result that has no counterpart, or no id',
    holds: hasLooseCall,
  },
  call_names: {
    says: 'a rollout with a call whose name is no name of a function',
    holds: ({ messages }) => messages.some(({ calls }) => calls.some(({ name }) => !FUNCTION_NAME.test(name))),
  },
  open_end: {
    says: 'a rollout that does not end with a reply of the model',
    holds: ({ messages }) => messages.at(-1)?.role !== 'assistant',
  },
  prompt_replies: {
    says: 'a rollout with turns of the model in its prompt: its loader trains on them',
    holds: ({ messages, response: at }) => messages.slice(0, at).some(({ role }) => role === 'assistant'),
  },
  reasoning: {
    says: 'a rollout with reasoning, which this format drops',
    holds: (one) => response(one).some(({ reasoning }) => reasoning !== null),
  },
  broken_calls: {
    says: 'a rollout with a call whose arguments are not JSON',
    holds: ({ messages }) => messages.some(({ calls }) => calls.some(({ isJson }) => !isJson)),
  },
  parallel_calls: {
    says: 'a rollout with several calls in one turn',
    holds: ({ messages }) => messages.some(({ calls }) => calls.length > 1),
  },
  apart: {
    says: 'a rollout whose tools, calls or reasoning are recorded apart from its text: this format holds only text',
    holds: ({ isTextWhole }) => !isTextWhole,
  },
  prompt_apart: {
    says: 'a prompt whose tools, calls or reasoning are recorded apart from its text: this format holds only text',
    holds: ({ isTextWhole, tools, messages, response: at }) =>
      !isTextWhole && (tools !== null || messages.slice(0, at).some(({ isApart }) => isApart)),
  },
  call_words: {
    says: 'a rollout with words beside a call, which this format drops',
    holds: ({ messages }) => messages.some(({ calls, content }) => calls.length > 0 && content.trim() !== ''),
  },
  call_tags: {
    says: 'a rollout with a call or its reasoning that contains tags, by which its loader cuts',
    holds: ({ messages }) =>
      messages.some(
        ({ calls, reasoning }) =>
          calls.length > 0 && TAG.test([reasoning, ...calls.map((call) => call.arguments)].join('\n')),
      ),
  },
  order: {
    says: 'a rollout whose replies do not take turns with questions and results, one by one: its loader skips it',
    holds: (one) => {
      const turns = behindSystem(one);
      return (
        turns.length % 2 === 1 ||
        turns.some(({ role }, at) => (at % 2 === 0 ? role !== 'user' && role !== 'tool' : role !== 'assistant'))
      );
    },
  },
  rounds: {
    says: 'a rollout whose replies do not take turns with questions or results: its loader joins them, or skips it',
    holds: (one) => {
      const roles = behindSystem(one).map(({ role }) => role);
      return (
        roles.at(-1) !== 'assistant' ||
        roles.some((role, at) => MAY_FOLLOW.get(role)?.includes(roles[at - 1] ?? '') !== true)
      );
    },
  },
  empty_system: {
    says: 'a rollout with an empty system turn, which its loader leaves out',
    holds: ({ messages: [first] }) => first?.role === 'system' && first.content === '',
  },
  placeholders: {
    says: 'a rollout whose text contains a placeholder of its loader, such as <image> or {{idx}}',
    holds: ({ messages }) =>
      messages.some(({ role, text }) => MEDIUM.test(text) || (role === 'user' && TURN_NUMBER.test(text))),
  },
  no_ids: {
    says: 'a rollout without recorded token ids',
    holds: ({ tokens }) => tokens === null || tokens.promptIds === null,
  },
  no_logprobs: {
    says: 'a rollout without recorded log probabilities of all its trained tokens: 0 would be written',
    holds: ({ tokens }) =>
      tokens?.mask.some((bit, at) => bit === 1 && !Number.isFinite(tokens.logprobs?.[at] ?? Number.NaN)) ?? true,
  },
  logprob_gaps: {
    says: 'a rollout whose recorded log probabilities do not cover its trained tokens',
    holds: ({ tokens, hasLogprobs }) =>
      tokens !== null &&
      (tokens.logprobs === null
        ? hasLogprobs
        : tokens.mask.some((bit, at) => bit === 1 && !Number.isFinite(tokens.logprobs?.[at] ?? Number.NaN))),
  },
  no_advantage: {
    says: 'a rollout without recorded advantages of all its trained tokens: 0 would be written',
    holds: ({ advantages, tokens }) =>
      typeof advantages === 'number'
        ? !Number.isFinite(advantages)
        : (tokens?.mask.some((bit, at) => bit === 1 && !Number.isFinite(advantages?.[at] ?? Number.NaN)) ?? true),
  },
  no_temperature: {
    says: 'a rollout without a recorded temperature: 1 would be written',
    holds: ({ temperature }) => temperature === null,
  },
  no_score: {
    says: 'a rollout without a score',
    holds: ({ score }) => score === null || !Number.isFinite(score),
  },
  no_truth: {
    says: 'a rollout without a ground truth',
    holds: ({ groundTruth }) => groundTruth === undefined || groundTruth === null,
  },
} as const satisfies Record<string, LimitDeclaration>;

export type ExportLimit = keyof typeof LIMITS;
export const LIMIT_NAMES = keysIn(LIMITS);

/** No format holds these, and nothing accepts them: our words about a turn are not its text. */
const OF_ALL: readonly ExportLimit[] = ['unrecorded'];

/** `--accept` takes these. Without a reply or without ids there would be nothing in the row. */
export const ACCEPTABLE_LIMITS = LIMIT_NAMES.filter(
  (name) => name !== 'empty' && name !== 'no_ids' && !OF_ALL.includes(name),
);

/** The first limit that a conversation meets; null if it fits. */
export const firstLimit = (conversation: ExportConversation, limits: readonly ExportLimit[]): ExportLimit | null =>
  [...OF_ALL, ...limits].find((limit) => LIMITS[limit].holds(conversation)) ?? null;
