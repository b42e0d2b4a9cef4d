import type { PresetName } from './preset-names.ts';

/** Keys that the user assigns to a command, and where that is written. */
export interface OwnKeys {
  id: string;
  /** `config.yaml:3`, for messages. */
  at: string;
  keys: readonly { sequence: string; at: string }[];
}

export interface Config {
  preset: PresetName | null;
  keys: readonly OwnKeys[];
  /** The folder for results: `beside` the dump, or a path; null: the state directory. */
  journal: string | null;
  /** Its mistakes: file, line, what to do. Everything else still applies. */
  problems: readonly string[];
  /** The user's own formats, if any. */
  formats?: readonly OwnFormat[];
  /** The user's own chat templates and error patterns, checked by the code that uses them. */
  chatTemplates?: readonly Described[];
  errors?: readonly Described[];
}

/** A setting that other code parses: its values, and the line of each. */
export interface Described {
  name: string;
  at: string;
  value: unknown;
  /** The line of a value, by its keys. */
  lineOf(...keys: (string | number)[]): string;
}

/** A format that the user describes: the rollout's words, and where they are in a record. */
export interface OwnFormat {
  name: string;
  /** FILE:LINE of its name. */
  at: string;
  places: readonly { word: string; place: string; at: string }[];
}
