/**
 * How a rollout ended. stop: the model or its environment reported completion; length: a limit of tokens, turns or
 * cost; mid_word, mid_json, unclosed_think: the text breaks off there, without a recorded reason; aborted: it was ended
 * from outside.
 */
export const ENDS = ['stop', 'length', 'mid_word', 'mid_json', 'unclosed_think', 'aborted', 'unknown'] as const;
export type End = (typeof ENDS)[number];

/** The same, as shown to people. */
export const END_WORD: Record<End, string> = {
  stop: 'stop',
  length: 'length',
  mid_word: 'mid-word',
  mid_json: 'mid-JSON',
  unclosed_think: 'unclosed think',
  aborted: 'aborted',
  unknown: 'unknown',
};

/** The response would have continued: a lower bound for truncation. */
export const CUT_ENDS: readonly End[] = ['length', 'mid_word', 'mid_json', 'unclosed_think'];

export interface Ended {
  how: End;
  /** The evidence: `finish_reason length`, `the text ends in "…denomin"`. */
  evidence: string;
}

/** Finish reasons and statuses of engines, trainers and harnesses, in lower case. */
const REASONS: readonly [End, RegExp][] = [
  [
    'length',
    /^(?:length|(?:model_)?max_?(?:(?:prompt|response|input|output|total|completion|new|tool|propose|agent|env|user|model)_)*(?:length|tokens|steps|turns|iterations|calls|context|context_limit)(?:_?(?:reached|exceeded|hit))?|(?:generation_)?truncated|incomplete|model_length|(?:model_)?context_(?:length|window)(?:_exceeded)?|prompt_too_long|(?:exit|limit)_(?:context|cost)|submitted_\(exit_(?:context|cost)\)|(?:limits?|budget)_?exceeded|overlong|token_limit|error_max_turns|error_max_budget_usd|exceed_context_window|max_steps_reached)$/,
  ],
  [
    'aborted',
    /^(?:abort(?:ed)?|cancel(?:led|ed)?|(?:[a-z_]*_)?time_?out(?:_?error|_reached)?|[a-z]+timeouterror|timed_out|failed|failure|too_many_errors|has_error|(?:agent_|user_|environment_|infrastructure_|unexpected_|exit_)?error|retryerror|(?:submitted_\()?exit_(?:format|api|error|environment_error|total_execution_time|command_timeout)\)?|stuck|paused|running|pending|interrupted|killed|content_filter|refusal|rejected|error_during_execution|crashed)$/,
  ],
  [
    'stop',
    /^(?:stop(?:ped)?|eos|eos_token|end_?turn|stop_(?:sequence|string|token)|tool_?(?:calls?|use)|function_call|no_tools(?:_called)?|(?:agent_)?completed?|(?:user|agent)_stop|early_exit|exit_forfeit|success|succeeded|finish(?:ed)?|done|submitted|agent_finished|give_answer|give_up(?:_and_restart)?|terminated|env_done)$/,
  ],
];

/** The meaning of a recorded finish reason or status; null for an unknown word. @param name the key that holds it */
export function endedByReason(name: string, reason: string): Ended | null {
  const word = reason
    .replace(/^(?:[A-Za-z]+\.|FINISH_REASON_)/, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  const how = REASONS.find(([, pattern]) => pattern.test(word))?.[0];
  return how === undefined ? null : { how, evidence: `${name} ${reason.trim().slice(0, 60)}` };
}
