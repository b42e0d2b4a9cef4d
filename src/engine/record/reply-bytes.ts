import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { plainJson } from '../../core/json/value.ts';
import type { ModelProtocol } from './protocol.ts';
import type { RecordedReply } from './recorded-replies.ts';

/** An answer as a server of the protocol sends it. */
export interface AnswerBytes {
  type: 'application/json' | 'text/event-stream';
  body: Buffer;
}

/** A recorded reply in the client's protocol, whole or streamed. */
export function replyBytes(
  protocol: ModelProtocol['name'],
  reply: RecordedReply,
  model: string,
  isStreamed: boolean,
): AnswerBytes {
  const whole = WHOLE[protocol](reply, model);
  if (!isStreamed) return { type: 'application/json', body: Buffer.from(JSON.stringify(whole)) };
  return { type: 'text/event-stream', body: Buffer.from(STREAMED[protocol](reply, whole)) };
}

const USAGE = {
  chat: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  others: { input_tokens: 0, output_tokens: 0 },
};
const replyId = (prefix: string, { turn }: RecordedReply): string => `${prefix}recorded-${turn}`;

const chatCalls = ({ calls }: RecordedReply): JsonObject[] =>
  calls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } }));

function argumentsValue(args: string): JsonValue {
  try {
    return plainJson(args);
  } catch {
    return args;
  }
}

const WHOLE: Record<ModelProtocol['name'], (reply: RecordedReply, model: string) => JsonObject> = {
  chat: (reply, model) => ({
    id: replyId('chatcmpl-', reply),
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        finish_reason: reply.finish,
        logprobs: null,
        message: {
          role: 'assistant',
          content: reply.text === '' && reply.calls.length > 0 ? null : reply.text,
          refusal: null,
          ...(reply.thought === '' ? {} : { reasoning_content: reply.thought }),
          ...(reply.calls.length === 0 ? {} : { tool_calls: chatCalls(reply) }),
        },
      },
    ],
    usage: USAGE.chat,
  }),
  // Reasoning has no signature of this run, and the API would refuse it.
  messages: (reply, model) => ({
    id: replyId('msg_', reply),
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
      ...reply.calls.map(({ id, name, arguments: args }) => ({
        type: 'tool_use',
        id,
        name,
        input: argumentsValue(args),
      })),
    ],
    stop_reason: reply.calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: USAGE.others,
  }),
  responses: (reply, model) => ({
    id: replyId('resp_', reply),
    object: 'response',
    created_at: 0,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    model,
    output: [
      ...(reply.thought === ''
        ? []
        : [{ type: 'reasoning', id: replyId('rs_', reply), summary: [{ type: 'summary_text', text: reply.thought }] }]),
      ...(reply.text === ''
        ? []
        : [
            {
              type: 'message',
              id: replyId('msg_', reply),
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: reply.text, annotations: [] }],
            },
          ]),
      ...reply.calls.map(({ id, name, arguments: args }) => ({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: args,
        status: 'completed',
      })),
    ],
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    metadata: {},
    temperature: null,
    top_p: null,
    usage: {
      ...USAGE.others,
      total_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }),
};

const event = (data: JsonValue, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const STREAMED: Record<ModelProtocol['name'], (reply: RecordedReply, whole: JsonObject) => string> = {
  chat(reply, { id = null, model = null }) {
    const chunk = (delta: JsonObject, finish: string | null = null): string =>
      event({
        id,
        object: 'chat.completion.chunk',
        created: 0,
        model,
        choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
      });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(reply.thought === '' ? [] : [chunk({ reasoning_content: reply.thought })]),
      ...(reply.text === '' ? [] : [chunk({ content: reply.text })]),
      ...chatCalls(reply).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, reply.finish),
      event({ id, object: 'chat.completion.chunk', created: 0, model, choices: [], usage: USAGE.chat }),
      'data: [DONE]\n\n',
    ].join('');
  },
  messages(reply, whole) {
    const send = (data: JsonObject): string => event(data, String(data.type));
    const texts = reply.text === '' ? [] : [reply.text];
    const blocks = [
      ...texts.map((text, index) => [
        send({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
        send({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
        send({ type: 'content_block_stop', index }),
      ]),
      ...reply.calls.map(({ id, name, arguments: args }, at) => {
        const index = texts.length + at;
        return [
          send({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } }),
          send({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: args } }),
          send({ type: 'content_block_stop', index }),
        ];
      }),
    ];
    return [
      send({ type: 'message_start', message: { ...whole, content: [], stop_reason: null } }),
      ...blocks.flat(),
      send({
        type: 'message_delta',
        delta: { stop_reason: whole.stop_reason ?? null, stop_sequence: null },
        usage: { output_tokens: 0 },
      }),
      send({ type: 'message_stop' }),
    ].join('');
  },
  responses(_reply, whole) {
    let number = 0;
    const send = (data: JsonObject): string => event({ ...data, sequence_number: number++ }, String(data.type));
    const output = Array.isArray(whole.output) ? (whole.output as JsonObject[]) : [];
    const pieces = output.flatMap((item, at) => {
      const added = send({
        type: 'response.output_item.added',
        output_index: at,
        item: { ...item, status: 'in_progress', ...emptied(item) },
      });
      const done = () => send({ type: 'response.output_item.done', output_index: at, item });
      const id = item.id ?? null;
      if (item.type === 'message') {
        const [part] = item.content as JsonObject[];
        const text = part?.text ?? '';
        const place = { item_id: id, output_index: at, content_index: 0 };
        return [
          added,
          send({
            type: 'response.content_part.added',
            ...place,
            part: { type: 'output_text', text: '', annotations: [] },
          }),
          send({ type: 'response.output_text.delta', ...place, delta: text }),
          send({ type: 'response.output_text.done', ...place, text }),
          send({ type: 'response.content_part.done', ...place, part: part ?? null }),
          done(),
        ];
      }
      if (item.type === 'function_call') {
        const place = { item_id: id, output_index: at };
        return [
          added,
          send({ type: 'response.function_call_arguments.delta', ...place, delta: item.arguments ?? '' }),
          send({ type: 'response.function_call_arguments.done', ...place, arguments: item.arguments ?? '' }),
          done(),
        ];
      }
      return [added, done()];
    });
    const begun = { ...whole, status: 'in_progress', output: [] };
    return [
      send({ type: 'response.created', response: begun }),
      send({ type: 'response.in_progress', response: begun }),
      ...pieces,
      send({ type: 'response.completed', response: whole }),
    ].join('');
  },
};

const emptied = ({ type }: JsonObject): JsonObject =>
  type === 'message' ? { content: [] } : type === 'function_call' ? { arguments: '' } : {};
