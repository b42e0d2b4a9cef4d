import { exported } from './copied.ts';
import type { PromptKind } from './prompt-kinds.ts';
import { say } from './result.ts';

/** `|`: a shell command that reads what is shown. */
export const pipePrompt: PromptKind = {
  sign: '|',
  hint: (_value, state) =>
    state.display.view === 'json' || state.display.view === 'fields'
      ? 'a command that reads the record as JSON: jq .score'
      : 'a command that reads this rollout as text: wc -w',
  submit: (state, value, data) => {
    const given = exported(state, data);
    if (value.trim() === '' || given === null) return say(state, 'nothing was run');
    return { state, effects: [{ type: 'pipe', command: value, ...given }] };
  },
};
