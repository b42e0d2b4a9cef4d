import { type JsonValue, objectIn } from '../core/json/value.ts';
import type { Rollout, Turn } from '../core/rollout/rollout.ts';

/** The data source of the rollout, if its record names it; verl's own dumps do not, unless the user added it. */
export function dataSourceOf({ extras }: Rollout): string | undefined {
  const info = objectIn(extras.extra_info);
  const found = [extras.data_source, info.data_source].find((value): value is string => typeof value === 'string');
  return found;
}

export const extraInfoOf = ({ extras }: Rollout): JsonValue => extras.extra_info ?? null;

/**
 * The whole response as verl's managers read it: the recorded text if one field holds exactly that, else the messages as ChatML without its
 * special tokens.
 */
export function wholeResponse({ texts, turns, spans, responseTurn }: Rollout): string {
  const ofResponse = new Set<string>();
  const ofPrompt = new Set<string>();
  for (const { field, turn } of spans) (turn >= responseTurn ? ofResponse : ofPrompt).add(field);
  const [field, ...others] = ofResponse;
  if (field === undefined) return texts.output ?? '';
  if (others.length === 0 && !ofPrompt.has(field)) return texts[field] ?? '';
  // In a dump, the prompt's text ends with the header of the first turn.
  if (ofResponse.has('output') && texts.output !== undefined) return texts.output;
  let response = '';
  let before: Turn | null = null;
  for (const turn of turns.slice(responseTurn)) {
    const isTool = turn.role === 'tool';
    const text = isTool ? `<tool_response>\n${turn.text}\n</tool_response>` : turn.text;
    const header = isTool ? (before?.role === 'tool' ? '' : 'user\n') : `${turn.role}\n`;
    response += before === null ? text : `\n${header}${text}`;
    before = turn;
  }
  return response;
}

/** verl's `__num_turns__`: counts the prompt, each model turn, and each run of tool results or user messages between them. */
export function turnCount({ turns, responseTurn, extras }: Rollout): number {
  if (typeof extras.num_turns === 'number') return extras.num_turns;
  let count = 1;
  let wasModel = false;
  for (const { role, context = 0 } of turns.slice(responseTurn)) {
    if (context !== 0) continue;
    const isModel = role === 'assistant';
    if (isModel || wasModel) count++;
    wasModel = isModel;
  }
  return count;
}

/**
 * The text that the reward function received: verl's managers decode the whole response; this program's engine and every message format
 * judge the last assistant turn.
 */
export function judgedText({ format, texts, turns, responseTurn }: Rollout): string {
  if (format === 'verl') return texts.output ?? '';
  return turns.slice(responseTurn).findLast(({ role }) => role === 'assistant')?.text ?? '';
}
