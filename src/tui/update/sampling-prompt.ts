import type { State } from '../state/state.ts';
import { forkLine, parseForkSettings, SettingError, settingChoices, settingHelp } from './fork-settings.ts';
import type { PromptKind } from './prompt-kinds.ts';

/** What the branches of a fork are sampled with. */
export const samplingPrompt: PromptKind = {
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
  submit: (state, value) => withSettings(state, value),
  complete: settingChoices,
};

function withSettings(state: State, value: string): State {
  const fork = parseForkSettings(value);
  const { question } = state.replay;
  const asked = question?.kind === 'fork' ? { ...question, settings: fork } : question;
  return { ...state, replay: { ...state.replay, fork, question: asked } };
}

export const samplingValue = (state: State): string => forkLine(state.replay.fork);
