// Finds the programs in a model's action: a tool call, a fenced block, or nothing but code.

import { parsePythonJson } from '../../core/json/parse.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { extractCode, fencedBlocks, incompleteBlocks } from '../datasets/extraction.ts';
import { isLanguage, type Language } from '../protocol.ts';

export interface SessionProgram {
  code: string;
  language: Language;
}

/** The programs, empty if the action is prose, or the fault in its tool call. */
export type SessionAction = { programs: SessionProgram[] } | { fault: string };

const TOOL_CALL = '<tool_call>';
const END_OF_THOUGHT = '</think>';
/** The argument names that tools use for code. */
const CODE_KEYS = ['code', 'command', 'cmd', 'script', 'source', 'input'];
/** Special tokens remain in the text that verl sends. */
const SPECIAL_TOKEN = /<\|[a-z_]+\|>|<\/?s>/g;

/** @param language of the session's problem, for code that does not name one */
export function readAction(content: string, language: Language): SessionAction {
  const thought = content.lastIndexOf(END_OF_THOUGHT);
  const acted = thought < 0 ? content : content.slice(thought + END_OF_THOUGHT.length);
  const text = acted.replace(SPECIAL_TOKEN, '').trim();
  if (text.includes(TOOL_CALL)) return readToolCalls(text, language);
  if (text.startsWith('{')) {
    const call = readToolCalls(`${TOOL_CALL}${text}`, language);
    if ('programs' in call) return call;
  }
  const blocks = [...fencedBlocks(text), ...incompleteBlocks(text)];
  if (blocks.length > 0) {
    const known = blocks.find((block) => block.language === language) ?? blocks[0];
    const own = known && isLanguage(known.language) ? known.language : language;
    return { programs: programsOf(extractCode(text, language), own) };
  }
  return { programs: looksLikeCode(text, language) ? programsOf(text, language) : [] };
}

/** An empty block parses as a fence that was never closed, with its own end as the code. */
const programsOf = (code: string, language: Language) => (/^\s*(?:```)?\s*$/.test(code) ? [] : [{ code, language }]);

function readToolCalls(text: string, language: Language): SessionAction {
  const programs: SessionProgram[] = [];
  for (const part of text.split(TOOL_CALL).slice(1)) {
    let call: unknown;
    try {
      call = parsePythonJson(part.split('</tool_call>', 1)[0]?.trim() ?? '');
    } catch (error) {
      return { fault: `the tool call is not JSON: ${errorMessage(error)}` };
    }
    const program = programOf(call, language);
    if (program === undefined) return { fault: `the tool call holds no ${CODE_KEYS[0]} argument` };
    programs.push(program);
  }
  return { programs };
}

function programOf(call: unknown, language: Language): SessionProgram | undefined {
  const { name, arguments: given, parameters } = (call ?? {}) as Record<string, unknown>;
  const args = actionArguments(given ?? parameters);
  const code = CODE_KEYS.map((key) => args[key]).find((value) => typeof value === 'string');
  if (typeof code !== 'string') return undefined;
  const named = [args.language, name].find((word) => typeof word === 'string' && isLanguage(word));
  return { code, language: named ?? language };
}

/** An object, or JSON text of one, as in the OpenAI form. */
function actionArguments(given: unknown): Record<string, unknown> {
  try {
    const value: unknown = typeof given === 'string' ? parsePythonJson(given) : given;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** No two parts of a pattern can match the same characters: the input is model-written text. */
const TARGET = String.raw`[A-Za-z_][\w.]*(?:\[[^\]]*\])*`;
const PYTHON_LINES = [
  /^[\s#@)\]}]/,
  /^import [\w.]+(?: as \w+)?(?:, *[\w.]+(?: as \w+)?)*$/,
  /^from [\w.]+ import [\w*(), ]+$/,
  /^(?:pass|break|continue|else:|try:|finally:|global [\w, ]+|del [\w.[\], ]+)$/,
  /^(?:return|yield)\b/,
  /^assert .*[=<>()]/,
  /^raise \w+(?:\(|$)/,
  new RegExp(String.raw`^${TARGET}(?:, *${TARGET})*(?:: [^=]*)?\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=[^=]`),
];
const BLOCK = /^(?:async |def |class |for |while |if |elif |except\b|with |match )/;
const CALL = /^[A-Za-z_][\w.]*\(/;

function isPythonLine(line: string): boolean {
  const code = (line.split(/\s#/, 1)[0] ?? '').trimEnd();
  if (BLOCK.test(code)) return code.endsWith(':') || (code.includes(': ') && code.endsWith(')'));
  if (CALL.test(code)) return '):,([{'.includes(code.slice(-1));
  return PYTHON_LINES.some((form) => form.test(code || line));
}

/** Prose is not run: it would return a syntax error that the model never made. */
function looksLikeCode(text: string, language: Language): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return false;
  if (language === 'bash') return true;
  if (language === 'python') return lines.every(isPythonLine);
  return lines.some((line) => /[;{}]\s*$|^\s*#include/.test(line));
}
