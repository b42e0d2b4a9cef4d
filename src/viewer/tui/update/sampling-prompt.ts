import { parseForkSettings, SettingError, settingChoices, settingHelp } from '../questions/fork-settings.ts';
import type { PromptKind } from './prompt-kind.ts';

/** Sampling parameters and limits of the branches of a fork. */
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
  submit: (value) => ({ type: 'fork-settings', settings: parseForkSettings(value) }),
  complete: settingChoices,
};
