import type { ReplayStart } from '../state/replay.ts';

/** How calls are run again and rollouts continued; see the flags. */
export interface ReplaySettings {
  /** The path that was opened, for the journal; null for stdin. */
  path: string | null;
  sandbox: string;
  /** Use --sandbox pyodide even if no wall can be put around it. */
  yesWeak?: boolean | undefined;
  tools: string | undefined;
  /** Tools whose code runs as a given language. */
  mapped: Readonly<Record<string, string>>;
  /** Seconds for a call, replacing its tool's own limit. */
  timeout: number | undefined;
  /** Normalising rules that are disabled, by name. */
  exact: readonly string[] | undefined;
  journal: string | undefined;
  /** The options that say how records are read, as words of a command line. */
  words: readonly string[];
  /** The interpreter for the user's own classes, and where their imports are resolved. */
  python: string | undefined;
  pythonPath: readonly string[] | undefined;
  start: ReplayStart;
}
