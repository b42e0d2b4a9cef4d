import type { PromptKind } from './prompt-kind.ts';

/** The command that distinguishes the states of a rollout. */
export const bisectPrompt: PromptKind = {
  sign: 'which call changes ',
  hint: () => 'a command such as: pytest -q tests/x.py; it runs in copies of the states, by halving',
  check: (value) => (value.trim() === '' ? { message: 'type a command that distinguishes the states', at: 0 } : null),
  submit: (value) => ({ type: 'bisect', command: value.trim() }),
};
