/** Where a rollout ends, and how much of a tool's text it may take; names and lengths are verl's (`multi_turn` in rollout.yaml). */
export interface Limits {
  /** Tokens; a longer prompt is told as a warning. */
  max_prompt_length: number | null;
  /** Tokens after the prompt, tool results included. */
  max_response_length: number;
  /** Tokens in all. */
  max_model_len: number;
  /** null: max_model_len / 3, as in verl's request engine. Tools called in the last allowed turn are not run. */
  max_assistant_turns: number | null;
  /** Calls of one turn that are run; the others are answered with an error. null: all. */
  max_parallel_calls: number | null;
  /** Characters (code points, as Python counts). null: whole. */
  max_tool_response_length: number | null;
  /** The side that is kept, as verl's writers of January 2026 mean it; middle keeps both ends. */
  tool_response_truncate_side: 'left' | 'right' | 'middle';
  /** Seconds for one tool call, waiting for a place included. */
  tool_timeout: number;
  /** Seconds for one rollout. */
  timeout: number;
}

export const DEFAULT_LIMITS: Limits = {
  max_prompt_length: null,
  max_response_length: 8192,
  max_model_len: 32768,
  max_assistant_turns: null,
  max_parallel_calls: null,
  max_tool_response_length: 256,
  tool_response_truncate_side: 'middle',
  tool_timeout: 300,
  timeout: 3600,
};
