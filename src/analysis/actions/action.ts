/** The action that a recorded call asked for, in words that are the same for all agents. Paths are as the agent wrote them. */
export type CallAction =
  | ShellAction
  /** Lines of a file, as Claude Code's Read shows them. `offset` counts from 1. */
  | { kind: 'read'; path: string; offset: number | null; limit: number | null }
  | { kind: 'write'; path: string; content: string }
  /** Either all edits apply, or none does. */
  | { kind: 'edit'; path: string; edits: readonly TextEdit[] }
  | { kind: 'search'; tool: 'Grep' | 'Glob'; options: SearchOptions }
  | EditorAction
  /** SWE-agent's window over the open file. */
  | { kind: 'window'; verb: string; words: readonly string[]; text: string | null }
  /** The envelope of Codex' apply_patch. */
  | { kind: 'patch'; text: string; workdir: string | null }
  /** aider's SEARCH/REPLACE blocks. */
  | { kind: 'blocks'; blocks: readonly SearchReplace[] }
  | NoAction;

/** Not run in a container: a browser, a question to a person, keystrokes, a tool that nobody knows. */
export interface NoAction {
  kind: 'none';
  reason: string;
  /** The tool may have changed files, or the state of a shell. */
  mayChange: boolean;
  /** The program that it ran. */
  code: string | null;
}

interface ShellAction {
  kind: 'shell';
  command: string;
  /** The directory that this call names. */
  workdir: string | null;
  /** Seconds that this call names. */
  timeout: number | null;
  /** Input to a running program, such as `C-c`, instead of a command. */
  isInput: boolean;
}

export interface TextEdit {
  old: string;
  new: string;
  all: boolean;
}

/** str_replace_editor. SWE-agent's writes tabs expanded; OpenHands' keeps them. */
export interface EditorAction {
  kind: 'editor';
  flavour: 'openhands' | 'swe-agent';
  command: string;
  path: string;
  fileText: string | null;
  old: string | null;
  new: string | null;
  insertLine: number | null;
  viewRange: readonly [number, number] | null;
}

export interface SearchReplace {
  path: string;
  search: string;
  replace: string;
}

export type SearchOptions = Readonly<Record<string, string | number | boolean>>;

/** A call and its result, as recorded. */
export interface RecordedAction {
  /** Counted from 0 over the rollout. */
  call: number;
  turn: number;
  name: string;
  action: CallAction;
  /** The text of the result; null if none was recorded. */
  result: string | null;
  resultTurn: number | null;
}
