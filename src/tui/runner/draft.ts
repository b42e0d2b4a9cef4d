import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '../../json/parse.ts';
import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonValue } from '../../json/value.ts';
import type { PlannedCall } from '../../replay/index.ts';

const ENDING: Record<string, string> = {
  python: 'py',
  javascript: 'js',
  typescript: 'ts',
  bash: 'sh',
  cpp: 'cpp',
  go: 'go',
};

export interface Draft<Value = JsonValue> {
  text: string;
  ending: string;
  /** @throws Error that says what is wrong with it */
  read(text: string): Value;
}

/** The code alone where the arguments hold it as it is, else the arguments as JSON. */
export function draftOf({ code }: PlannedCall, args: JsonValue | null): Draft {
  const ending = ENDING[code?.language ?? ''] ?? 'txt';
  if (typeof args === 'string') return { text: args, ending, read: (text) => text };
  if (code !== null && isJsonObject(args ?? undefined)) {
    const object = args as { [key: string]: JsonValue };
    const keys = Object.keys(object).filter((key) => object[key] === code.code);
    if (keys.length === 1) return { text: code.code, ending, read: (text) => ({ ...object, [keys[0]!]: text }) };
  }
  return { text: `${printJson(args, 2)}\n`, ending: 'json', read: (text) => parseJson(text) };
}

/** What a turn says. */
export const turnDraft = (text: string): Draft<string> => ({ text, ending: 'md', read: (edited) => edited });

/** Opens $VISUAL or $EDITOR on the draft; the terminal is lent meanwhile. @returns the new arguments, null when nothing was changed */
export function editDraft<Value>(
  draft: Draft<Value>,
  lend: <T>(use: () => T) => T,
  env: NodeJS.ProcessEnv,
): Value | null {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-edit-'));
  const path = join(directory, `call.${draft.ending}`);
  try {
    writeFileSync(path, draft.text, { mode: 0o600 });
    const editor = env.VISUAL || env.EDITOR || 'vi';
    // $EDITOR may hold arguments (`code --wait`), so a shell takes it apart; the path goes beside it, never into it.
    const { status, error } = lend(() =>
      spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' }),
    );
    if (error !== undefined) throw error;
    if (status !== 0)
      throw new Error(
        `${editor} ${status === null ? 'was interrupted' : `ended with exit status ${status}`}; nothing is changed`,
      );
    const text = readFileSync(path, 'utf8');
    if (text === draft.text) return null;
    // Editors end a file with a newline that the code did not have.
    return draft.read(!draft.text.endsWith('\n') && text.endsWith('\n') ? text.slice(0, -1) : text);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
