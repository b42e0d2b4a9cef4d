import type { Printable } from '../../core/json/print.ts';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { byPlace, ConversationTree, messageKey, type TreeMessage, type TreePlace } from './conversation-tree.ts';
import type { AgentRequest, ModelProtocol, ModelReply } from './protocol.ts';

/** The destination of a rollout's events. */
export interface EventSink {
  append(event: { [key: string]: Printable }): void;
  close(): void;
}

/** The kind of history that a request begins. */
type HistoryKind = 'main' | 'branch' | 'compaction' | 'subagent';

interface Recorded {
  name: string;
  file: EventSink;
  tree: ConversationTree;
  /** Replies by the server's id. */
  byReply: Map<string, TreeMessage>;
  /** Replies with calls that have no results yet. */
  openCalls: Set<TreeMessage>;
  /** The key of the system prompt of the main history. */
  system: string | null;
  histories: number;
  /** Requests without an answer yet. */
  unanswered: number;
}

/** A request under way. */
export interface RequestUnderWay {
  rollout: Recorded;
  id: number;
  parent: TreeMessage | null;
  history: number;
}

export interface RecorderOptions {
  /** Opens the file of a rollout by its name. */
  open: (name: string) => EventSink;
  /** All unnamed requests belong to one rollout, because one command makes them all. */
  isOneRollout: boolean;
  now: () => Date;
}

/**
 * Assigns requests to rollouts and writes them as events. A request that names its rollout belongs to it. Any other belongs to the rollout
 * whose history it continues: it must repeat at least one recorded reply, so two samples of one prompt are never merged.
 */
export class RolloutRecorder {
  readonly #options: RecorderOptions;
  readonly #rollouts = new Map<string, Recorded>();
  #requests = 0;
  #unnamed = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** @param name of the rollout, if the client names it */
  begin(protocol: ModelProtocol, request: AgentRequest, name: string | null): RequestUnderWay {
    const keys = request.messages.map(messageKey);
    const { rollout, place, isAmbiguous } = this.#placeOf(request, keys, name);
    const at = this.#options.now().toISOString();
    const last = place?.last ?? null;
    const kind = historyKind(rollout, request, keys, place);
    // A history that starts over is whole by itself, whatever beginning it shares.
    const isOver = kind === 'subagent' || kind === 'compaction';
    const known = isOver ? 0 : (place?.known ?? 0);
    const goesOn = kind === 'main' ? (place?.retold ?? last) : null;
    const history = goesOn?.history ?? this.#beginHistory(rollout, kind, last);
    if (rollout.system === null) rollout.system = systemKey(request);
    let parent = isOver ? null : last;
    for (const [index, message] of request.messages.entries()) {
      if (index < known) continue;
      const retold = index === known ? place?.retold : undefined;
      parent = rollout.tree.add(parent, { key: keys[index] ?? '', message, history, isReply: retold !== undefined });
      rollout.file.append({
        type: 'message',
        id: parent.id,
        parent: parent.parent?.id ?? null,
        history,
        at,
        ...(retold === undefined ? {} : { retells: retold.id }),
        message,
      });
    }
    rollout.unanswered++;
    const id = this.#requests++;
    rollout.file.append({
      type: 'request',
      id,
      at,
      protocol: protocol.name,
      model: request.model,
      settings: request.settings,
      tools: request.tools ?? null,
      history,
      ...(isAmbiguous ? { ambiguous: true } : {}),
    });
    return { rollout, id, parent, history };
  }

  /** @param reply null if no part of a reply arrived */
  end(
    { rollout, id, parent, history }: RequestUnderWay,
    outcome: {
      status: number;
      reply: ModelReply | null;
      problem: string | null;
      firstByte: number | null;
      seconds: number;
    },
  ): void {
    const at = this.#options.now().toISOString();
    rollout.unanswered--;
    const { reply } = outcome;
    const messages = (reply?.messages ?? []).map((message, choice): JsonValue => {
      // A further choice, or an answer to a history that has gone on, is put beside what is there.
      const isBeside = (parent?.children.size ?? 0) > 0;
      const place = isBeside ? this.#beginHistory(rollout, 'branch', parent) : history;
      const one = rollout.tree.add(parent, { key: messageKey(message), message, history: place, isReply: true });
      if (reply?.id != null) rollout.byReply.set(reply.id, one);
      if (Array.isArray(message.tool_calls) || hasToolUse(message)) rollout.openCalls.add(one);
      rollout.file.append({
        type: 'message',
        id: one.id,
        parent: parent?.id ?? null,
        history: place,
        at,
        request: id,
        choice,
        message,
      });
      return one.id;
    });
    rollout.file.append({
      type: 'response',
      request: id,
      at,
      status: outcome.status,
      messages,
      finish: reply?.finish ?? null,
      usage: reply?.usage ?? null,
      tokens: reply?.tokens ?? null,
      cut: reply?.isCut ?? false,
      problem: outcome.problem,
      first_byte: outcome.firstByte,
      seconds: outcome.seconds,
    });
  }

  /** A score that a trainer gives. @returns false if there is no rollout of this name */
  reward(name: string, values: JsonObject): boolean {
    const rollout = this.#rollouts.get(name);
    if (rollout === undefined) return false;
    rollout.file.append({ type: 'reward', at: this.#options.now().toISOString(), ...values });
    return true;
  }

  #beginHistory(rollout: Recorded, kind: HistoryKind, after: TreeMessage | null): number {
    const id = rollout.histories++;
    rollout.file.append({ type: 'history', id, kind, after: after?.id ?? null, at: this.#options.now().toISOString() });
    return id;
  }

  /** The rollout and the place that a request continues. It is ambiguous if another place fits as well. */
  #placeOf(
    request: AgentRequest,
    keys: readonly string[],
    name: string | null,
  ): { rollout: Recorded; place: TreePlace | null; isAmbiguous: boolean } {
    const named = name ?? (this.#options.isOneRollout ? 'rollout' : null);
    const candidates = named === null ? [...this.#rollouts.values()] : [this.#named(named)];
    const places = candidates.flatMap((rollout) => {
      const before = request.previous === null ? undefined : rollout.byReply.get(request.previous);
      const found =
        before === undefined
          ? rollout.tree.places(keys, request.messages)
          : [{ last: before, known: 0, replies: Number.POSITIVE_INFINITY }];
      return found.map((place) => ({ rollout, place }));
    });
    const [best, next] = places
      .filter(({ place }) => named !== null || place.replies > 0)
      .sort((a, b) => byPlace(a.place, b.place));
    if (best === undefined)
      return { rollout: this.#named(named ?? `rollout-${++this.#unnamed}`), place: null, isAmbiguous: false };
    return { ...best, isAmbiguous: best.place.replies > 0 && next?.place.replies === best.place.replies };
  }

  #named(name: string): Recorded {
    const known = this.#rollouts.get(name);
    if (known !== undefined) return known;
    const rollout: Recorded = {
      name,
      file: this.#options.open(name),
      tree: new ConversationTree(),
      byReply: new Map(),
      openCalls: new Set(),
      system: null,
      histories: 0,
      unanswered: 0,
    };
    rollout.file.append({ type: 'rollout', id: name, at: this.#options.now().toISOString() });
    this.#rollouts.set(name, rollout);
    return rollout;
  }

  close(): void {
    for (const { file } of this.#rollouts.values()) file.close();
  }
}

const hasToolUse = ({ content }: JsonObject): boolean =>
  Array.isArray(content) && content.some((block) => (block as JsonObject | null)?.type === 'tool_use');

const systemKey = ({ messages }: AgentRequest): string => {
  const first = messages.find(({ role }) => role === 'system');
  return first === undefined ? '' : messageKey(first);
};

/**
 * main: it goes on at the end of a history, in the client's words or the model's, or asks once more. branch: it leaves a history before its end. Otherwise it starts from scratch:
 * with another system prompt, or while a call waits for its result or a request for its answer, it is a subagent's; otherwise the history
 * was compacted.
 */
function historyKind(
  { tree, system, openCalls, unanswered }: Recorded,
  request: AgentRequest,
  keys: readonly string[],
  place: TreePlace | null,
): HistoryKind {
  if (tree.isEmpty) return 'main';
  if (place?.retold !== undefined) {
    openCalls.delete(place.retold);
    return 'main';
  }
  const isRepeat = place !== null && place.known > 0 && place.known === keys.length;
  if (place !== null && (isRepeat || place.replies > 0 || place.last.children.size === 0)) {
    for (const reply of openCalls) if (isAfter(reply, place.last)) openCalls.delete(reply);
    return isRepeat || place.last.children.size === 0 ? 'main' : 'branch';
  }
  // A compacted history may keep the last calls, with their results.
  const given = new Set(keys);
  for (const reply of openCalls) if (given.has(reply.key)) openCalls.delete(reply);
  return systemKey(request) !== system || openCalls.size > 0 || unanswered > 0 ? 'subagent' : 'compaction';
}

/** Whether a message is another one, or came after it. */
function isAfter(message: TreeMessage, earlier: TreeMessage): boolean {
  let one: TreeMessage | null = message;
  while (one !== null && one.id > earlier.id) one = one.parent;
  return one === earlier;
}
