/** How a trajectory ended, in Tunix's words and order (`tunix/rl/agentic/agents/agent_types.py`); recorded by name. */
export const STATUSES = [
  'SUCCEEDED',
  'RUNNING',
  'MAX_STEPS_REACHED',
  'MAX_CONTEXT_LIMIT_REACHED',
  'TIMEOUT',
  'ENV_TIMEOUT',
  'FAILED',
] as const;
export type TrajectoryStatus = (typeof STATUSES)[number];
