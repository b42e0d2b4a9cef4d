import type { PromptKind } from './prompt-kind.ts';

/** The command that tells the states of a rollout apart. */
export const bisectPrompt: PromptKind = {
  sign: 'which call changes ',
  hint: () => 'a command such as: pytest -q tests/x.py; it runs in copies of the states, by halving',
  check: (value) => (value.trim() === '' ? { message: 'a command tells the states apart', at: 0 } : null),
  submit: (value) => ({ type: 'bisect', command: value.trim() }),
};
