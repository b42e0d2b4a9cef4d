import { RolloutFault } from '../common/faults.ts';
import { messageText } from '../common/message.ts';
import type { Generation } from '../model/model.ts';
import type { TokenBudget } from './budget.ts';
import type { RolloutParts } from './parts.ts';
import { readTurn } from './read-turn.ts';
import type { CallRecord } from './tool-calls.ts';

/** A sampled turn: its calls, and its text as sampled, including special tokens. */
export interface AssistantTurn {
  calls: CallRecord[];
  spoken: string;
}

/** Samples one turn. @returns null if it was broken off to be resumed later; the cause is set if the turn ends the rollout */
export async function assistantTurn(
  parts: RolloutParts,
  budget: TokenBudget,
  signal: AbortSignal,
): Promise<AssistantTurn | null> {
  const { conversation, notes, options, rules, sampling, schemas } = parts;
  const { messages, transcript } = conversation;
  const { onEvent, tokenizer, model } = options;
  const isOpen = notes.isTurnOpen;
  const turn = isOpen ? messages.length - 1 : messages.length;
  const started = notes.now();
  const inputIds = model.exact ? transcript.ids : null;
  const wantsPromptLogprobs =
    model.exact && sampling.prompt_logprobs !== undefined && notes.generations.length === 0 && !isOpen;
  const asked = { turn, tokens: budget.tokens, messages, tools: schemas, sampling, inputIds, wantsPromptLogprobs };
  const generation = await parts.sampler.sample(asked, signal);
  if ('overflow' in generation) return overflow(parts, generation.overflow);
  const { finishReason, ids, logprobs, weightVersion } = generation;
  const isBrokenOff = finishReason === 'abort';
  if (isBrokenOff && ids === null) return null;
  parts.count.sampled(generation);
  compareTemplates(parts, generation);
  const sampled = sampledText(parts, generation);
  if (wantsPromptLogprobs && !transcript.judgePrompt(generation.promptLogprobs ?? null))
    notes.warn('prompt', 'the server gives no log probabilities of the prompt, or not one for each of its tokens');
  transcript.addSampled(turn, sampled, ids, logprobs, weightVersion);
  const whole = isOpen ? { ...generation, text: messageText(messages.pop()!) + generation.text } : generation;
  notes.isTurnOpen = isBrokenOff && (isOpen || ids!.length > 0);
  if (isBrokenOff) {
    // The deadline came mid-turn; keep the part sampled so far.
    if (notes.isTurnOpen) messages.push({ role: 'assistant', content: whole.text });
    return null;
  }
  const { message, calls } = readTurn(whole, parts.grammar, { turn, earlier: notes.calls, schemas, rules });
  // verl drops calls that it cannot decode.
  const isComplete = calls.length > 0 || schemas.length === 0 || rules.version !== null;
  if (finishReason === 'tool_calls' && !isComplete)
    throw new RolloutFault('model_gone', 'the server ended the turn for its calls, and gave none');
  if (message.content === '' && !message.reasoning_content && calls.length === 0 && finishReason === 'stop')
    notes.warn('empty', 'the model ended its turn without a word');
  notes.calls.push(...calls);
  messages.push(message);
  const isCut = finishReason === 'length' && !rules.readsCutTurns;
  const finish = calls.length > 0 ? 'tool_calls' : isCut ? 'length' : 'stop';
  notes.finishReason = finish;
  notes.generations.push({
    turn,
    finish_reason: finish,
    started,
    duration: notes.now() - started,
    prompt_tokens: generation.promptTokens,
    completion_tokens: generation.completionTokens ?? ids?.length ?? null,
    retries: generation.retries,
  });
  onEvent?.({ kind: 'message', turn, message });
  for (const call of calls) onEvent?.({ kind: 'call', call });
  if (finishReason === 'content_filter') notes.end('CONTENT_FILTERED', 'content_filter');
  else if (finish === 'length') notes.end('MAX_CONTEXT_LIMIT_REACHED', budget.ends);
  return { calls, spoken: options.user && ids && tokenizer ? tokenizer.decode(ids, false) : sampled };
}

function sampledText({ conversation, notes, options }: RolloutParts, generation: Generation): string {
  if (options.model.exact) return generation.text;
  const { text, reasoning, toolCalls, finishReason } = generation;
  if (toolCalls.length > 0 || reasoning) notes.isRewritten = true;
  // A truncated thought has no sampled end tag.
  if (reasoning && text === '' && toolCalls.length === 0 && finishReason === 'length') return `<think>\n${reasoning}`;
  return conversation.renderer.assistantText({
    role: 'assistant',
    content: generation.text,
    ...(generation.reasoning ? { reasoning_content: generation.reasoning } : {}),
    tool_calls: generation.toolCalls,
  });
}

/** A full window ends the rollout like a limit; on the very first turn there is no rollout to keep. */
function overflow({ notes }: RolloutParts, error: Error): AssistantTurn {
  if (notes.generations.length === 0) throw new RolloutFault('prompt_too_long', error.message, { cause: error });
  notes.warn('window', error.message);
  notes.finishReason = 'length';
  notes.end('MAX_CONTEXT_LIMIT_REACHED', 'context_full');
  return { calls: [], spoken: '' };
}

function compareTemplates(
  { conversation, notes, options }: RolloutParts,
  { promptTokens, completionTokens }: Generation,
): void {
  if (options.model.exact || notes.generations.length > 0 || promptTokens === null || completionTokens === null) return;
  const own = conversation.transcript.promptTokens;
  if (own !== null && own !== promptTokens)
    notes.warn(
      'template',
      `the server counts ${promptTokens} tokens of prompt, the chat template gives ${own}: the server uses another template, and input is not what its model saw`,
    );
}
