import { itemAt } from '../../../core/lists/at.ts';
import type { Data } from '../rows/data.ts';
import type { PromptId, PromptState } from '../state/prompt.ts';
import type { State } from '../state/state.ts';
import { whereIs } from './jumps.ts';
import { PROMPTS } from './prompt-kinds.ts';
import type { SomeHandlers } from './result.ts';

/** Entries of a prompt that are kept. */
const HISTORY_LENGTH = 200;

/** Sets a value other than by typing. */
const withValue = (prompt: PromptState, value: string): PromptState => ({
  ...prompt,
  value,
  seed: prompt.seed + 1,
  cursor: value.length,
  error: null,
});

const freshPrompt = (state: State, id: PromptId, value: string): PromptState => ({
  id,
  value,
  seed: state.seed + 1,
  cursor: value.length,
  error: null,
  past: null,
  draft: value,
  choices: [],
  choice: -1,
  from: whereIs(state),
});

/** The prompt with another value, after its kind has reacted. */
function changed(state: State, prompt: PromptState, data: Data): State {
  const next = { ...state, prompt, seed: prompt.seed };
  return PROMPTS[prompt.id].change?.(next, prompt.value, data) ?? next;
}

export const promptHandlers = {
  'prompt-open': (state, { prompt, value = '' }, data) => changed(state, freshPrompt(state, prompt, value), data),

  'prompt-problem': (state, { prompt, value, problem: error }) => ({
    ...state,
    prompt: { ...freshPrompt(state, prompt, value), error },
    seed: state.seed + 1,
  }),

  'prompt-change': (state, { value }, data) => {
    if (state.prompt === null || state.prompt.value === value) return state;
    return changed(state, { ...state.prompt, value, error: null, past: null, choices: [], choice: -1 }, data);
  },

  'prompt-edit': (state, { value, cursor }, data) => {
    if (state.prompt === null) return state;
    const prompt = { ...withValue(state.prompt, value), cursor };
    if (state.prompt.value === value) return { ...state, prompt, seed: prompt.seed };
    return changed(state, { ...prompt, past: null, choices: [], choice: -1 }, data);
  },

  'prompt-submit': (state, _action, data) => {
    const { prompt } = state;
    if (prompt === null) return state;
    const kind = PROMPTS[prompt.id];
    const error = kind.check?.(prompt.value, state, data) ?? null;
    if (error !== null) return { ...state, prompt: { ...prompt, error } };
    const before = state.history[prompt.id] ?? [];
    const value = kind.remembered?.(prompt.value) ?? prompt.value;
    const isNew = kind.move === undefined && value.trim() !== '' && before.at(-1) !== value;
    const history = isNew
      ? { ...state.history, [prompt.id]: [...before.filter((entry) => entry !== value), value].slice(-HISTORY_LENGTH) }
      : state.history;
    const next = kind.submit(prompt.value, state, data);
    return {
      state: { ...state, prompt: null, help: null, history },
      effects: isNew ? [{ type: 'remember', prompt: prompt.id, value }] : [],
      ...(next === null ? {} : { next }),
    };
  },

  'prompt-close': (state) => {
    if (state.prompt === null) return state;
    const closed = { ...state, prompt: null, help: null };
    return PROMPTS[state.prompt.id].cancel?.(closed) ?? closed;
  },

  'prompt-move': (state, { by }, data) => {
    const { prompt } = state;
    if (prompt === null) return state;
    const kind = PROMPTS[prompt.id];
    if (kind.move !== undefined) return kind.move(state, by, data);
    const history = state.history[prompt.id] ?? [];
    const from = prompt.past ?? history.length;
    const past = Math.max(0, Math.min(history.length, from + by));
    if (past === from) return state;
    const draft = prompt.past === null ? prompt.value : prompt.draft;
    const value = past === history.length ? draft : itemAt(history, past);
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
    const choices = isOn ? prompt.choices : (PROMPTS[prompt.id].complete?.(prompt.value, state, data) ?? []);
    if (choices.length === 0) return state;
    const choice = isOn ? (prompt.choice + by + choices.length) % choices.length : by > 0 ? 0 : choices.length - 1;
    const value = itemAt(choices, choice);
    // A single completion is accepted; the next Tab completes what follows it.
    const rest = choices.length === 1 ? { choices: [], choice: -1 } : { choices, choice };
    return changed(state, { ...withValue(prompt, value), ...rest }, data);
  },
} satisfies SomeHandlers;
