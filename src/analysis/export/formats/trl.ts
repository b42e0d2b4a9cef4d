import type { LabelFormat, PairFormat, RolloutFormat } from '../format.ts';
import { ANSWER_LIMITS, REPLY_LIMITS, SFT_LIMITS } from '../format.ts';
import { exportMessages, toolsText } from '../openai-messages.ts';

/** TRL's SFTTrainer with `assistant_only_loss=True` and a template with generation blocks (trl 1.13.0, trainer/sft_trainer.py). */
export const toTrl: RolloutFormat = {
  name: 'trl',
  about: "TRL SFT, conversational with tools: trains the model's turns (assistant_only_loss)",
  takes: 'rollouts',
  file: 'jsonl',
  limits: SFT_LIMITS,
  tokens: { renders: 'whole', trains: 'generation' },
  row: (one) => ({ id: one.id, messages: exportMessages(one, one.messages), ...toolsText(one) }),
};

/** Prompt and completion: the loss covers all of the completion, results of tools too. */
export const toTrlCompletion: RolloutFormat = {
  name: 'trl-completion',
  about: 'TRL SFT, prompt and completion: trains the whole completion',
  takes: 'rollouts',
  file: 'jsonl',
  limits: [...REPLY_LIMITS, 'no_prompt', 'masked_turns', 'masked_results'],
  tokens: { renders: 'whole', trains: 'completion' },
  row: (one) => ({
    id: one.id,
    prompt: exportMessages(one, one.messages.slice(0, one.response)),
    completion: exportMessages(one, one.messages.slice(one.response)),
    ...toolsText(one),
  }),
};

/** TRL's DPOTrainer: the loss covers both answers whole. */
export const toTrlDpo: PairFormat = {
  name: 'trl-dpo',
  about: 'TRL DPO: compares whole answers',
  takes: 'pairs',
  file: 'jsonl',
  limits: [...ANSWER_LIMITS, 'masked_results'],
  tokens: { renders: 'whole', trains: 'completion' },
  row: ({ better, worse, shared, length, reason }) => ({
    chosen_id: better.id,
    rejected_id: worse.id,
    prompt: exportMessages(better, better.messages.slice(0, shared)),
    chosen: exportMessages(better, better.messages.slice(shared, shared + length)),
    rejected: exportMessages(worse, worse.messages.slice(shared, shared + length)),
    ...toolsText(better),
    chosen_score: better.score,
    rejected_score: worse.score,
    reason,
  }),
};

/** TRL's KTOTrainer: one answer, and whether it is wanted. */
export const toTrlKto: LabelFormat = {
  name: 'trl-kto',
  about: 'TRL KTO: one answer and whether it is good',
  takes: 'labels',
  file: 'jsonl',
  limits: [...ANSWER_LIMITS, 'masked_results'],
  tokens: { renders: 'whole', trains: 'completion' },
  row: (one, isGood) => ({
    id: one.id,
    prompt: exportMessages(one, one.messages.slice(0, one.response)),
    completion: exportMessages(one, one.messages.slice(one.response)),
    label: isGood,
    ...toolsText(one),
  }),
};
