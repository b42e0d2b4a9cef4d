/** The limits of a rollout, and of a tool's text in it; names and lengths are verl's (`multi_turn` in rollout.yaml). */
export interface Limits {
  /** Tokens; a longer prompt is told as a warning. */
  max_prompt_length: number | null;
  /** Tokens after the prompt, tool results included. */
  max_response_length: number;
  /** Tokens in all; null: what the server says of its window. */
  max_model_len: number | null;
  /** null: no limit but the window's. Tools called in the last allowed turn are not run. */
  max_assistant_turns: number | null;
  /** Turns of tool results and of a simulated user together; null: no limit. */
  max_user_turns: number | null;
  /** Calls of one turn that are run; the others are answered with an error. null: all (verl's own default is 1). */
  max_parallel_calls: number | null;
  /** Characters (code points, as Python counts). null: whole. */
  max_tool_response_length: number | null;
  /** The side that is cut off, as verl means it since May 2026; middle keeps both ends. */
  tool_response_truncate_side: 'left' | 'right' | 'middle';
  /** Seconds for one tool call; waiting for a place in its queue is not counted. */
  tool_timeout: number;
  /** Seconds for one rollout. */
  timeout: number;
}

export const DEFAULT_LIMITS: Limits = {
  max_prompt_length: null,
  max_response_length: 8192,
  max_model_len: null,
  max_assistant_turns: null,
  max_user_turns: null,
  max_parallel_calls: null,
  max_tool_response_length: 256,
  tool_response_truncate_side: 'middle',
  tool_timeout: 300,
  timeout: 3600,
};
