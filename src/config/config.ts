import type { PresetName } from './presets.ts';

/** Keys that the user gives to a command, and where that is written. */
export interface OwnKeys {
  id: string;
  /** `config.yaml:3`, for messages. */
  at: string;
  keys: readonly { sequence: string; at: string }[];
}

export interface Config {
  preset: PresetName | null;
  keys: readonly OwnKeys[];
  /** The folder of results: `beside` the dump, or a path; null: the state directory. */
  journal: string | null;
  /** Its mistakes: file, line, what to do. The rest still counts. */
  problems: readonly string[];
}
