import type { Printable } from '../../core/json/print.ts';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { ConversationTree, messageKey, type TreeMessage } from './conversation-tree.ts';
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
  /** A reply with calls that have no results yet. */
  hasOpenCalls: boolean;
  /** The key of the system prompt of the main history. */
  system: string | null;
  histories: number;
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
    const { rollout, isAmbiguous } = this.#rolloutOf(request, name);
    const at = this.#options.now().toISOString();
    const keys = request.messages.map(messageKey);
    const before = request.previous === null ? undefined : rollout.byReply.get(request.previous);
    const place = before === undefined ? rollout.tree.place(keys) : { last: before, known: 0, replies: 1 };
    const kind = historyKind(rollout, request, place.known, place.last);
    const isNew = kind !== 'main' || rollout.tree.isEmpty;
    const history = isNew ? rollout.histories++ : this.#historyOf(rollout, place.last);
    if (isNew) rollout.file.append({ type: 'history', id: history, kind, after: place.last?.id ?? null, at });
    if (rollout.system === null) rollout.system = systemKey(request);
    let parent = place.last;
    for (const [index, message] of request.messages.entries()) {
      if (index < place.known) continue;
      parent = rollout.tree.add(parent, keys[index] ?? '', message, false);
      this.#histories.set(parent, history);
      rollout.file.append({ type: 'message', id: parent.id, parent: parent.parent?.id ?? null, history, at, message });
      if (message.role !== 'assistant') rollout.hasOpenCalls = false;
    }
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
    const { reply } = outcome;
    const messages = (reply?.messages ?? []).map((message, choice): JsonValue => {
      const one = rollout.tree.add(parent, messageKey(message), message, true);
      this.#histories.set(one, history);
      if (reply?.id != null) rollout.byReply.set(reply.id, one);
      if (Array.isArray(message.tool_calls) || hasToolUse(message)) rollout.hasOpenCalls = true;
      rollout.file.append({
        type: 'message',
        id: one.id,
        parent: parent?.id ?? null,
        history,
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

  readonly #histories = new WeakMap<TreeMessage, number>();

  #historyOf(rollout: Recorded, last: TreeMessage | null): number {
    return last === null ? 0 : (this.#histories.get(last) ?? rollout.histories - 1);
  }

  #rolloutOf(request: AgentRequest, name: string | null): { rollout: Recorded; isAmbiguous: boolean } {
    if (name !== null) return { rollout: this.#named(name), isAmbiguous: false };
    if (this.#options.isOneRollout) return { rollout: this.#named('rollout'), isAmbiguous: false };
    const keys = request.messages.map(messageKey);
    const matches = [...this.#rollouts.values()]
      .map((rollout) => ({
        rollout,
        replies:
          request.previous !== null && rollout.byReply.has(request.previous)
            ? Number.POSITIVE_INFINITY
            : rollout.tree.place(keys).replies,
        known: rollout.tree.place(keys).known,
        isLeaf: (rollout.tree.place(keys).last?.children.size ?? 1) === 0,
      }))
      .filter(({ replies }) => replies > 0)
      .sort((a, b) => b.replies - a.replies || b.known - a.known || Number(b.isLeaf) - Number(a.isLeaf));
    const [best, next] = matches;
    if (best === undefined) return { rollout: this.#named(`rollout-${++this.#unnamed}`), isAmbiguous: false };
    const isAmbiguous =
      next !== undefined && next.replies === best.replies && next.known === best.known && next.isLeaf === best.isLeaf;
    return { rollout: best.rollout, isAmbiguous };
  }

  #named(name: string): Recorded {
    const known = this.#rollouts.get(name);
    if (known !== undefined) return known;
    const rollout: Recorded = {
      name,
      file: this.#options.open(name),
      tree: new ConversationTree(),
      byReply: new Map(),
      hasOpenCalls: false,
      system: null,
      histories: 0,
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
 * main: it continues the newest message of a history. branch: it leaves a history before its end. Otherwise it starts from scratch: with another
 * system prompt, or while a call waits for its result, it is a subagent's; otherwise the history was compacted.
 */
function historyKind(rollout: Recorded, request: AgentRequest, known: number, last: TreeMessage | null): HistoryKind {
  if (rollout.tree.isEmpty) return 'main';
  const repeatsReply = hasReply(last);
  if (repeatsReply) return (last?.children.size ?? 0) === 0 || known === request.messages.length ? 'main' : 'branch';
  if (known === request.messages.length) return 'branch';
  if (systemKey(request) !== rollout.system || rollout.hasOpenCalls) return 'subagent';
  return 'compaction';
}

function hasReply(last: TreeMessage | null): boolean {
  for (let one = last; one !== null; one = one.parent) if (one.isReply) return true;
  return false;
}
