import { isJsonObject, type JsonValue, plainJson } from '../json/value.ts';
import type { Rollout } from './rollout.ts';

/** Content of a record that its rollout shows nowhere. */
export interface Unread {
  /** `[]` is any element of a list, `{x}` the attribute x, `→` JSON inside a string. */
  path: string;
  /** `id`: what names an item or its kind, and times. */
  kind: 'text' | 'numbers' | 'id';
  /** Characters of text, or numbers. */
  size: number;
  /** How many values the path has. */
  count: number;
}

/** The key under which the first of a record's rollouts or events holds what none of them has. */
export const BESIDE = 'beside_rollouts';

/** Shorter strings are names and words of the writer. */
const LEAST = 20;
/** Characters that are searched for texts that are no whole value of the rollout. */
const BUDGET = 2e9;
/** Longer texts are data. */
const LONGEST_LABEL = 200;
/** Nothing that a person wrote is nested deeper. */
const DEPTH = 64;

/**
 * The content of a record that its rollout does not hold, largest first: strings of 20 characters and more, and lists of numbers as long as
 * the tokens of a response. It compares values, not keys, so that no format has to declare what it reads.
 */
export function unreadOf(record: JsonValue, rollout: Rollout): Unread[] {
  const shown = new ShownParts(rollout);
  const found = new Map<string, Unread>();
  const add = (path: string, kind: Unread['kind'], size: number): void => {
    const known = found.get(path);
    if (known === undefined) found.set(path, { path, kind, size, count: 1 });
    else {
      known.size += size;
      known.count++;
    }
  };
  /** @returns whether something below is not shown */
  const visit = (value: JsonValue, path: string, depth: number): boolean => {
    if (typeof value === 'string') return visitText(value, path, depth);
    if (depth > DEPTH) return false;
    if (Array.isArray(value)) {
      if (isNumbers(value)) {
        if (!shown.needs(value.length) || shown.hasNumbers(value)) return false;
        add(path, 'numbers', value.length);
        return true;
      }
      let isUnread = false;
      for (const one of value) {
        const attribute = isJsonObject(one) ? attributeOf(one) : null;
        if (attribute === null) isUnread = visit(one, `${path}[]`, depth + 1) || isUnread;
        else isUnread = visit(attribute.value, `${path}[]{${attribute.key}}`, depth + 1) || isUnread;
      }
      return isUnread;
    }
    if (!isJsonObject(value)) return false;
    let isUnread = false;
    for (const [key, one] of Object.entries(value))
      if (one !== undefined) isUnread = visit(one, path === '' ? key : `${path}.${key}`, depth + 1) || isUnread;
    return isUnread;
  };
  const visitText = (text: string, path: string, depth: number): boolean => {
    if (text.length < LEAST || shown.hasText(text)) return false;
    const inner = depth < DEPTH && /^\s*[[{]/.test(text) ? parsed(text) : undefined;
    if (typeof inner === 'object' && inner !== null) return visit(inner, `${path}→`, depth + 1);
    add(path, isId(text) || isLabel(path, text) ? 'id' : 'text', text.length);
    return true;
  };
  visit(isSession(record) ? record.events : record, '', 0);
  for (const one of found.values()) one.path = filePath(one.path, isSession(record));
  return [...found.values()].sort((a, b) => (a.kind === 'id' ? 1 : 0) - (b.kind === 'id' ? 1 : 0) || b.size - a.size);
}

/** The path in the file, of a key that its container put elsewhere. */
const filePath = (path: string, isEvent: boolean): string =>
  (isEvent ? path.replace(/^\[\]\.?/, '') : path).replace(new RegExp(`^${BESIDE}\\.?`), '');

const isSession = (record: JsonValue): record is { session_of: string; events: JsonValue[] } =>
  isJsonObject(record) && typeof record.session_of === 'string' && Array.isArray(record.events);

const isNumbers = (list: readonly JsonValue[]): boolean =>
  list.length > 0 && list.every((one) => typeof one === 'number' || typeof one === 'bigint');

/** `{key, value: {stringValue}}`: an attribute of OpenTelemetry. */
function attributeOf(one: { [key: string]: JsonValue }): { key: string; value: JsonValue } | null {
  const { key, value } = one;
  if (typeof key !== 'string' || !isJsonObject(value) || Object.keys(one).length !== 2) return null;
  const [inner, ...more] = Object.entries(value);
  if (inner === undefined || more.length > 0 || !/^(?:string|array|kvlist|int|double|bool|bytes)Value$/.test(inner[0]))
    return null;
  const held = inner[1];
  return {
    key,
    value: isJsonObject(held) && Array.isArray(held.values) && Object.keys(held).length === 1 ? held.values : held,
  };
}

/** A word below `type`, `call_id`, `parentUuid` … names an item or its kind. The item's content has its own path. */
const isLabel = (path: string, text: string): boolean =>
  text.length <= LONGEST_LABEL &&
  /^[\w.:/@|+=-]+$/.test(text) &&
  /(?:(?:^|[._{])(?:id|uuid|type|kind)|[a-z](?:Id|ID|Uuid|UUID|Type|Kind))s?\}?(?:\[\])*$/.test(path);

/** Ids and times: long, but nobody reads them. */
const isId = (text: string): boolean =>
  /^(?:0x)?[0-9a-f]{16,}$/i.test(text) ||
  /^(?:[a-z]+[-_]+)*[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:[-_]\w+)?$/i.test(text) ||
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.]*(?:Z|[+-]\d\d:?\d\d)?$/.test(text) ||
  /^[a-z]{2,12}_[0-9A-Za-z_-]*\d[0-9A-Za-z_-]*$/.test(text);

function parsed(text: string): JsonValue | undefined {
  try {
    return plainJson(text);
  } catch {
    return undefined;
  }
}

/** All that a rollout shows, for quick comparison. */
class ShownParts {
  readonly #texts = new Set<string>();
  #whole: string | null = null;
  #budget = BUDGET;
  readonly #lists: string[] = [];
  readonly #lengths = new Set<number>();
  readonly #known = new Map<string, boolean>();

  constructor(rollout: Rollout) {
    this.#addRollout(rollout);
    for (const context of rollout.contexts ?? []) {
      // Only turns and tokens of a context are shown.
      if (context.own !== undefined) this.#addTurns(context.own);
      if (context.tokens !== undefined) this.#addTokens(context.tokens);
    }
  }

  #addRollout(rollout: Rollout): void {
    const { rewards } = rollout;
    this.#addTurns(rollout);
    this.#add([rollout.groundTruth ?? null, ...rollout.toolSchemas, rollout.extras]);
    this.#add([rollout.uid, rollout.status, rollout.group ?? null, rollout.ended.evidence, rollout.requestId]);
    for (const values of [rewards.perTurn, rewards.returns, ...rewards.unaligned.map((one) => one.values)])
      if (Array.isArray(values)) this.#addList(values);
  }

  #addTurns({ texts, turns, tokens }: Rollout): void {
    for (const text of Object.values(texts)) this.#texts.add(text);
    for (const turn of turns) {
      this.#texts.add(turn.text);
      for (const { start, end } of turn.parts) this.#texts.add(turn.text.slice(start, end));
      for (const call of turn.toolCalls) {
        this.#add([call.raw, call.name, call.arguments, call.error]);
        if (call.metrics !== undefined) this.#add(call.metrics);
      }
      if (turn.outcome !== undefined) this.#texts.add(turn.outcome.evidence);
    }
    if (tokens !== undefined) this.#addTokens(tokens);
  }

  #addTokens(tokens: NonNullable<Rollout['tokens']>): void {
    const { promptIds, responseIds, mask, logprobs, promptLogprobs, more } = tokens;
    const prompt = promptIds ?? [];
    this.#lengths.add(responseIds.length).add(prompt.length);
    this.#addList([...prompt, ...responseIds]);
    this.#addList(mask);
    this.#addList([...prompt.map(() => 0), ...mask]);
    for (const list of [logprobs, promptLogprobs, ...Object.values(more ?? {})]) if (list) this.#addList(list);
  }

  #add(value: JsonValue): void {
    if (typeof value === 'string') this.#texts.add(value);
    else if (Array.isArray(value)) {
      if (isNumbers(value)) this.#addList(value);
      else for (const one of value) this.#add(one);
    } else if (isJsonObject(value)) for (const one of Object.values(value)) if (one !== undefined) this.#add(one);
  }

  #addList(list: readonly unknown[]): void {
    if (list.length > 0) this.#lists.push(`,${list.join(',')},`);
  }

  /** Whether a list is long enough to be content. */
  needs(length: number): boolean {
    return length >= LEAST || (length > 1 && this.#lengths.has(length));
  }

  hasNumbers(list: readonly JsonValue[]): boolean {
    const text = `,${list.join(',')},`;
    return this.#lists.some((one) => one.includes(text));
  }

  hasText(text: string): boolean {
    if (this.#texts.has(text)) return true;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#whole ??= [...this.#texts].join('\n');
    // A huge record: the rest counts as not shown rather than to keep a person waiting.
    this.#budget -= this.#whole.length;
    const trimmed = text.trim();
    const has = this.#texts.has(trimmed) || (this.#budget > 0 && this.#whole.includes(trimmed));
    this.#known.set(text, has);
    return has;
  }
}
