import { parseJson } from '../core/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn, stringIn } from '../core/json/value.ts';
import { itemAt } from '../core/lists/at.ts';
import { languageNamed } from './languages.ts';

export interface CallCode {
  code: string;
  language: string;
  /** Seconds. */
  timeout: number;
}

/** verl's default, in seconds. */
const DEFAULT_TIMEOUT = 30;

/**
 * The program in a call's arguments, for a tool that runs code.
 * @param limit seconds for the code of a call, replacing what the tool or the call says
 * @param isMapped the user said that the tool's text is code
 */
export function codeTool(
  {
    default_language: language = 'python',
    default_timeout: seconds = DEFAULT_TIMEOUT,
  }: { default_language?: string | undefined; default_timeout?: number | undefined },
  limit: number | undefined,
  isMapped: boolean,
) {
  return {
    language,
    argumentsOf(args: JsonValue | null): JsonObject | null {
      const code = soleCode(args, isMapped);
      const object = objectIn(objectOf(args));
      return code === null ? null : { ...object, code, ...(limit === undefined ? {} : { timeout: limit }) };
    },
    codeOf(args: JsonValue | null): CallCode | null {
      const code = soleCode(args, isMapped);
      if (code === null) return null;
      const { timeout, language: own } = objectIn(objectOf(args));
      const requested = Number(timeout);
      return {
        code,
        language: languageNamed(typeof own === 'string' && own !== '' ? own : language),
        timeout: limit ?? (timeout !== undefined && requested > 0 ? Math.min(requested, LONGEST) : seconds),
      };
    },
  };
}

/** Seconds; a sandbox refuses more. */
const LONGEST = 3600;

/** Arguments may be JSON encoded as a string. */
export function objectOf(args: JsonValue | null): JsonValue | undefined {
  if (typeof args !== 'string') return args ?? undefined;
  try {
    const value = parseJson(args);
    return isJsonObject(value) ? value : args;
  } catch {
    return args;
  }
}

const CODE_KEYS = [
  'code',
  'command',
  'cmd',
  'script',
  'source',
  'input',
  'program',
  'query',
  'python',
  'python_code',
  'cell',
];

/** The code among a tool's arguments: the text itself, a key that names code, or, for a tool that the user mapped, its only text. */
function soleCode(args: JsonValue | null, isMapped: boolean): string | null {
  const value = objectOf(args);
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return null;
  const key = CODE_KEYS.find((name) => value[name] !== undefined);
  if (key !== undefined) return typeof value[key] === 'string' ? value[key] : null;
  if (!isMapped) return null;
  const texts = Object.entries(value).filter(([name, one]) => typeof one === 'string' && !NO_CODE.has(name));
  return texts.length === 1 ? stringIn(itemAt(texts, 0)[1]) : null;
}

const NO_CODE = new Set(['language', 'lang', 'timeout', 'session_id', 'id']);
