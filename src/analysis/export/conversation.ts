import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { hashOf } from '../../core/json/fingerprint.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { CUT_ENDS } from '../../core/rollout/ended.ts';
import { type GroupKey, groupKeyOf } from '../../core/rollout/group-key.ts';
import type { Rollout, RolloutTokens, Turn } from '../../core/rollout/rollout.ts';
import type { ExportMessage } from './message.ts';
import { type RecordedMessage, recordedMessages } from './recorded-messages.ts';

/** One history of a rollout as a trainer's loader sees it. */
export interface ExportConversation {
  /** The record's own `id`, else its locator. */
  id: JsonValue;
  locator: string;
  /** A hash of the record's text: it names the source if the dump changes. */
  source: string;
  step: number | null;
  score: number | null;
  /** What its group in its step is known by. */
  group: GroupKey;
  /** A hash of the messages before the response. */
  prompt: string;
  groundTruth: JsonValue | undefined;
  dataSource: string | null;
  messages: ExportMessage[];
  /** The first message of the response; equals messages.length if the response is empty. */
  response: number;
  /** Tools that the record lists separately from the text; null if only the system text shows them. */
  tools: JsonValue[] | null;
  /** The messages come from the record and were not cut from its text, or their calls are not in it. */
  isRecorded: boolean;
  tokens: RolloutTokens | null;
  /** The model did not write the end of its last turn. */
  isCut: boolean;
  /** The mask was inferred or is unknown. */
  isInferred: boolean;
  /** Its tokens have a recorded mask, which does not follow the turns. */
  isSplit: boolean;
  /** Histories besides the main one. */
  contexts: number;
  hasPictures: boolean;
  status: string | null;
  license: string | null;
  /** A branch with a turn that a person rewrote: whether its calls gave the recorded results again and its reward a score. */
  edit: 'verified' | 'unverified' | null;
}

/** @returns null for a record without a rollout */
export function conversationOf(row: DumpRecord): ExportConversation | null {
  const { rollout } = row;
  if (rollout === null) return null;
  const turns = rollout.turns.filter(({ context = 0 }) => context === 0);
  const recorded = recordedMessages(rollout.extras, turns);
  const { extras, lossMask } = rollout;
  const isUnsure = turns.some(({ trained, confidence }) => trained === null || confidence === 'unknown');
  const isSplit = (rollout.tokens?.mask.length ?? 0) > 0 && lossMask?.source === 'unknown';
  const response = turns.findIndex(({ index }) => index >= rollout.responseTurn);
  const messages = turns.map((turn, at) => exportMessage(turn, recorded?.[at] ?? null, turns));
  const id = extras.id ?? extras.instance_id ?? row.locator;
  return {
    id: typeof id === 'object' ? row.locator : id,
    locator: row.locator,
    source: hashOf(row.raw),
    step: rollout.step,
    score: rollout.score,
    group: groupKeyOf(rollout),
    prompt: hashOf(
      printJson(messages.slice(0, response < 0 ? undefined : response).map(({ role, text }) => [role, text])),
    ),
    groundTruth: rollout.groundTruth,
    dataSource: textOrNull(extras.data_source),
    messages,
    response: response < 0 ? messages.length : response,
    tools: recorded !== null && Array.isArray(extras.tools) ? extras.tools : null,
    isRecorded: recorded !== null || turns.some(hasCallsApart),
    tokens: withIds(rollout.tokens),
    isCut: isCut(rollout, turns),
    isInferred:
      !isSplit && (lossMask === null || lossMask.source === 'inferred' || lossMask.source === 'unknown' || isUnsure),
    isSplit,
    contexts: (rollout.contexts ?? []).filter(({ kind }) => kind !== 'main').length,
    hasPictures: /<\|(?:image_pad|vision_start|image)\|>|"type": ?"image(?:_url)?"/.test(row.raw),
    status: rollout.status,
    license: textOrNull(extras.license ?? extras.licence),
    edit: null,
  };
}

/** Its text alone would lose them. */
const hasCallsApart = ({ toolCalls, parts }: Turn): boolean =>
  toolCalls.length > parts.filter(({ kind }) => kind === 'call').length;

/** Masks are recorded without ids too: a placeholder stands for each then. */
const withIds = (tokens: RolloutTokens | undefined): RolloutTokens | null =>
  tokens === undefined || tokens.responseIds.some((id) => id < 0) ? null : tokens;

const textOrNull = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

/** An end token, as templates write it after a turn. */
const END_TOKEN = /<[|｜][^<>\s]+[|｜]>|<\/s>|<end_of_turn>|<eos>/;

/**
 * A rollout was cut if the record says so, or if earlier turns of the same text end with a special token and the last one, the model's,
 * does not.
 */
function isCut({ ended, extras, spans, texts }: Rollout, turns: readonly Turn[]): boolean {
  if (CUT_ENDS.includes(ended.how) || ended.how === 'aborted' || extras.truncated === true) return true;
  const last = turns.at(-1);
  if (last === undefined || last.role !== 'assistant' || ended.how !== 'unknown') return false;
  const closed = new Set<number>();
  let open = -1;
  for (const { turn, kind, field, start, end } of spans) {
    if (kind === 'text') open = turn;
    else if (turn === open && END_TOKEN.test(texts[field]?.slice(start, end) ?? '')) closed.add(turn);
  }
  return closed.size > 0 && !closed.has(last.index);
}

function exportMessage(turn: Turn, recorded: RecordedMessage | null, turns: readonly Turn[]): ExportMessage {
  const { role, text, trained } = turn;
  if (recorded !== null) return { role, text, trained, ...recorded };
  const part = (kind: 'text' | 'think'): string =>
    turn.parts
      .filter((one) => one.kind === kind)
      .map(({ start, end }) => text.slice(start, end))
      .join('');
  const think = part('think').replace(/^\s*<think>\n?|\n?<\/think>\s*$/g, '');
  const calls = turn.toolCalls.map((call) => ({
    id: call.id ?? `call_${call.index}`,
    name: call.name ?? '',
    arguments: argumentsText(call.raw, call.arguments),
    isJson: call.error === null && isJsonObject(call.arguments ?? undefined),
  }));
  const asked = turns.flatMap(({ toolCalls }) => toolCalls).find(({ resultTurn }) => resultTurn === turn.index);
  return {
    role,
    text,
    trained,
    content: role === 'assistant' ? withoutTags(part('text')) : text,
    reasoning: think === '' ? null : think,
    calls,
    answers: role === 'tool' && asked !== undefined ? (asked.id ?? `call_${asked.index}`) : null,
    name: role === 'tool' ? (asked?.name ?? null) : null,
  };
}

/** The words between reasoning and calls; call tags without words are not content. */
const withoutTags = (text: string): string => text.replace(/<\/?(?:tool_call|tool_calls|think)>/g, '').trim();

/** The arguments as the model wrote them, if the text of the call shows them; else serialised again. */
function argumentsText(raw: string, value: JsonValue | null): string {
  const at = /"(?:arguments|parameters)"\s*:\s*/.exec(raw);
  if (at !== null) {
    const text = raw.slice(at.index + at[0].length).trimEnd();
    const inner = text.endsWith('}') ? text.slice(0, -1).trimEnd() : text;
    if (isJsonText(inner)) return inner;
  }
  return value === null ? raw.trim() : printJson(value);
}

function isJsonText(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as JsonObject) === 'object';
  } catch {
    return false;
  }
}
