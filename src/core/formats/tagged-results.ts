import { isJsonObject } from '../json/value.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import type { FoundMessage } from './build.ts';
import { parsed } from './values.ts';

const PAIR = /<tool_response>\s*([\s\S]*?)\s*<\/tool_response>\s*/g;
/** The text that a chat template writes around results: control tokens and the names of roles. */
const TEMPLATE =
  /^\s*(?:(?:<\|[^|<>\s]{1,40}\|>|\[\/?INST\]|<\/?s>|<(?:start|end)_of_turn>|user|assistant|tool|model)\s*)*$/;

/**
 * Messages with the results of tools apart. A message whose whole text is `<tool_response>…</tool_response>` becomes one for each pair
 * (Hermes writes the results of parallel calls into one). Data sets without a role for results give them as the user, and dumps of a
 * tokenizer's input have the template's headers around them.
 */
export function withTaggedResults(messages: readonly FoundMessage[]): FoundMessage[] {
  let isAsked = false;
  return messages.flatMap((message) => {
    const results = taggedResults(message, isAsked);
    if (results === null) isAsked = message.texts.some(({ text }) => text.includes('<tool_call>'));
    return results ?? [message];
  });
}

/** @returns null for a message without results */
function taggedResults(message: FoundMessage, isAsked: boolean): FoundMessage[] | null {
  const [only, further] = message.texts;
  if (only === undefined || further !== undefined || !only.text.includes('<tool_response>')) return null;
  if (message.role !== 'tool' && !((message.role === 'user' || message.role === 'environment') && isAsked)) return null;
  const pairs = [...only.text.matchAll(PAIR)];
  const [first, last] = [pairs[0], pairs.at(-1)];
  if (first === undefined || last === undefined || !TEMPLATE.test(only.text.replaceAll(PAIR, ''))) return null;
  return pairs.map((pair, at): FoundMessage => {
    const start = pair === first ? 0 : pair.index;
    const end = pair === last ? only.text.length : (pairs[at + 1]?.index ?? only.text.length);
    const inner = pair[1] ?? '';
    const outcome = message.outcome ?? taggedOutcome(inner);
    return {
      ...message,
      isResult: true,
      trained: false,
      texts: [{ ...only, text: only.text.slice(start, end), within: { text: only.text, start } }],
      ...(outcome === undefined ? {} : { outcome }),
    };
  });
}

/** Hermes writes `{tool_call_id, name, content}`, where the content is what the tool gave. */
function taggedOutcome(inner: string): FoundMessage['outcome'] {
  const value = parsed(inner);
  if (!isJsonObject(value)) return undefined;
  const content = typeof value.content === 'string' ? parsed(value.content) : value.content;
  return isJsonObject(content) ? outcomeIn(content) : undefined;
}
