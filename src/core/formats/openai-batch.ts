import { isJsonObject, type JsonObject, type JsonValue, objectIn, stringIn } from '../json/value.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { responseMessages } from './responses.ts';
import { idOf, objectsOf } from './values.ts';

const batchObject = (value: JsonValue | undefined): JsonObject => objectIn(value);
const choicesOf = ({ response }: JsonObject): JsonObject[] =>
  objectsOf(batchObject(batchObject(response).body).choices);

/**
 * A line of the output of OpenAI's Batch API, which other servers also offer: only the reply, because the question is
 * in the input.
 */
export const openaiBatch: Format = messageFormat({
  name: 'openai-batch',
  isStepless: true,
  basis: 'documentation',
  mapping: {
    turns: 'response.body.choices[].message, or text; response.body.output of the Responses API',
    uid: 'custom_id',
    status: 'error.message, or the status code of a request that failed',
  },
  detects: ({ custom_id, response, error }) =>
    typeof custom_id === 'string' &&
    (response === null || isJsonObject(response ?? undefined)) &&
    (response !== null || isJsonObject(error ?? undefined)) &&
    (response === null || isJsonObject(batchObject(response).body ?? undefined)),
  // With n > 1 a request has as many replies.
  split(record) {
    const choices = choicesOf(record);
    if (choices.length < 2) return [record];
    const response = batchObject(record.response);
    return choices.map((choice) => ({
      ...record,
      response: { ...response, body: { ...batchObject(response.body), choices: [choice] } },
    }));
  },
  find(record) {
    const response = batchObject(record.response);
    const body = batchObject(response.body);
    const [choice] = choicesOf(record);
    const place = '/response/body/choices/0';
    const messages: FoundMessage[] = isJsonObject(choice?.message)
      ? [{ ...chatMessage(choice.message, `${place}/message`), role: 'assistant' }]
      : typeof choice?.text === 'string'
        ? [{ role: 'assistant', texts: [{ pointer: `${place}/text`, text: choice.text }] }]
        : responseMessages(objectsOf(body.output), '/response/body/output');
    const reason = idOf(choice?.finish_reason) ?? idOf(batchObject(body.incomplete_details).reason);
    const uid = idOf(record.custom_id);
    return {
      known: new Set(['response', 'error', 'custom_id']),
      messages,
      hasCallsApart: true,
      uid,
      group: choice?.index === undefined || choice.index === null ? null : uid,
      status: whyRefused(record),
      extras: {
        ...(reason === null ? {} : { finish_reason: reason }),
        ...(idOf(body.model) === null ? {} : { model: body.model }),
        ...(isJsonObject(body.usage ?? undefined) ? { usage: body.usage } : {}),
      },
      isValidation: true,
    };
  },
});

/** Null for a request that was answered. */
function whyRefused(record: JsonObject): string | null {
  const { status_code: code, body } = batchObject(record.response);
  const said = [record.error, batchObject(body).error]
    .map((error) => batchObject(error))
    .find((error) => idOf(error.message));
  const message = idOf(said?.message) ?? idOf(said?.code);
  if (message !== null) return message;
  return typeof code === 'number' && code >= 400 ? `HTTP ${code}` : null;
}

/** A line of such a batch's input: the question. */
export const openaiBatchInput: Format = messageFormat({
  name: 'openai-batch',
  isStepless: true,
  basis: 'documentation',
  mapping: { turns: 'body.messages, or body.prompt, or body.input', uid: 'custom_id', tools: 'body.tools' },
  detects: ({ custom_id, method, url, body }) =>
    typeof custom_id === 'string' &&
    typeof method === 'string' &&
    typeof url === 'string' &&
    isJsonObject(body ?? undefined),
  find(record) {
    const body = batchObject(record.body);
    const text = ['prompt', 'input'].find((key) => typeof body[key] === 'string');
    const messages: FoundMessage[] =
      text !== undefined
        ? [{ role: 'user', texts: [{ pointer: `/body/${text}`, text: stringIn(body[text]) }] }]
        : body.messages !== undefined
          ? objectsOf(body.messages).map((message, at) => chatMessage(message, `/body/messages/${at}`))
          : responseMessages(objectsOf(body.input), '/body/input');
    return {
      known: new Set(['body', 'custom_id']),
      messages: messages.map(given),
      firstReply: messages.length,
      uid: idOf(record.custom_id),
      tools: body.tools,
      isValidation: true,
    };
  },
});
