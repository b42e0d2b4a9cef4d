import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringIn } from '../json/value.ts';
import { outcomeIn, type RecordedOutcome } from '../rollout/outcome.ts';
import { responseText, resultMessage } from './blocks.ts';
import type { FoundMessage, MessageCall, MessageText } from './build.ts';
import { contentText } from './content-text.ts';
import { messageCall, roleOfMessage } from './openai-message.ts';
import { idOf, objectsOf, parsed } from './values.ts';

/** A piece of a message: text, reasoning, a call, or the answer to one. */
type MessagePiece =
  | { kind: 'text' | 'thought'; at: string; text: string }
  | { kind: 'call'; call: MessageCall }
  | { kind: 'result'; at: string; text: string; answers: string | null; outcome: RecordedOutcome | undefined };

/**
 * A message in any dialect that SDKs and tracers write: OpenAI's, Anthropic's, Gemini's, Bedrock's, the parts of OpenTelemetry's
 * conventions, LangChain's, OpenInference's, Pydantic AI's, the AI SDK's. Results among its blocks become tool turns.
 */
export function anyMessages(value: JsonObject, at: string): FoundMessage[] {
  const { message, place, role } = unwrappedMessage(value, at);
  const said: FoundMessage[] = [];
  let open: FoundMessage | null = null;
  const current = (): FoundMessage => {
    open ??= { role, texts: [], ...(role === 'assistant' ? {} : { trained: false }) };
    return open;
  };
  const close = () => {
    if (open !== null) said.push(open);
    open = null;
  };
  for (const piece of messagePieces(message, place)) {
    if (piece.kind === 'result') {
      close();
      said.push(resultMessage(piece.answers, piece.at, piece.text, piece.outcome));
    } else if (piece.kind === 'call') {
      const one = current();
      one.calls = [...(one.calls ?? []), piece.call];
    } else if (piece.text !== '') {
      const text: MessageText = { pointer: piece.at, text: piece.text };
      current().texts.push(piece.kind === 'thought' ? { ...text, isThought: true } : text);
    }
  }
  close();
  if (said.length === 0) said.push({ role, texts: [], ...(role === 'assistant' ? {} : { trained: false }) });
  if (role !== 'tool') return said;
  const answers = answerId(message);
  const outcome = outcomeIn(message, message.extra, message.metadata, message.artifact);
  return said.map((one) =>
    one.role === 'tool' && one.answers === undefined ? { ...one, answers, ...(outcome && { outcome }) } : one,
  );
}

const FOREIGN = [
  'toolUse',
  'toolResult',
  'reasoningContent',
  'function_call',
  'function_response',
  'functionCall',
  'functionResponse',
  'toolCall',
  'inlineData',
  'inline_data',
];

/** Whether a message has blocks that neither OpenAI's nor Anthropic's API knows. */
export const isForeign = (message: JsonObject): boolean =>
  Array.isArray(message.toolCalls) ||
  typeof message.toolCallId === 'string' ||
  objectsOf(message.content ?? message.parts).some(
    (block) =>
      FOREIGN.some((key) => isJsonObject(block[key])) ||
      /^(?:tool-(?:call|result)|tool_call_response|toolRequest|toolResponse)$/.test(String(block.type)) ||
      (isJsonObject(block.image) && block.image.source !== undefined),
  );

/** Each message of a list. @param at the JSON pointer of the list */
export const messagesOf = (list: readonly JsonObject[], at: string): FoundMessage[] =>
  list.flatMap((one, i) => anyMessages(one, `${at}/${i}`));

/** LangChain's `{type, data}` and `{lc, id, kwargs}`, and OpenInference's `{message}` hold the message deeper. */
function unwrappedMessage(value: JsonObject, at: string): { message: JsonObject; place: string; role: string } {
  const { data, kwargs, message, id, type } = value;
  if (isJsonObject(kwargs) && Array.isArray(id)) {
    const named = String(id.at(-1)).replace(/Message(?:Chunk)?$/, '');
    return { message: kwargs, place: `${at}/kwargs`, role: roleIn(kwargs.role ?? kwargs.type ?? named) };
  }
  if (isJsonObject(data) && typeof type === 'string' && value.content === undefined)
    return { message: data, place: `${at}/data`, role: roleIn(data.role ?? data.type ?? type) };
  if (isJsonObject(message) && value.content === undefined)
    return { message, place: `${at}/message`, role: roleIn(message.role ?? value.role ?? message.type) };
  return { message: value, place: at, role: roleIn(value.role ?? value.from ?? value.type ?? value.author) };
}

/** `AIMessageChunk`, `HumanMessage`, `Human`, `MessageRole.USER`, `tool-response` */
function roleIn(value: JsonValue | undefined): string {
  const name = idOf(value ?? null);
  if (name === null) return 'unknown';
  const word = name.replace(/^.*\./, '').replace(/Message(?:Chunk)?$/, '');
  const lower = /^[A-Z]/.test(word) ? word.toLowerCase() : word;
  return ROLES[lower] ?? roleOfMessage(lower);
}

const ROLES: Record<string, string> = {
  'tool-response': 'tool',
  'tool-call': 'assistant',
  developer: 'system',
  message: 'assistant',
};

function messagePieces(message: JsonObject, at: string): MessagePiece[] {
  const pieces: MessagePiece[] = [];
  for (const key of ['reasoning_content', 'reasoningContent', 'reasoning', 'thinking', 'thought'])
    if (typeof message[key] === 'string' && message[key] !== '') {
      pieces.push({ kind: 'thought', at: `${at}/${key}`, text: message[key] });
      break;
    }
  const key =
    ['content', 'parts', 'contents', 'blocks', 'value', 'text'].find((one) => !isBlankField(message[one])) ?? 'content';
  const content = message[key];
  if (Array.isArray(content))
    for (const [i, block] of content.entries()) pieces.push(...piecesOfBlock(block, `${at}/${key}/${i}`));
  else if (content !== undefined) pieces.push(...piecesOfBlock(content, `${at}/${key}`));
  if (typeof message.refusal === 'string') pieces.push({ kind: 'text', at: `${at}/refusal`, text: message.refusal });
  const hasCalls = pieces.some(({ kind }) => kind === 'call');
  for (const list of hasCalls ? [] : [message.tool_calls, message.toolCalls, message.invalid_tool_calls])
    for (const one of objectList(list)) {
      const call = messageCall(isJsonObject(one.tool_call) ? one.tool_call : one);
      // LangChain's word on arguments that are no JSON.
      const isInvalid = one.type === 'invalid_tool_call' && typeof one.error === 'string';
      pieces.push({ kind: 'call', call: isInvalid ? { ...call, error: stringIn(one.error) } : call });
    }
  if (isJsonObject(message.function_call) && !pieces.some(({ kind }) => kind === 'call'))
    pieces.push({ kind: 'call', call: messageCall(message.function_call) });
  return pieces;
}

const isBlankField = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

const objectList = (value: JsonValue | undefined): JsonObject[] =>
  objectsOf(typeof value === 'string' ? parsed(value) : value).map((one) => one);

const CALL = /^(?:(?:server_|mcp_|builtin[-_])?tool[-_](?:call|use)|toolCall|function_call)$/;
const RESULT =
  /^(?:(?:\w+_)?tool_(?:result|call_response|response)|(?:builtin-)?tool-(?:result|return|response)|function_(?:response|call_output))$/;
const THOUGHT = /^(?:reasoning|thinking|think|thought)$/;

function piecesOfBlock(block: JsonValue, at: string): MessagePiece[] {
  if (typeof block === 'string') return [{ kind: 'text', at, text: block }];
  if (!isJsonObject(block)) return [];
  if (isJsonObject(block.message_content)) return piecesOfBlock(block.message_content, `${at}/message_content`);
  const type = idOf(block.type ?? block.part_kind ?? block.kind) ?? '';
  // Goose wraps a call and its result in a status.
  const { toolCall: asked, toolResult: answered } = block;
  if (type === 'toolRequest' && isJsonObject(asked))
    return [
      {
        kind: 'call',
        call: messageCall({ ...(isJsonObject(asked.value) ? asked.value : asked), id: block.id ?? null }),
      },
    ];
  if (type === 'toolResponse' && isJsonObject(answered)) {
    const { value = null, ...rest } = answered;
    const held = isJsonObject(value) && Array.isArray(value.content) ? value.content : value;
    return [
      resultPiece({ ...rest, id: block.id ?? null, result: held ?? rest.error ?? null }, `${at}/toolResult/value`),
    ];
  }
  for (const key of ['toolUse', 'functionCall', 'function_call', 'tool_call'] as const) {
    const inner = block[key];
    if (isJsonObject(inner)) return [{ kind: 'call', call: messageCall(inner) }];
  }
  for (const key of ['toolResult', 'functionResponse', 'function_response'] as const) {
    const inner = block[key];
    if (isJsonObject(inner)) return [resultPiece(inner, `${at}/${key}`)];
  }
  if (CALL.test(type)) return [{ kind: 'call', call: messageCall(block) }];
  if (RESULT.test(type)) return [resultPiece(block, at)];
  // A retry without a tool is the SDK's word to the model.
  if (type === 'retry-prompt' && typeof block.tool_name === 'string')
    return [{ ...resultPiece(block, at), outcome: { isFailure: true, evidence: 'retry-prompt' } }];
  const { reasoningContent: reasoned } = block;
  if (isJsonObject(reasoned)) {
    const inner = isJsonObject(reasoned.reasoningText) ? reasoned.reasoningText : reasoned;
    return [{ kind: 'thought', at: `${at}/reasoningContent`, text: contentText(inner.text) }];
  }
  if (THOUGHT.test(type) || block.thought === true) return thoughtsIn(block, at);
  return [{ kind: 'text', at, text: blockText(block) }];
}

function thoughtsIn(block: JsonObject, at: string): MessagePiece[] {
  const key = ['thinking', 'reasoning', 'think', 'text', 'content'].find((one) => typeof block[one] === 'string');
  if (key !== undefined) return [{ kind: 'thought', at: `${at}/${key}`, text: stringIn(block[key]) }];
  return objectsOf(block.summary).map((one, i) => ({
    kind: 'thought',
    at: `${at}/summary/${i}`,
    text: contentText(one),
  }));
}

/** The text of a block, or its kind and size: `[image png 40 kB]`. */
function blockText(block: JsonObject): string {
  const { inlineData, inline_data: inline, image, modality, mime_type: mime } = block;
  for (const held of [inlineData, inline])
    if (isJsonObject(held))
      return contentText({ ...held, type: mediaType(held.mimeType ?? held.mime_type), data: held.data ?? null });
  if (isJsonObject(image)) {
    const source = isJsonObject(image.source) ? image.source : image;
    const bytes = isJsonObject(source.bytes) ? source.bytes.data : source.bytes;
    return contentText({
      type: 'image',
      format: image.format ?? null,
      data: bytes ?? source.data ?? source.url ?? null,
      image_url: image.url ?? null,
    });
  }
  const type = idOf(block.type ?? block.kind) ?? '';
  if (/^(?:blob|uri|file|binary|media)$/.test(type)) {
    const held = block.content ?? block.data ?? block.uri ?? block.url ?? block.file_id ?? block.binary_content ?? null;
    return contentText({
      type: mediaType(modality ?? mime ?? block.media_type ?? block.mediaType),
      data: held,
      mime_type: mime ?? block.media_type ?? block.mediaType ?? null,
    });
  }
  const text = contentText(block);
  if (text !== '') return text;
  const held = ['text', 'content', 'value', 'output'].map((key) => block[key]).find((one) => !isBlankField(one));
  if (Array.isArray(held)) return contentText(held);
  return isJsonObject(held) ? printJson(held) : contentText(held);
}

const mediaType = (value: JsonValue | undefined): string => /^[a-z]+/.exec(idOf(value ?? null) ?? '')?.[0] ?? 'image';

const answerId = (one: JsonObject): string | null =>
  idOf(one.tool_call_id ?? one.tool_use_id ?? one.toolCallId ?? one.toolUseId ?? one.call_id ?? one.id ?? null);

function resultPiece(block: JsonObject, at: string): Extract<MessagePiece, { kind: 'result' }> {
  const key = ['response', 'result', 'output', 'content', 'text'].find((one) => block[one] !== undefined) ?? 'content';
  const held = block[key] ?? null;
  return {
    kind: 'result',
    at: `${at}/${key}`,
    text: resultText(held),
    answers: answerId(block),
    outcome: outcomeIn(block, typeof block.outcome === 'string' ? { status: block.outcome } : null, held),
  };
}

/** The text of a result, whatever its shape. */
export function resultText(held: JsonValue): string {
  if (isJsonObject(held)) {
    const { result, error_message: failed, value, type } = held;
    if (typeof failed === 'string' && Object.keys(held).length <= 2) return failed;
    if (typeof result === 'string' && Object.keys(held).length === 1) return result;
    if (typeof value === 'string' && typeof type === 'string') return value;
    return held.output === undefined && held.error === undefined
      ? contentText(held) || printJson(held)
      : responseText(held);
  }
  if (Array.isArray(held)) return held.length > 0 && held.every(hasText) ? contentText(held) : printJson(held);
  return typeof held === 'string' ? held : held === null ? '' : printJson(held);
}

const hasText = (one: JsonValue): boolean => typeof one === 'string' || (isJsonObject(one) && contentText(one) !== '');
