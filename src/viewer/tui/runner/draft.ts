import { parseJson } from '../../../core/json/parse.ts';
import { printJson } from '../../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../../core/json/value.ts';
import { itemAt } from '../../../core/lists/at.ts';
import type { PlannedCall } from '../../../replay/index.ts';

const ENDING: Record<string, string> = {
  python: 'py',
  javascript: 'js',
  typescript: 'ts',
  bash: 'sh',
  cpp: 'cpp',
  go: 'go',
};

export interface Draft {
  text: string;
  ending: string;
  /** @throws Error that says what is wrong with it */
  read(text: string): JsonValue;
}

/** Only the code if the arguments contain it verbatim, else the arguments as JSON. */
export function draftOf({ code }: PlannedCall, args: JsonValue | null): Draft {
  const ending = ENDING[code?.language ?? ''] ?? 'txt';
  if (typeof args === 'string') return { text: args, ending, read: (text) => text };
  if (code !== null && isJsonObject(args ?? undefined)) {
    const object = args as { [key: string]: JsonValue };
    const keys = Object.keys(object).filter((key) => object[key] === code.code);
    if (keys.length === 1) return { text: code.code, ending, read: (text) => ({ ...object, [itemAt(keys, 0)]: text }) };
  }
  return { text: `${printJson(args, 2)}\n`, ending: 'json', read: (text) => parseJson(text) };
}
