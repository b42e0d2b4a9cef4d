import { z } from 'zod';
import { readToolSchemas } from '../core/chat/tool-schemas.ts';
import { printJson } from '../core/json/print.ts';
import { itemAt } from '../core/lists/at.ts';
import type { Rollout, Turn } from '../core/rollout/rollout.ts';
import type { Message, MessageToolCall } from '../engine/index.ts';

export interface Prefix {
  messages: Message[];
  /** The first turn that the model regenerates. */
  turn: number;
}

/** How a prefix was made: a branch does not always continue from what the model originally saw. */
export const PrefixOrigin = z.object({
  /** recorded: each turn was a message of the record; judged: turns were cut out of a text. */
  from: z.enum(['recorded', 'judged']),
  turns: z.number(),
  messages: z.number(),
  /** Turns whose boundaries are uncertain. */
  uncertain: z.number(),
  /** server: its template renders the messages; tokenizer: ours does; none: the recorded tokens are sent as they are. */
  template: z.enum(['server', 'tokenizer', 'none']),
  /** Why the recorded tokens could not be sent to a server that takes them. */
  rerendered: z.string().nullable().catch(null),
  /** Reasoning of earlier turns. sent: the template may drop it; none: there was none. */
  think: z.enum(['sent', 'none']),
  /** Tools in the prompt that nothing here can run. */
  missing: z.array(z.string()),
});
export type PrefixOrigin = z.infer<typeof PrefixOrigin>;

/** How the first turns of a rollout become messages. */
export function prefixOrigin(
  rollout: Rollout,
  { messages, turn }: Prefix,
  missing: readonly { name: string }[],
  { template, rerendered }: Pick<PrefixOrigin, 'template' | 'rerendered'>,
): PrefixOrigin {
  const turns = rollout.turns.slice(0, turn);
  const own = new Set(rollout.spans.map(({ field, turn }) => `${field} ${turn}`));
  const fields = new Set(rollout.spans.map(({ field }) => field));
  const hasThink = turns.some(({ parts }) => parts.some(({ kind }) => kind === 'think'));
  return {
    // Several turns in one field means the text was split.
    from: fields.size >= own.size ? 'recorded' : 'judged',
    turns: turns.length,
    messages: messages.length,
    uncertain: turns.filter(({ confidence }) => confidence !== 'marked').length,
    template,
    rerendered,
    think: hasThink ? 'sent' : 'none',
    missing: missing.map(({ name }) => name),
  };
}

export function prefixText({ from, messages, uncertain, think, missing, template, rerendered }: PrefixOrigin): string {
  const sure = uncertain === 0 ? 'all borders certain' : `${uncertain} with borders that are not certain`;
  const count = `${messages} message${messages === 1 ? '' : 's'}`;
  return [
    from === 'recorded'
      ? `the prefix is ${count} as recorded`
      : `the prefix is ${count} of turns that were cut out of a text (${sure})`,
    ...(template === 'none' ? ['its recorded tokens are sent as they are'] : []),
    ...(template === 'server' ? ["the server's own template renders them"] : []),
    ...(template === 'tokenizer'
      ? [`the tokenizer's template renders them: ${rerendered ?? 'no tokens are recorded'}`]
      : []),
    ...(think === 'sent' && template !== 'none' ? ['reasoning is sent along, and the template may drop it'] : []),
    ...(missing.length > 0 ? [`nothing here runs ${missing.join(', ')}: a branch that calls it ends there`] : []),
  ].join('; ');
}

export interface PrefixOptions {
  /** Tools are offered through the API, so the template's own block of them must not be in the system text too. */
  offersTools: boolean;
  /** Texts that replace the recorded ones, by turn. */
  edits?: ReadonlyMap<number, string>;
}

/**
 * The conversation up to turn N as messages for a model. If turn N is the assistant's, it is excluded, to be regenerated; otherwise it is
 * included. A call in the text becomes a `tool_calls` entry and its result names it, as servers require; a call that could not be parsed
 * stays text.
 */
export function forkPrefix(rollout: Rollout, turn: number, { offersTools, edits }: PrefixOptions): Prefix {
  const isOwn = rollout.turns[turn]?.role === 'assistant' && !edits?.has(turn);
  const end = isOwn ? turn : turn + 1;
  const ids = new Map<number, string>();
  const messages = rollout.turns.slice(0, end).map((one): Message => {
    const edited = edits?.get(one.index);
    if (edited !== undefined) return prefixMessage(one, edited, ids, rollout);
    // To a server, every reply is the assistant's, whoever wrote it.
    if (['assistant', 'function_call', 'given_assistant'].includes(one.role)) return assistantMessage(one, ids);
    return prefixMessage(
      one,
      offersTools && one.role === 'system' ? withoutToolBlock(one.text) : one.text,
      ids,
      rollout,
    );
  });
  return { messages: messages.filter(({ role, content }) => role !== 'system' || content !== ''), turn: end };
}

const prefixCallId = (index: number): string => `call_${index}`;

function assistantMessage(turn: Turn, ids: Map<number, string>): Message {
  const parsed = turn.toolCalls.filter((call) => call.error === null && call.name !== null);
  const isCall = new Set(parsed);
  const kept = turn.parts.filter(
    (part) => part.kind !== 'call' || !isCall.has(itemAt(turn.toolCalls, part.call ?? -1)),
  );
  const content =
    parsed.length === 0
      ? turn.text
      : kept
          .map(({ start, end }) => turn.text.slice(start, end))
          .join('')
          .trimEnd();
  const calls = parsed.map((call): MessageToolCall => {
    const id = call.id ?? prefixCallId(call.index);
    if (call.resultTurn !== null) ids.set(call.resultTurn, id);
    const args = typeof call.arguments === 'string' ? call.arguments : printJson(call.arguments);
    return { id, type: 'function', function: { name: call.name!, arguments: args } };
  });
  // A server would refuse a call without a result, so it stays in the text.
  const answered = calls.filter((_, i) => itemAt(parsed, i).resultTurn !== null);
  if (answered.length === calls.length)
    return { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return { role: 'assistant', content: turn.text };
}

function prefixMessage(turn: Turn, text: string, ids: ReadonlyMap<number, string>, rollout: Rollout): Message {
  if (turn.role !== 'tool') return { role: turn.role, content: text };
  const id = ids.get(turn.index);
  const call = rollout.turns.flatMap(({ toolCalls }) => toolCalls).find(({ resultTurn }) => resultTurn === turn.index);
  return {
    role: 'tool',
    content: text,
    ...(id === undefined ? {} : { tool_call_id: id }),
    ...(call?.name ? { name: call.name } : {}),
  };
}

/** Qwen's template appends the tools to the system text, under this heading. */
function withoutToolBlock(text: string): string {
  if (readToolSchemas(text).length === 0) return text;
  const start = text.search(/(?:^|\n\n)# Tools\n\n/);
  return start === -1 ? text : text.slice(0, start);
}
