import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { outcomeIn, type RecordedOutcome } from '../rollout/outcome.ts';
import type { FoundMessage, MessageText } from './build.ts';
import { contentText } from './content-text.ts';
import { callsOf, chatMessage, roleOfMessage } from './openai-message.ts';
import { idOf, objectsOf } from './values.ts';

/**
 * A message whose blocks may be results (Anthropic's `tool_result`, Gemini's `functionResponse`). Results become
 * separate tool turns, and text next to them a user turn.
 */
export function withResults(message: JsonObject, at: string): FoundMessage[] {
  const key = Array.isArray(message.content) ? 'content' : 'parts';
  const role = roleOfMessage(message.role);
  if (role === 'assistant' && objectsOf(message.content).some(isResultBlock)) return repliesOf(message, at);
  const results: FoundMessage[] = [];
  const said: MessageText[] = [];
  for (const [i, block] of objectsOf(message[key]).entries()) {
    const place = `${at}/${key}/${i}`;
    const { functionResponse: answer } = block;
    if (isResultBlock(block)) results.push(resultOf(block, place));
    else if (isJsonObject(answer)) {
      const where = `${place}/functionResponse/response`;
      results.push(
        resultMessage(idOf(answer.id), where, responseText(answer.response), outcomeOfResponse(answer.response)),
      );
    } else said.push({ pointer: `${place}/text`, text: contentText(block) });
  }
  const texts = said.filter(({ text }) => text !== '');
  if (results.length === 0 && (role !== 'user' || texts.length < 2)) return [chatMessage(message, at)];
  return texts.length === 0 ? results : [...results, { role, texts }];
}

/**
 * A reply in blocks. A tool run by the server answers in the middle of it (`web_search_tool_result`), and the model
 * continues after that.
 */
export function repliesOf(message: JsonObject, at: string): FoundMessage[] {
  const { content } = message;
  if (!Array.isArray(content))
    return [{ role: 'assistant', texts: blockTexts([content ?? null], `${at}/content`, null) }];
  const found: FoundMessage[] = [];
  let from = 0;
  const reply = (to: number) => {
    const blocks = content.slice(from, to);
    const texts = blockTexts(blocks, `${at}/content`, from);
    const calls = callsOf(from === 0 ? { ...message, content: blocks } : { content: blocks });
    const isEmpty = texts.length === 0 && calls.length === 0;
    if (!isEmpty || content.length === blocks.length)
      found.push({ role: 'assistant', texts, ...(calls.length > 0 ? { calls } : {}) });
  };
  for (const [i, block] of content.entries()) {
    if (!isJsonObject(block) || !isResultBlock(block)) continue;
    reply(i);
    found.push(resultOf(block, `${at}/content/${i}`));
    from = i + 1;
  }
  reply(content.length);
  return found;
}

/** @param from the index of the first block in its list; null if the content is not a list */
const blockTexts = (blocks: readonly JsonValue[], at: string, from: number | null): MessageText[] =>
  blocks
    .map((block, i): MessageText => {
      const place = from === null ? at : `${at}/${from + i}`;
      if (!isJsonObject(block)) return { pointer: place, text: typeof block === 'string' ? block : '' };
      return block.type === 'thinking' && typeof block.thinking === 'string'
        ? { pointer: `${place}/thinking`, text: block.thinking, isThought: true }
        : { pointer: `${place}/text`, text: contentText(block) };
    })
    .filter(({ text }) => text !== '');

/** `tool_result`, and the results of tools run by the server: `web_search_tool_result`, `mcp_tool_result`, … */
const isResultBlock = ({ type }: JsonObject): boolean => typeof type === 'string' && /(?:^|_)tool_result$/.test(type);

/** A result without text (found pages, an error code) is shown as recorded. */
function resultOf(block: JsonObject, at: string): FoundMessage {
  const { type, tool_use_id, content } = block;
  const text = contentText(content);
  const isOwnShape = type !== 'tool_result' && text === '' && content !== undefined;
  return resultMessage(
    idOf(tool_use_id),
    `${at}/content`,
    isOwnShape ? printJson(content) : text,
    outcomeIn(block, serverOutcome(content)),
  );
}

/** A tool run by the server records its failure inside the content: an `error_code`, or the return code of a command. */
const serverOutcome = (content: JsonValue | undefined): JsonObject | null =>
  !isJsonObject(content)
    ? null
    : typeof content.error_code === 'string'
      ? { error: content.error_code }
      : { return_code: content.return_code ?? null };

/** A tool's answer. @param answers the id of its call, if it names one */
export const resultMessage = (
  answers: string | null,
  pointer: string,
  text: string,
  outcome?: RecordedOutcome,
): FoundMessage => ({
  role: 'tool',
  trained: false,
  answers,
  texts: [{ pointer, text }],
  outcome,
});

/** Gemini's API replaces the output with an `error`. */
export const outcomeOfResponse = (response: JsonValue | undefined): RecordedOutcome | undefined =>
  isJsonObject(response) && response.output === undefined ? outcomeIn({ error: response.error ?? null }) : undefined;

/** The answer of a Gemini function: `{output}` or `{error}`, or a tool-specific object. */
export function responseText(response: JsonValue | undefined): string {
  if (!isJsonObject(response)) return contentText(response);
  return contentText(response.output ?? response.error) || printJson(response);
}
