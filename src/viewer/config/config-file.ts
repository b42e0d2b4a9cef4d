import { readFileSync, statSync } from 'node:fs';
import { configFiles } from '../../core/files/places.ts';
import { errorCode, errorMessage } from '../../core/text/thrown.ts';
import type { Config } from './config.ts';
import { isPreset, PRESET_NAMES, type PresetName } from './preset-names.ts';

const MAX_BYTES = 1 << 20;

/** The user's settings, from the first place that exists. It never throws: a mistake invalidates only its own line. */
export async function loadConfig(paths: readonly string[] = configFiles()): Promise<Config> {
  for (const path of paths) {
    let text: string;
    try {
      const found = statSync(path);
      // A pipe would block the program.
      if (!found.isFile()) throw new Error('it is not a file');
      if (found.size > MAX_BYTES) throw new Error('it is too long for settings');
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      return {
        preset: null,
        keys: [],
        journal: null,
        problems: [`${path}: cannot be read (${errorMessage(error)})`],
      };
    }
    // Without a settings file, zod and yaml are not loaded.
    const { parseConfig } = await import('./parse-config.ts');
    return parseConfig(text, path);
  }
  return { preset: null, keys: [], journal: null, problems: [] };
}

/** The chosen preset: from a flag, the environment, the settings; else vim. */
export function chosenPreset(
  flag: string | undefined,
  env: Record<string, string | undefined>,
  config: Config,
): { preset: PresetName; problem: string | null } {
  const wanted = flag ?? (env.ROLLOUT_VIEWER_KEYS || undefined);
  if (wanted === undefined) return { preset: config.preset ?? 'vim', problem: null };
  if (isPreset(wanted)) return { preset: wanted, problem: null };
  return {
    preset: config.preset ?? 'vim',
    problem: `ROLLOUT_VIEWER_KEYS=${wanted}: unknown preset; known: ${PRESET_NAMES.join(', ')}`,
  };
}
