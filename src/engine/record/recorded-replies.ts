import { printJson } from '../../core/json/print.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { historyAt } from '../../core/rollout/contexts.ts';
import type { Rollout, Turn } from '../../core/rollout/rollout.ts';
import {
  differenceAt,
  type HistoryItem,
  type HistoryRules,
  historyKey,
  itemText,
  requestItems,
  turnItems,
} from './history-items.ts';
import type { AgentRequest } from './protocol.ts';

/** A recorded reply for an agent that asks again. */
export interface RecordedReply {
  turn: number;
  text: string;
  thought: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: 'stop' | 'tool_calls' | 'length';
}

/** The first message in which a request differs from the record. */
export interface RequestDifference {
  /** The reply that the request comes nearest to. */
  turn: number;
  /** The place of the message in the history. */
  at: number;
  /** The recorded message; null if the record has none there. */
  recorded: string | null;
  fresh: string | null;
}

interface Point {
  turn: Turn;
  items: HistoryItem[];
  isAsked: boolean;
}

/**
 * The replies of a recorded rollout, found by the history that the model saw for each. Equal histories with several replies are answered in
 * their order.
 */
export class RecordedReplies {
  readonly #points: Point[];
  readonly #byKey = new Map<string, Point[]>();
  readonly #rules: HistoryRules;
  readonly #edited: ReadonlyMap<number, string>;
  readonly #hasSystem: boolean;
  readonly #tools: readonly string[];

  /** @param edited texts that replace recorded replies, by turn */
  constructor(rollout: Rollout, rules: HistoryRules, edited: ReadonlyMap<number, string> = new Map()) {
    this.#rules = rules;
    this.#edited = edited;
    this.#hasSystem = rollout.turns.some(({ role }) => role === 'system');
    this.#tools = toolNames(rollout.toolSchemas as JsonObject[]);
    this.#points = modelTurns(rollout).map((turn) => ({
      turn,
      items: turnItems(historyAt(rollout, turn.index).slice(0, -1)),
      isAsked: false,
    }));
    for (const point of this.#points) {
      const key = historyKey(point.items, rules);
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), point]);
    }
  }

  /** The turns that a model wrote. */
  get turns(): readonly number[] {
    return this.#points.map(({ turn }) => turn.index);
  }

  /** The turns whose history some request had. */
  get asked(): readonly number[] {
    return this.#points.filter(({ isAsked }) => isAsked).map(({ turn }) => turn.index);
  }

  /** The recorded reply to a request, or its first difference from the record. */
  answer(request: AgentRequest): RecordedReply | RequestDifference {
    const items = this.#itemsOf(request);
    const found = this.#byKey.get(historyKey(items, this.#rules)) ?? [];
    const point = found.find(({ isAsked }) => !isAsked) ?? found.at(-1);
    if (point === undefined) return this.#nearest(items);
    const tools = this.#toolDifference(request, point);
    if (tools !== null) return tools;
    point.isAsked = true;
    return this.#replyOf(point.turn);
  }

  /** A system prompt is compared only if the record has one. */
  #itemsOf({ messages }: AgentRequest): HistoryItem[] {
    const items = requestItems(messages);
    return this.#hasSystem ? items : items.filter(({ role }) => role !== 'system');
  }

  #toolDifference({ tools }: AgentRequest, { turn, items }: Point): RequestDifference | null {
    // Only the main history's tools are recorded.
    if (this.#tools.length === 0 || (turn.context ?? 0) !== 0) return null;
    const asked = toolNames((tools ?? []) as JsonObject[]);
    const isSame = this.#rules.has('tool-order')
      ? [...asked].sort().join() === [...this.#tools].sort().join()
      : asked.join() === this.#tools.join();
    return isSame
      ? null
      : {
          turn: turn.index,
          at: items.length,
          recorded: `tools: ${this.#tools.join(', ')}`,
          fresh: `tools: ${asked.join(', ') || 'none'}`,
        };
  }

  #nearest(items: readonly HistoryItem[]): RequestDifference {
    let best: { point: Point; at: number } | null = null;
    for (const point of this.#points) {
      const at = differenceAt(point.items, items, this.#rules) ?? items.length;
      const isNearer = best === null || at > best.at || (at === best.at && !point.isAsked && best.point.isAsked);
      if (isNearer) best = { point, at };
    }
    if (best === null)
      return { turn: 0, at: 0, recorded: null, fresh: items[0] === undefined ? null : itemText(items[0]) };
    const { point, at } = best;
    const [recorded, fresh] = [point.items[at], items[at]];
    return {
      turn: point.turn.index,
      at,
      recorded: recorded === undefined ? null : itemText(recorded),
      fresh: fresh === undefined ? null : itemText(fresh),
    };
  }

  #replyOf(turn: Turn): RecordedReply {
    const piece = (kind: 'text' | 'think') =>
      turn.parts
        .filter((part) => part.kind === kind)
        .map(({ start, end }) => turn.text.slice(start, end))
        .join('');
    const edited = this.#edited.get(turn.index);
    const calls = edited === undefined ? turn.toolCalls : [];
    return {
      turn: turn.index,
      text: edited ?? piece('text').trim(),
      thought: edited === undefined ? piece('think').trim() : '',
      calls: calls.map((call) => ({
        id: call.id ?? `call_${turn.index}_${call.index}`,
        name: call.name ?? '',
        arguments:
          call.error === null && typeof call.arguments !== 'string'
            ? printJson(call.arguments ?? {})
            : call.raw || String(call.arguments ?? ''),
      })),
      finish: calls.length > 0 ? 'tool_calls' : 'stop',
    };
  }
}

/** The turns that a model wrote. */
export function modelTurns({ turns }: Rollout): Turn[] {
  const own = turns.filter(({ role }) => role === 'assistant' || role === 'function_call');
  // Recorders know which replies a model gave; other writers' are all of them.
  const sampled = own.filter(({ trained }) => trained !== false);
  return sampled.length > 0 ? sampled : own;
}

export const isReply = (answer: RecordedReply | RequestDifference): answer is RecordedReply => 'calls' in answer;

const toolNames = (tools: readonly JsonObject[]): string[] =>
  tools.flatMap((tool) => {
    const inner = tool.function;
    const name = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner.name : tool.name;
    return typeof name === 'string' ? [name] : [];
  });
