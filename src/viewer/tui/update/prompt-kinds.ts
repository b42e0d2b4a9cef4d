import { LITERAL } from '../../../analysis/text-search.ts';
import { isHttpUrl } from '../../../core/http/model-url.ts';
import { type HelpEntry, helpEntries } from '../keys/help.ts';
import { keyLabel } from '../keys/keymap.ts';
import { parseForkSettings, SettingError, settingChoices, settingHelp } from '../questions/fork-settings.ts';
import { markedRows } from '../rows/marked-rows.ts';
import type { SubjectOf } from '../state/page.ts';
import type { PromptId } from '../state/prompt.ts';
import type { LiveModel } from '../state/replay.ts';
import { commandPrompt } from './command-prompt.ts';
import { filterPrompt } from './filter-prompt.ts';
import { labelPrompt, notePrompt } from './label.ts';
import type { PromptKind } from './prompt-kind.ts';
import { rewardPrompt } from './reward-prompt.ts';
import { patternProblem, searchPrompt } from './search-prompt.ts';
import { setPrompt } from './sets.ts';
import { worldPrompt } from './world-prompt.ts';

/** The command whose key was typed, else one with this name, else the first. */
function bestOf(entries: readonly HelpEntry[], value: string): number {
  const byKey = entries.findIndex(({ keys }) => keys.includes(value.trim()));
  const byName = entries.findIndex(({ command }) => command.title.startsWith(value.trim().toLowerCase()));
  return value.trim() === '' ? 0 : Math.max(0, byKey >= 0 ? byKey : byName);
}

/** `?`: typing narrows down the commands, Enter runs the one under the cursor. */
const helpPrompt: PromptKind = {
  sign: '? ',
  hint: (_value, { help }) =>
    `type to find ${help?.begun ? `what follows ${keyLabel(help.begun)}` : 'a command'}, ↑ ↓ choose, Enter runs it, Esc closes`,
  check: (value, state, data) => {
    const entry = helpEntries(state, data, value)[state.help?.cursor ?? 0];
    if (entry === undefined) return { message: 'no such command', at: 0 };
    return entry.reason === null ? null : { message: entry.reason, at: 0 };
  },
  // The key that opened it closes it.
  change: (state, value, data) =>
    value === '?'
      ? { ...state, help: null, prompt: null }
      : { ...state, help: { cursor: bestOf(helpEntries(state, data, value), value), begun: state.help?.begun ?? '' } },
  submit: (value, state, data) => {
    const entry = helpEntries(state, data, value)[state.help?.cursor ?? 0];
    return entry === undefined ? null : { type: 'command', id: entry.command.id };
  },
  move: (state, by, data) => {
    const { prompt, help } = state;
    const last = helpEntries(state, data, prompt?.value ?? '').length - 1;
    const cursor = Math.max(0, Math.min(last, (help?.cursor ?? 0) + by));
    const begun = help?.begun ?? '';
    return { ...state, prompt: prompt && { ...prompt, error: null }, help: { cursor, begun } };
  },
};

const ROLES = ['system', 'user', 'assistant', 'tool'];

/** `@tool NameError` searches turns with that role, `@gts 42` a field. */
function subjectOf(value: string): SubjectOf<'hits'> {
  const [, where = null, rest = value] = /^@(\S+)\s+(.+)$/s.exec(value) ?? [];
  if (where === null) return { kind: 'hits', pattern: value, roles: null, field: null };
  const isRole = ROLES.includes(where);
  return { kind: 'hits', pattern: rest, roles: isRole ? [where] : null, field: isRole ? null : where };
}

/** `g/`: lists the hits in all rollouts of the list. */
const hitsPrompt: PromptKind = {
  sign: 'g/',
  hint: (value) =>
    value === ''
      ? `in all rollouts of the list; @tool before it: in turns of tools, @gts: in that field; ${LITERAL} before plain text`
      : 'Enter lists the hits',
  check: (value) => patternProblem(subjectOf(value).pattern),
  submit: (value) => (value === '' ? null : { type: 'page-open', subject: subjectOf(value) }),
  complete: (value) =>
    [...ROLES, 'gts', 'status', 'uid'].map((name) => `@${name} `).filter((one) => one.startsWith(value)),
};

const liveModel = (value: string): LiveModel => {
  const [, url = '', name = ''] = /^\s*(\S*)\s*(.*?)\s*$/.exec(value) ?? [];
  return { url, name };
};

/** The live model for a fork, if no flag names one. */
const modelPrompt: PromptKind = {
  sign: 'model ',
  hint: () => 'OpenAI-compatible server, then the model: http://127.0.0.1:8000/v1 qwen3',
  check: (value) => {
    const { url, name } = liveModel(value);
    if (!isHttpUrl(url)) return { message: 'not an http(s) address', at: 0 };
    return name === '' ? { message: "the model's name is missing", at: value.length } : null;
  },
  submit: (value) => ({ type: 'fork-ask', model: liveModel(value) }),
};

/** Sampling parameters and limits of the branches of a fork. */
const samplingPrompt: PromptKind = {
  sign: 'sampling ',
  hint: settingHelp,
  check: (value) => {
    try {
      parseForkSettings(value);
      return null;
    } catch (error) {
      if (error instanceof SettingError) return { message: error.message, at: error.at };
      throw error;
    }
  },
  submit: (value) => ({ type: 'fork-settings', settings: parseForkSettings(value) }),
  complete: settingChoices,
};

/** `|`: a shell command that reads what is shown. */
const pipePrompt: PromptKind = {
  sign: '|',
  hint: (_value, state, data) => {
    const isJson = state.display.view === 'json' || state.display.view === 'fields';
    const marked = markedRows(state, data)?.length ?? 0;
    const what = marked > 0 ? `the ${marked} marked rollouts` : isJson ? 'the record' : 'this rollout';
    return isJson ? `a command that reads ${what} as JSON: jq .score` : `a command that reads ${what} as text: wc -w`;
  },
  submit: (command) => ({ type: 'pipe', command }),
};

/** The command that distinguishes the states of a rollout. */
const bisectPrompt: PromptKind = {
  sign: 'which call changes ',
  hint: () => 'a command such as: pytest -q tests/x.py; it runs in copies of the states, by halving',
  check: (value) => (value.trim() === '' ? { message: 'type a command that distinguishes the states', at: 0 } : null),
  submit: (value) => ({ type: 'bisect', command: value.trim() }),
};

/** The command of the agent that continues a rollout. */
const agentPrompt: PromptKind = {
  sign: 'agent ',
  hint: () => "the command of the agent that made the rollout, such as: python agent.py; empty: this program's loop",
  submit: (value) => ({ type: 'fork-agent', command: value.trim() === '' ? null : value.trim() }),
};

/** A new prompt needs a file, and a line here. */
export const PROMPTS: Readonly<Record<PromptId, PromptKind>> = {
  command: commandPrompt,
  filter: filterPrompt,
  help: helpPrompt,
  model: modelPrompt,
  agent: agentPrompt,
  sampling: samplingPrompt,
  reward: rewardPrompt,
  search: searchPrompt,
  world: worldPrompt,
  bisect: bisectPrompt,
  hits: hitsPrompt,
  pipe: pipePrompt,
  label: labelPrompt,
  note: notePrompt,
  set: setPrompt,
};
