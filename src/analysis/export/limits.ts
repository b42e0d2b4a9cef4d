import { keysIn } from '../../core/json/value.ts';
import type { ExportConversation } from './conversation.ts';

/** Something that a format may be unable to hold, and how to detect it in a conversation. */
interface LimitDeclaration {
  /** After "refuses": the rollout, and what would be lost. */
  says: string;
  holds: (conversation: ExportConversation) => boolean;
}

const response = ({ messages, response: at }: ExportConversation) => messages.slice(at);

/** Model turns of the response that are only partly trained. */
const hasMaskedReply = (conversation: ExportConversation): boolean => {
  const replies = response(conversation).filter(({ role }) => role === 'assistant');
  return replies.some(({ trained }) => trained === false) && !replies.every(({ trained }) => trained === false);
};

/**
 * Every loss that an export can cause. A format declares the ones it has. A rollout with one of them is refused, unless
 * the user drops such rollouts (`--drop`) or accepts the loss by name (`--accept NAME`).
 */
export const LIMITS = {
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
    holds: hasMaskedReply,
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
  order: {
    says: 'a rollout whose replies do not take turns with questions and results, one by one: its loader skips it',
    holds: ({ messages }) => {
      const turns = messages[0]?.role === 'system' ? messages.slice(1) : messages;
      return (
        turns.length % 2 === 1 ||
        turns.some(({ role }, at) => (at % 2 === 0 ? role !== 'user' && role !== 'tool' : role !== 'assistant'))
      );
    },
  },
  no_ids: {
    says: 'a rollout without recorded token ids',
    holds: ({ tokens }) => tokens === null || tokens.promptIds === null,
  },
  no_logprobs: {
    says: 'a rollout without recorded log probabilities of all its trained tokens',
    holds: ({ tokens }) => tokens?.mask.some((bit, at) => bit === 1 && tokens.logprobs?.[at] == null) ?? true,
  },
  no_advantage: {
    says: 'a rollout without recorded advantages of all its trained tokens',
    holds: ({ advantages, tokens }) =>
      typeof advantages === 'number'
        ? !Number.isFinite(advantages)
        : (tokens?.mask.some((bit, at) => bit === 1 && advantages?.[at] == null) ?? true),
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

/** The first limit that a conversation meets; null if it fits. */
export const firstLimit = (conversation: ExportConversation, limits: readonly ExportLimit[]): ExportLimit | null =>
  limits.find((limit) => LIMITS[limit].holds(conversation)) ?? null;
