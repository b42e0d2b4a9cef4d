import { itemAt } from '../lists/at.ts';
import type { FoundMessage, MessageCall } from './build.ts';

const CALL = /<function=([^>\n]+)>([\s\S]*?)<\/function>/g;
const PARAMETER = /<parameter=([^>\n]+)>([\s\S]*?)<\/parameter>/g;
/** The headers that harnesses put above a result given in the user's role (SWE-agent, OpenHands). */
const RESULT = /^\s*(?:OBSERVATION:|EXECUTION RESULT of \[)/i;

/**
 * Calls in a reply's text as `<function=NAME><parameter=KEY>VALUE</parameter></function>`, from harnesses that give the
 * results in the user's role. A conversation without a result after such a call only mentions them.
 */
export function layXmlCalls(messages: FoundMessage[]): void {
  const textOf = (at: number): string => messages[at]?.texts.map(({ text }) => text).join('\n') ?? '';
  const isResult = (at: number): boolean =>
    messages[at]?.role === 'tool' || (messages[at]?.role === 'user' && RESULT.test(textOf(at)));
  const made = messages.map(({ role, calls }, at) =>
    role === 'assistant' && calls === undefined ? xmlCalls(textOf(at)) : [],
  );
  const behind = [...made.keys()].filter((at) => made[at - 1]?.length === 1 && messages[at]?.role === 'user');
  const marked = behind.filter(isResult);
  if (marked.length === 0 && !made.some((calls, at) => calls.length > 0 && isResult(at + 1))) return;
  // Some results are sentences of the harness without a header: no human speaks in between.
  const all = new Set(marked.length * 2 > behind.length ? behind : marked);
  for (const [at, calls] of made.entries()) {
    if (calls.length === 0) continue;
    itemAt(messages, at).calls = calls;
    if (isResult(at + 1) || all.has(at + 1))
      Object.assign(itemAt(messages, at + 1), { isResult: true, trained: false });
  }
}

function xmlCalls(text: string): MessageCall[] {
  return [...text.matchAll(CALL)].map(([raw, name, body]) => ({
    id: null,
    name: name!.trim(),
    arguments: Object.fromEntries(
      [...body!.matchAll(PARAMETER)].map(([, key, value]) => [key!.trim(), value!.replace(/^\n|\n$/g, '')]),
    ),
    raw,
  }));
}
