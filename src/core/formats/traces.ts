import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import type { Context, RolloutTokens } from '../rollout/rollout.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format, Session } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { traceTimes, withTurns } from './recorded-times.ts';
import { idOf, idsOf, numberOf, numbersOf, objectsOf } from './values.ts';

/**
 * Lists with a value for each masked-in token of a node; `is_masked` and the trainer's come with prime-rl's
 * annotations.
 */
const COMPACT = [
  'logprobs',
  'advantages',
  'reference_logprobs',
  'loss_weights',
  'trainer_logprobs',
  'entropies',
  'entropy',
  'mismatch_kl',
  'is_masked',
];

/**
 * One trace of verifiers v1 (`verifiers/v1/{trace,graph,episode}.py`), which prime-rl writes too: messages as nodes
 * that point at their predecessor, with token ids and mask if the run trains. Each path from a root to a leaf is a
 * history that the model saw.
 */
export const trace: Format = messageFormat({
  name: 'verifiers-trace',
  basis: 'files',
  mapping: {
    turns: 'nodes[].message, once each; a leaf of the graph is a context',
    mask: 'nodes[].mask, else nodes[].sampled',
    score: 'rewards: the sum of score × weight',
    step: 'episode.run.work.step',
    group: 'episode.group.id, else task.key',
    tokens: 'nodes[].token_ids along a context',
  },
  detects: (record) =>
    Array.isArray(record.nodes) &&
    (isJsonObject(record.rewards) || record.timing !== undefined || record.task !== undefined),
  times: traceTimes,
  find(record) {
    const nodes = objectsOf(record.nodes);
    const episode = objectIn(record.episode);
    const graph = contextsOf(nodes);
    const agent = objectIn(record.agent);
    const run = objectIn(episode.run);
    const work = objectIn(run.work);
    const info = objectIn(record.info);
    const isTrained = agent.trainable !== false && run.type !== 'eval' && info.kind !== 'eval';
    const messages = graph.order.map((at): FoundMessage => {
      const node = objectIn(nodes[at]);
      const message = chatMessage(objectIn(node.message), `/nodes/${at}/message`);
      const mask = idsOf(node.mask);
      const isSampled = node.sampled === true;
      const trained = isTrained && isSampled && (mask === null || mask.some((bit) => bit !== 0));
      // A reply that was not sampled here is history, for example input that a later call was given again.
      const said = isSampled || message.role !== 'assistant' ? message : given(message);
      return { ...said, trained, context: graph.contextOf[at] ?? 0 };
    });
    for (const [at, message] of objectsOf(record.pending).entries())
      messages.push({ ...chatMessage(message, `/pending/${at}`), trained: false });
    const placeOf = new Map(graph.order.map((node, turn) => [node, turn]));
    let room = MOST_TOKENS;
    const contexts = graph.leaves.map((leaf): Context => {
      const tokens = room < 0 ? null : pathTokens(nodes, graph.pathOf(leaf.node));
      room -= tokens === null ? 0 : tokens.mask.length;
      const after = leaf.forkNode === null ? null : (placeOf.get(leaf.forkNode) ?? null);
      return { kind: leaf.kind, name: null, after, ...(tokens ? { tokens } : {}) };
    });
    const task = objectIn(record.task);
    const data = isJsonObject(task.data) ? task.data : task;
    const calls = objectsOf(record.calls);
    const reason =
      idOf(calls.at(-1)?.finish_reason) ?? idOf(nodes.findLast((node) => node.sampled === true)?.finish_reason);
    const group = isJsonObject(episode.group) ? idOf(episode.group.id) : null;
    const { named, total } = rewardsOf(record.rewards);
    return {
      known: KNOWN,
      messages,
      hasCallsApart: true,
      contexts,
      score: total,
      named,
      step: numberOf(work.step),
      uid: idOf(record.id ?? record.trace),
      status: idOf(record.stop_condition),
      group: group ?? idOf(task.key),
      groundTruth: data.answer,
      tools: Array.isArray(record.tools) ? record.tools : [],
      tokens: contexts[0]?.tokens ?? null,
      advantage: numberOf(info.advantage),
      firstReply: firstSampled(nodes, graph.order),
      mask: 'recorded',
      extras: { ...(reason === null ? {} : { finish_reason: reason }), ...(run.type === undefined ? {} : { run }) },
      // Evaluations and agents that are not trainable are not trained on, whatever their masks say.
      isValidation: !isTrained,
    };
  },
});

const KNOWN = new Set('nodes rewards tools version pending'.split(' '));

/**
 * One line of `traces.jsonl`, `stream.jsonl` and similar files: an episode with a trace for each of its agents; an
 * agent that failed to start has none.
 */
export const episode: Format = {
  name: 'verifiers-episode',
  basis: 'files',
  mapping: { rollouts: 'traces[]' },
  detects: (record) =>
    Array.isArray(record.traces) && (record.env !== undefined || record.task !== undefined || record.run !== undefined),
  split(record) {
    const { traces, ...rest } = record;
    return objectsOf(traces).map((one) => ({ ...one, episode: rest }));
  },
  read: (record, context) => trace.read({ ...record, nodes: [] }, context),
};

/** prime-rl's `live/ID.jsonl`: deltas of one trace that is still under way (`monitors/file/traces/delta.py`). */
export const liveTrace: Session = {
  name: 'prime-rl-live',
  isEvent: (record) =>
    typeof record.trace === 'string' &&
    ['open', 'set', 'nodes', 'pending', 'calls', 'links'].some((key) => record[key] !== undefined),
  keyOf: (record) => idOf(record.trace),
};

/** Appended lists grow, `set` replaces, new nodes clear pending ones. */
export const liveFormat: Format = {
  name: 'prime-rl-live',
  basis: 'files',
  mapping: { turns: 'the nodes of all deltas, then `pending`', status: 'in flight: the trace has not ended' },
  detects: (record) => record.session_of === liveTrace.name,
  read(record, context) {
    const whole: JsonObject = { nodes: [], calls: [] };
    for (const delta of objectsOf(record.events)) {
      if (isJsonObject(delta.open)) Object.assign(whole, delta.open, { nodes: [], calls: [] });
      if (isJsonObject(delta.set)) Object.assign(whole, delta.set);
      for (const key of ['nodes', 'calls', 'links', 'errors'])
        if (Array.isArray(delta[key])) whole[key] = [...((whole[key] as JsonValue[] | undefined) ?? []), ...delta[key]];
      if (Array.isArray(delta.nodes)) delete whole.pending;
      if (Array.isArray(delta.pending)) whole.pending = delta.pending;
      if (isJsonObject(delta.dispatch)) whole.dispatch = delta.dispatch;
    }
    const dispatch = objectIn(whole.dispatch);
    const rollout = trace.read(
      {
        ...whole,
        episode: {
          run: { type: dispatch.kind ?? 'train', work: { step: dispatch.step ?? null } },
          group: { id: dispatch.group ?? null },
        },
      },
      context,
    );
    const times = traceTimes(whole);
    return {
      ...rollout,
      ...(times === null ? {} : { times: withTurns(times, rollout) }),
      format: 'prime-rl-live',
      status: rollout.status ?? 'running',
    };
  },
};

/** Each history holds the tokens of a shared beginning; those of a record with thousands would fill the memory. */
const MOST_TOKENS = 1e6;

interface Leaf {
  node: number;
  kind: Context['kind'];
  /** The last node shared with an earlier history, or null. */
  forkNode: number | null;
}

/**
 * The graph as histories, in leaf order, and the nodes in listing order. A node whose parent is not an earlier node
 * begins a history.
 */
function contextsOf(nodes: readonly JsonObject[]): {
  leaves: Leaf[];
  order: number[];
  contextOf: number[];
  /** The nodes from the root to this one. */
  pathOf(node: number): number[];
} {
  const parents = nodes.map((node, at) => {
    const parent = numberOf(node.parent);
    return parent !== null && Number.isInteger(parent) && parent >= 0 && parent < at ? parent : null;
  });
  const inner = new Set(parents);
  const contextOf: number[] = [];
  const order: number[] = [];
  const leaves: Leaf[] = [];
  for (let at = 0; at < nodes.length; at++) {
    if (inner.has(at)) continue;
    const own: number[] = [];
    let node: number | null = at;
    for (; node !== null && contextOf[node] === undefined; node = parents[node] ?? null) {
      own.push(node);
      contextOf[node] = leaves.length;
    }
    for (const one of own.reverse()) order.push(one);
    const isMain = leaves.length === 0;
    leaves.push({ node: at, kind: isMain ? 'main' : node === null ? 'compaction' : 'branch', forkNode: node });
  }
  const pathOf = (leaf: number): number[] => {
    const path: number[] = [];
    for (let node: number | null = leaf; node !== null; node = parents[node] ?? null) path.push(node);
    return path.reverse();
  };
  return { leaves, order, contextOf, pathOf };
}

const firstSampled = (nodes: readonly JsonObject[], order: readonly number[]): number => {
  const at = order.findIndex((node) => nodes[node]?.sampled === true);
  return at === -1 ? order.length : at;
};

/**
 * The tokens of one history: the concatenated ids and masks of its nodes. null if a node has none, or its lists do not
 * match.
 */
function pathTokens(nodes: readonly JsonObject[], path: readonly number[]): RolloutTokens | null {
  const ids: number[] = [];
  const mask: number[] = [];
  const lists: Record<string, (number | null)[]> = {};
  let border: number | null = null;
  for (const at of path) {
    const node = objectIn(nodes[at]);
    const own = idsOf(node.token_ids);
    if (own === null) continue;
    const bits = idsOf(node.mask) ?? own.map(() => 0);
    if (bits.length !== own.length) return null;
    if (node.sampled === true) border ??= ids.length;
    for (const key of COMPACT) {
      const values = spread(numbersOf(node[key]), bits);
      if (values === null) continue;
      lists[key] ??= [];
      while (lists[key].length < ids.length) lists[key].push(null);
      for (const value of values) lists[key].push(value);
    }
    for (const id of own) ids.push(id);
    for (const bit of bits) mask.push(bit);
  }
  if (ids.length === 0) return null;
  const from = border ?? ids.length;
  const { logprobs, ...others } = lists;
  const rest = (values: (number | null)[]) => ids.slice(from).map((_, i) => values[from + i] ?? null);
  const more = Object.fromEntries(Object.entries(others).map(([key, values]) => [key, rest(values)]));
  return {
    promptIds: ids.slice(0, from),
    responseIds: ids.slice(from),
    mask: mask.slice(from),
    logprobs: logprobs === undefined ? null : rest(logprobs),
    ...(Object.keys(more).length > 0 ? { more } : {}),
  };
}

/** Values of the masked-in tokens, aligned to all tokens; a list of full length already is. */
function spread(values: (number | null)[] | null, mask: readonly number[]): (number | null)[] | null {
  if (values === null || values.length === 0) return null;
  if (values.length === mask.length) return values;
  let next = 0;
  return mask.map((bit) => (bit === 0 ? null : (values[next++] ?? null)));
}

/** Plain numbers (2026-07), or scores with weights; a missing one is not 0. */
function rewardsOf(value: JsonValue | undefined): {
  named: Record<string, number | null> | null;
  total: number | null;
} {
  if (!isJsonObject(value)) return { named: null, total: null };
  const named: Record<string, number | null> = {};
  let total: number | null = null;
  for (const [name, reward] of Object.entries(value)) {
    const score = numberOf(isJsonObject(reward) ? reward.score : reward);
    const weight = isJsonObject(reward) ? (numberOf(reward.weight) ?? 1) : 1;
    named[name] = score;
    if (score !== null) total = (total ?? 0) + score * weight;
  }
  return { named: Object.keys(named).length > 0 ? named : null, total };
}
