import type { Data } from '../rows/data.ts';
import type { PromptAction } from '../state/action.ts';
import type { PromptState, State } from '../state/state.ts';
import { whereIs } from './jumps.ts';
import { promptKind } from './prompt-kinds.ts';
import type { Handlers, Result } from './result.ts';

/** Entries of a prompt that are kept. */
export const HISTORY_LENGTH = 200;

/** The value set by something else than typing. */
const withValue = (prompt: PromptState, value: string): PromptState => ({
  ...prompt,
  value,
  seed: prompt.seed + 1,
  error: null,
});

/** What the kind of prompt does with another value. */
function changed(state: State, prompt: PromptState, data: Data): Result {
  const next = { ...state, prompt };
  return promptKind(prompt.id).change?.(next, prompt.value, data) ?? next;
}

export const promptHandlers: Handlers<PromptAction> = {
  'prompt-open': (state, { prompt: id, value = '' }, data) =>
    changed(
      state,
      { id, value, seed: 0, error: null, past: null, draft: value, choices: [], choice: -1, from: whereIs(state) },
      data,
    ),

  'prompt-change': (state, { value }, data) => {
    if (state.prompt === null || state.prompt.value === value) return state;
    return changed(state, { ...state.prompt, value, error: null, past: null, choices: [], choice: -1 }, data);
  },

  'prompt-submit': (state, _action, data) => {
    const { prompt } = state;
    if (prompt === null) return state;
    const kind = promptKind(prompt.id);
    const error = kind.check?.(prompt.value, state, data) ?? null;
    if (error !== null) return { ...state, prompt: { ...prompt, error } };
    const before = state.history[prompt.id] ?? [];
    const isNew = kind.move === undefined && prompt.value.trim() !== '' && before.at(-1) !== prompt.value;
    const history = isNew
      ? {
          ...state.history,
          [prompt.id]: [...before.filter((entry) => entry !== prompt.value), prompt.value].slice(-HISTORY_LENGTH),
        }
      : state.history;
    const result = kind.submit({ ...state, prompt: null, history }, prompt.value, data);
    if (!isNew) return result;
    const { state: next, effects } = 'effects' in result ? result : { state: result, effects: [] };
    return { state: next, effects: [...effects, { type: 'remember', prompt: prompt.id, value: prompt.value }] };
  },

  'prompt-close': (state, _action, data) => {
    if (state.prompt === null) return state;
    const closed = { ...state, prompt: null };
    return promptKind(state.prompt.id).cancel?.(closed, data) ?? closed;
  },

  'prompt-move': (state, { by }, data) => {
    const { prompt } = state;
    if (prompt === null) return state;
    const kind = promptKind(prompt.id);
    if (kind.move !== undefined) return kind.move(state, by, data);
    const history = state.history[prompt.id] ?? [];
    const from = prompt.past ?? history.length;
    const past = Math.max(0, Math.min(history.length, from + by));
    if (past === from) return state;
    const draft = prompt.past === null ? prompt.value : prompt.draft;
    const value = past === history.length ? draft : history[past]!;
    return changed(
      state,
      { ...withValue(prompt, value), draft, past: past === history.length ? null : past, choices: [], choice: -1 },
      data,
    );
  },

  'prompt-complete': (state, { by }, data) => {
    const { prompt } = state;
    if (prompt === null) return state;
    const isOn = prompt.choice >= 0;
    const choices = isOn ? prompt.choices : (promptKind(prompt.id).complete?.(prompt.value, state, data) ?? []);
    if (choices.length === 0) return state;
    const choice = isOn ? (prompt.choice + by + choices.length) % choices.length : by > 0 ? 0 : choices.length - 1;
    const value = choices[choice]!;
    // The only one is taken; the next Tab completes what comes behind it.
    const rest = choices.length === 1 ? { choices: [], choice: -1 } : { choices, choice };
    return changed(state, { ...withValue(prompt, value), ...rest }, data);
  },
};
