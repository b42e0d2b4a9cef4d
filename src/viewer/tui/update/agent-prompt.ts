import type { PromptKind } from './prompt-kind.ts';

/** The command of the agent that continues a rollout. */
export const agentPrompt: PromptKind = {
  sign: 'agent ',
  hint: () => "the command of the agent that made the rollout, such as: python agent.py; empty: this program's loop",
  submit: (value) => ({ type: 'fork-agent', command: value.trim() === '' ? null : value.trim() }),
};
