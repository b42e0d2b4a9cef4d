import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import type { Context } from '../rollout/rollout.ts';
import { repliesOf, resultMessage, withResults } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { lostMessage } from './lost-line.ts';
import { sessionTimes } from './recorded-times.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

const KINDS = new Set(['user', 'assistant', 'system', 'summary']);
const isSessionMessage = (record: JsonObject): boolean =>
  (record.type === 'user' || record.type === 'assistant') && isJsonObject(record.message);

/**
 * Claude Code's transcript (`~/.claude/projects/…/SESSION.jsonl`): one event per line. Logs of related tools have
 * events of the same shape.
 */
export const claudeCode: Session = {
  name: 'claude-code',
  isEvent: (record) =>
    (typeof record.type === 'string' &&
      (record.sessionId !== undefined || record.agentId !== undefined) &&
      record.uuid !== undefined &&
      record.payload === undefined) ||
    // Exports may leave the session's id out.
    (typeof record.type === 'string' &&
      record.uuid !== undefined &&
      record.timestamp !== undefined &&
      (isSessionMessage(record) || record.parentUuid !== undefined)) ||
    // The lines that `claude -p --output-format stream-json` prints.
    (record.session_id !== undefined &&
      (isSessionMessage(record) || record.type === 'system' || record.type === 'result')) ||
    (record.type === 'summary' && typeof record.summary === 'string' && record.leafUuid !== undefined),
  keyOf: (record) => idOf(record.sessionId ?? record.session_id),
};

/**
 * A session: the blocks of one message may be on several lines; results are tool turns. A compaction begins another
 * history, a sidechain is a subagent's, and editing a prompt turns what was said before into a branch.
 */
export const claudeCodeFormat: Format = messageFormat({
  name: 'claude-code',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'message of the lines user and assistant; lines of one message.id are one turn',
    calls: 'blocks of the type tool_use',
    contexts:
      'isSidechain (or agentId), parent_tool_use_id, compact_boundary and isCompactSummary, forks of parentUuid; files of subagents/ beside it',
  },
  detects: (record) => record.session_of === claudeCode.name || listKey(record) !== undefined,
  times: sessionTimes,
  find(record, context) {
    const field = listKey(record) ?? 'events';
    const events = objectsOf(record[field]);
    const isSub =
      events.some((one) => one.isSidechain === true) &&
      events.every((one) => one.isSidechain === true || !KINDS.has(String(one.type)));
    const left = isSub ? new Set<JsonObject>() : leftBehind(events);
    const sideRoots = rootsOfSides(events);
    const byUuid = new Map(events.map((one) => [one.uuid, one]));
    const contexts: Context[] = [{ kind: 'main', name: null, after: null }];
    const placeOf = new Map<string, number>([['main', 0]]);
    const messages: FoundMessage[] = [];
    const byId = new Map<string, FoundMessage>();
    const usage: Record<string, number> = {};
    /** Histories that contain a message. */
    const used = new Set<number>();
    let main = 0;
    let model: string | null = null;
    let reason: string | null = null;
    let status: string | null = null;
    const calledBy = (id: string | null): number => {
      const caller = id === null ? -1 : messages.findLastIndex(({ calls }) => calls?.some((call) => call.id === id));
      if (caller !== -1) return caller;
      return messages.findLastIndex(({ context: place = 0 }) => itemAt(contexts, place).kind !== 'subagent');
    };
    const contextFor = (key: string, kind: Context['kind'], name: string | null) => {
      const known = placeOf.get(key);
      if (known !== undefined) return known;
      // Subagents may run in parallel: each branches from the turn that called it, not from the last turn of another.
      const after = kind === 'subagent' ? calledBy(name) : messages.length - 1;
      contexts.push({ kind, name, after: after < 0 ? null : after });
      placeOf.set(key, contexts.length - 1);
      return contexts.length - 1;
    };
    for (const [at, event] of events.entries()) {
      const lost = lostMessage(event, `/${field}/${at}`);
      if (lost !== null) messages.push({ ...lost, context: main });
      const isSide = (event.isSidechain === true || idOf(event.parent_tool_use_id) !== null) && !isSub;
      if (!isSide && (event.subtype === 'compact_boundary' || event.isCompactSummary === true)) {
        const key = event.subtype === 'compact_boundary' ? `cut ${at}` : null;
        // The summary belongs to the boundary right before it.
        const isBehind = contexts.at(-1)?.kind === 'compaction' && !used.has(contexts.length - 1);
        if (key !== null || !isBehind) main = contextFor(key ?? `cut ${at}`, 'compaction', null);
      }
      // The last line of `claude -p --output-format stream-json`.
      if (event.type === 'result')
        status = idOf(event.subtype) === 'success' && event.is_error === true ? 'error' : idOf(event.subtype);
      const isLine = event.type === 'tool_use' || event.type === 'tool_result';
      if (event.type !== 'user' && event.type !== 'assistant' && !isLine) continue;
      const side = idOf(event.agentId) ?? idOf(event.parent_tool_use_id);
      const place = isSide
        ? contextFor(`side ${side ?? idOf(sideRoots.get(event)?.uuid) ?? ''}`, 'subagent', side ?? 'sidechain')
        : left.has(event)
          ? contextFor(`left ${idOf(rootOf(event, byUuid)) ?? ''}`, 'branch', null)
          : main;
      used.add(place);
      if (isLine) {
        messages.push({ ...lineMessage(event, `/${field}/${at}`), context: place });
        continue;
      }
      const message = isJsonObject(event.message) ? event.message : { content: event.message ?? null };
      const pointer = `/${field}/${at}/message`;
      if (event.type === 'assistant') {
        model = idOf(message.model) ?? model;
        reason = idOf(message.stop_reason) ?? reason;
        addUsage(usage, message.usage);
        const id = idOf(message.id) ?? idOf(event.uuid);
        for (const one of repliesOf(message, pointer)) {
          const known = id === null || one.role !== 'assistant' ? undefined : byId.get(id);
          if (known !== undefined) {
            known.texts.push(...one.texts);
            if (one.calls !== undefined) known.calls = [...(known.calls ?? []), ...one.calls];
            continue;
          }
          // Claude Code's text for an API error.
          const whole = { ...one, context: place, ...(message.model === '<synthetic>' ? { trained: false } : {}) };
          messages.push(whole);
          if (id === null) continue;
          // Model text after a result is another turn.
          if (one.role === 'assistant') byId.set(id, whole);
          else byId.delete(id);
        }
        continue;
      }
      const said = notedResults(withResults({ ...message, role: 'user' }, pointer), event).filter(
        ({ role, texts }) =>
          role === 'tool' || !Array.isArray(message.content) || texts.some(({ text }) => text !== ''),
      );
      messages.push(...said.map((one) => ({ ...one, context: place })));
    }
    for (const one of objectsOf(record.subagents)) {
      const { name, events: lines, ...meta } = one;
      const own = claudeCodeFormat.read({ session_of: claudeCode.name, events: lines ?? [] }, context);
      contexts.push({
        kind: 'subagent',
        name: [idOf(meta.agentType), idOf(name)].filter((word) => word !== null).join(' ') || null,
        after: null,
        own,
      });
    }
    const session = events.find((one) => one.sessionId !== undefined || one.session_id !== undefined);
    return {
      known: new Set(['session_of', field, 'subagents']),
      messages,
      hasCallsApart: true,
      contexts,
      uid: idOf(session?.sessionId ?? session?.session_id),
      status,
      extras: {
        ...(model === null ? {} : { model }),
        ...(reason === null ? {} : { stop_reason: reason }),
        ...(Object.keys(usage).length > 0 ? { usage } : {}),
        ...pick(session ?? {}, ['cwd', 'version', 'gitBranch']),
        ...summaryOf(events),
      },
    };
  },
});

/** Claude Code's note beside a result's block, used if the block says nothing: `interrupted`, or an error in words. */
function notedResults(messages: FoundMessage[], { toolUseResult }: JsonObject): FoundMessage[] {
  const results = messages.filter(({ role }) => role === 'tool');
  const [only] = results;
  if (only === undefined || results.length > 1 || only.outcome !== undefined) return messages;
  if (typeof toolUseResult === 'string' && /^Error\b/.test(toolUseResult))
    only.outcome = outcomeIn({ error: toolUseResult });
  else if (isJsonObject(toolUseResult)) only.outcome = outcomeIn(toolUseResult);
  return messages;
}

/** The keys under which exports of a session keep its events. */
const listKey = (record: JsonObject): string | undefined =>
  ['loglines', 'messages'].find((key) => objectsOf(record[key]).some(isSessionMessage));

/** A call or a result on a separate line, as older versions wrote them. */
function lineMessage(event: JsonObject, at: string): FoundMessage {
  const id = idOf(event.tool_use_id ?? event.toolUseId ?? event.id);
  if (event.type === 'tool_result')
    return resultMessage(id, `${at}/output`, contentText(event.output ?? event.content), outcomeIn(event));
  return { role: 'function_call', texts: [], calls: [{ id, name: idOf(event.name), arguments: event.input }] };
}

const pick = (record: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (record[key] === undefined ? [] : [[key, record[key]]])));

const summaryOf = (events: readonly JsonObject[]): JsonObject => {
  const found = events.findLast((one) => one.type === 'summary' && typeof one.summary === 'string');
  return found === undefined ? {} : { summary: found.summary ?? null };
};

function addUsage(sum: Record<string, number>, usage: JsonValue | undefined): void {
  if (!isJsonObject(usage)) return;
  for (const [key, value] of Object.entries(usage)) {
    const number = typeof value === 'number' ? numberOf(value) : null;
    if (number !== null) sum[key] = (sum[key] ?? 0) + number;
  }
}

const isPrompt = (event: JsonObject): boolean => {
  if (event.type !== 'user' || event.isMeta === true) return false;
  const content = isJsonObject(event.message) ? event.message.content : undefined;
  return (
    typeof content === 'string' ||
    (Array.isArray(content) && content.some((block) => isJsonObject(block) && block.type === 'text'))
  );
};

/**
 * Events that are not ancestors of the last message and descend from another prompt: the user went back and asked
 * again. Parents may be missing or form a cycle; events that cannot be traced belong to the main history.
 */
function leftBehind(events: readonly JsonObject[]): Set<JsonObject> {
  const byUuid = new Map(events.flatMap((one) => (typeof one.uuid === 'string' ? [[one.uuid, one] as const] : [])));
  // A compaction has no parent, but names its logical predecessor.
  const parentOf = ({ parentUuid, logicalParentUuid }: JsonObject) => {
    const parent = typeof parentUuid === 'string' ? parentUuid : logicalParentUuid;
    return typeof parent === 'string' ? byUuid.get(parent) : undefined;
  };
  const last = events.findLast((one) => (one.type === 'user' || one.type === 'assistant') && one.isSidechain !== true);
  const way = new Set<JsonObject>();
  for (let one = last; one !== undefined && !way.has(one); one = parentOf(one)) way.add(one);
  const left = new Set<JsonObject>();
  for (const event of events) {
    if (way.has(event) || event.isSidechain === true || (event.type !== 'user' && event.type !== 'assistant')) continue;
    const seen = new Set<JsonObject>();
    let hasPrompt = false;
    let one: JsonObject | undefined = event;
    for (; one !== undefined && !way.has(one) && !seen.has(one); one = parentOf(one)) {
      seen.add(one);
      hasPrompt ||= isPrompt(one);
    }
    if (hasPrompt && one !== undefined && way.has(one)) left.add(event);
  }
  return left;
}

/** Maps each sidechain line to the one that it began with: older versions name no agent. */
function rootsOfSides(events: readonly JsonObject[]): Map<JsonObject, JsonObject> {
  const byUuid = new Map(events.map((one) => [one.uuid, one]));
  const roots = new Map<JsonObject, JsonObject>();
  for (const event of events) {
    if (event.isSidechain !== true) continue;
    const parent = typeof event.parentUuid === 'string' ? byUuid.get(event.parentUuid) : undefined;
    roots.set(event, parent === undefined ? event : (roots.get(parent) ?? event));
  }
  return roots;
}

/** The prompt that a branch began with, so that one branch is one context. */
function rootOf(event: JsonObject, byUuid: ReadonlyMap<JsonValue | undefined, JsonObject>): JsonValue | undefined {
  const seen = new Set<JsonObject>();
  let root: JsonValue | undefined = event.uuid;
  for (
    let one: JsonObject | undefined = event;
    one !== undefined && !seen.has(one);
    one = byUuid.get(one.parentUuid ?? null)
  ) {
    seen.add(one);
    if (isPrompt(one)) {
      root = one.uuid;
      break;
    }
  }
  return root;
}
