import { chosenPreset, loadConfig } from '../config/config-file.ts';
import { themeProblem } from '../present/theme.ts';
import { Keymap } from '../tui/keys/keymap.ts';
import { ownKeys } from '../tui/keys/own-keys.ts';

/** The keys of the chosen preset with the user's own, and the problems of all settings. */
export async function keymapOf(
  flag: string | undefined,
): Promise<{ keymap: Keymap; problems: readonly string[]; journal: string | null }> {
  const config = await loadConfig();
  const { preset, problem } = chosenPreset(flag, process.env, config);
  const own = ownKeys(preset, config);
  const problems = [
    ...[problem, themeProblem(process.env)].filter((one) => one !== null),
    ...config.problems,
    ...own.problems,
  ];
  return { keymap: new Keymap(own.keys), problems, journal: config.journal };
}
