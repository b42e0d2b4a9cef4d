import { isJsonObject } from '../json/value.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import type { FoundMessage } from './build.ts';
import { parsed } from './values.ts';

const PAIR = /<tool_response>\s*([\s\S]*?)\s*<\/tool_response>\s*/g;

/**
 * The results of a message whose whole text is `<tool_response>…</tool_response>`, a message for each pair (Hermes writes the results of
 * parallel calls into one). Data sets without a role for results give them as the user.
 * @param before the message before it
 */
export function taggedResults(message: FoundMessage, before: FoundMessage | undefined): FoundMessage[] {
  const [only, further] = message.texts;
  if (only === undefined || further !== undefined || !only.text.trimStart().startsWith('<tool_response>'))
    return [message];
  const isAsked = before?.texts.some(({ text }) => text.includes('<tool_call>')) === true;
  if (message.role !== 'tool' && !(message.role === 'user' && isAsked)) return [message];
  const pairs = [...only.text.matchAll(PAIR)];
  const covered = pairs.reduce((sum, [raw]) => sum + raw.length, 0);
  if (covered < only.text.trimStart().length) return [message];
  const lead = only.text.length - only.text.trimStart().length;
  return pairs.map(([raw, inner = ''], at): FoundMessage => {
    const start = at === 0 ? 0 : (pairs[at]?.index ?? 0);
    const end = (pairs[at]?.index ?? lead) + raw.length;
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
