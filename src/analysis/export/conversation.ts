import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { hashOf } from '../../core/json/fingerprint.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { CUT_ENDS } from '../../core/rollout/ended.ts';
import { type GroupKey, groupKeyOf } from '../../core/rollout/group-key.ts';
import type { Rollout, RolloutTokens, ToolCall, Turn } from '../../core/rollout/rollout.ts';
import { argumentsText } from './arguments-text.ts';
import type { ExportMessage } from './message.ts';
import { type RecordedMessage, recordedMessages } from './recorded-messages.ts';

/** One history of a rollout as a trainer's loader sees it. */
export interface ExportConversation {
  /** The record's own `id`, else its locator. */
  id: string | number;
  locator: string;
  /** A hash of the record's text: it names the source if the dump changes. */
  source: string;
  step: number | null;
  score: number | null;
  /** Identifies its group within its step. */
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
  /** Every message has parts from the record beside its text. */
  isRecorded: boolean;
  /** The texts of its messages hold all of it: no tools, calls or reasoning are recorded apart from them. */
  isTextWhole: boolean;
  tokens: RolloutTokens | null;
  /** The record has a list of log probabilities, whether or not it fits the ids. */
  hasLogprobs: boolean;
  /** As recorded: one for the rollout, or one for each token of the response. */
  advantages: number | (number | null)[] | null;
  /** Of the sampling, if recorded. */
  temperature: number | null;
  /** The model did not write the end of its last turn. */
  isCut: boolean;
  /** The mask was inferred or is unknown. */
  isInferred: boolean;
  /** The content of a turn is not recorded, or a line of it cannot be read. */
  isUnrecorded: boolean;
  /** Its tokens have a recorded mask, which does not follow the turns. */
  isSplit: boolean;
  /** Histories besides the main one. */
  contexts: number;
  hasPictures: boolean;
  status: string | null;
  license: string | null;
  /** A branch with a turn that a person rewrote: whether its calls gave the recorded results again and its reward a score. */
  edit: 'verified' | 'unverified' | null;
  /** Whether it matches the filter that says which answers are good; null without one. */
  isGood: boolean | null;
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
  const apart = new Set(rollout.reading === undefined ? turns.filter(hasPartsApart) : []);
  const messages = turns.map((turn, at) => exportMessage(turn, recorded?.[at] ?? null, turns, apart));
  const tools =
    rollout.reading === undefined && rollout.toolSchemas.length > 0
      ? rollout.toolSchemas.map(wrappedTool)
      : recorded !== null && Array.isArray(extras.tools)
        ? extras.tools
        : null;
  const id = extras.id ?? extras.instance_id ?? row.locator;
  return {
    id: plainId(id) ?? row.locator,
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
    tools,
    isRecorded: recorded !== null,
    isTextWhole: recorded !== null || (tools === null && apart.size === 0),
    tokens: withIds(rollout.tokens),
    hasLogprobs: hasLogprobs(row.raw),
    advantages: rollout.tokens?.more?.advantages ?? rollout.rewards.advantage,
    temperature: temperatureIn(extras),
    isCut: isCut(rollout, turns),
    isInferred:
      !isSplit && (lossMask === null || lossMask.source === 'inferred' || lossMask.source === 'unknown' || isUnsure),
    isUnrecorded: turns.some(({ isLost }) => isLost === true),
    isSplit,
    contexts: (rollout.contexts ?? []).filter(({ kind }) => kind !== 'main').length,
    hasPictures: hasPictureText(row.raw) || PICTURE_KEYS.some((key) => isFilled(extras[key])),
    status: rollout.status,
    license: textOrNull(extras.license ?? extras.licence),
    edit: null,
    isGood: null,
  };
}

/**
 * The turns that are only known as text, each as its exact text without parts: a template might write parts cut from
 * it differently.
 */
export const withWholeTurns = (one: ExportConversation): ExportConversation =>
  one.isRecorded ? one : { ...one, messages: one.messages.map((turn) => (turn.isApart ? turn : wholeTurn(turn))) };

const wholeTurn = ({ role, text, trained }: ExportMessage): ExportMessage => ({
  role,
  text,
  trained,
  content: text,
  reasoning: null,
  calls: [],
  answers: null,
  name: null,
  isApart: false,
});

/** null for what no column of ids holds. */
const plainId = (id: JsonValue): string | number | null =>
  typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
    ? id
    : typeof id === 'bigint'
      ? `${id}`
      : null;

/** Markers of pictures in text, and the blocks of messages that hold pictures, videos and sounds. */
const PICTURE =
  /<\|(?:image_pad|vision_start|image)\|>|"type": ?"(?:input_)?(?:image|video|audio)(?:_url)?"|"inline_?[dD]ata":/;

/** Everything that `PICTURE` finds contains one of these words. */
const PICTURE_WORDS = ['image', 'vision_start', 'video', 'audio', 'inline'];

/** A search for plain words is several times as fast as a pattern, and most records have none of them. */
const hasPictureText = (raw: string): boolean => PICTURE_WORDS.some((word) => raw.includes(word)) && PICTURE.test(raw);

/** Keys under which trainers keep pictures beside the messages. */
const PICTURE_KEYS = ['image', 'images', 'video', 'videos', 'audio', 'audios', 'multi_modal_data', 'multimodal_inputs'];

const isFilled = (value: JsonValue | undefined): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some((one) => one !== null && (!Array.isArray(one) || one.length > 0))
    : typeof value === 'string' && value !== '';

/** A list that begins with a number. */
const LOGPROBS = /"\w*log_?probs": ?\[ ?(?:[-\d]|NaN)/;

const hasLogprobs = (raw: string): boolean => raw.includes('probs"') && LOGPROBS.test(raw);

const hasCallsApart = ({ toolCalls, parts }: Turn): boolean =>
  toolCalls.length > parts.filter(({ kind }) => kind === 'call').length;

/** Its text alone would lose them. */
const hasPartsApart = (turn: Turn): boolean => hasCallsApart(turn) || turn.parts.some(({ apart }) => apart);

/** A schema in OpenAI's wrapper, which chat templates expect. */
function wrappedTool(tool: JsonValue): JsonValue {
  if (!isJsonObject(tool) || tool.function !== undefined || typeof tool.name !== 'string') return tool;
  const { name, description, input_schema: schema, parameters = schema } = tool;
  return {
    type: 'function',
    function: { name, ...(description === undefined ? {} : { description }), parameters: parameters ?? {} },
  };
}

/** Where trainers write it: beside the rollout, or with the other settings of its sampling. */
function temperatureIn({ temperature, sampling_params: params }: JsonObject): number | null {
  const found = temperature ?? (isJsonObject(params) ? params.temperature : null);
  return typeof found === 'number' ? found : null;
}

/** Masks are recorded without ids too: each id is then a placeholder. */
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

function exportMessage(
  turn: Turn,
  recorded: RecordedMessage | null,
  turns: readonly Turn[],
  apart: ReadonlySet<Turn>,
): ExportMessage {
  const { role, text, trained } = turn;
  if (recorded !== null) return { role, text, trained, isApart: false, ...recorded };
  const part = (kind: 'text' | 'think'): string =>
    turn.parts
      .filter((one) => one.kind === kind)
      .map(({ start, end }) => text.slice(start, end))
      .join('');
  const think = part('think').replace(/^\s*<think>\n?|\n?<\/think>\s*$/g, '');
  // Calls that its content shows would come twice.
  const called = apart.has(turn) && !hasCallsApart(turn) ? [] : turn.toolCalls;
  const calls = called.map((call) => ({
    id: call.id ?? `call_${call.index}`,
    name: call.name ?? '',
    arguments: apart.has(turn) ? apartArguments(call) : shownArguments(call.raw, call.arguments),
    isJson: call.error === null && isJsonObject(call.arguments ?? undefined),
  }));
  const asking = turns.find(({ toolCalls }) => toolCalls.some(({ resultTurn }) => resultTurn === turn.index));
  const asked = asking?.toolCalls.find(({ resultTurn }) => resultTurn === turn.index);
  return {
    role,
    text,
    trained,
    content: apart.has(turn) ? apartText(turn, false) : role === 'assistant' ? withoutTags(part('text')) : text,
    reasoning: apart.has(turn) ? apartText(turn, true) || null : think === '' ? null : think,
    calls,
    answers: role === 'tool' && asked !== undefined ? (asked.id ?? `call_${asked.index}`) : null,
    name: role === 'tool' ? (asked?.name ?? null) : null,
    isApart: apart.has(turn) || (role === 'tool' && asking !== undefined && apart.has(asking)),
  };
}

/** The reasoning that is recorded apart, or all other text, without the line break that joins them. */
function apartText({ text, parts }: Turn, isReasoning: boolean): string {
  const own = parts.filter(({ apart = false }) => apart === isReasoning);
  const joined = own.map(({ start, end }) => text.slice(start, end)).join('');
  return (own.at(-1)?.end ?? 0) < text.length && joined.endsWith('\n') ? joined.slice(0, -1) : joined;
}

/** Arguments that were recorded as text go out as that text, valid JSON or not. */
const apartArguments = ({ raw, arguments: value }: ToolCall): string => (raw === '' ? argumentsText(value ?? {}) : raw);

/** The words between reasoning and calls; call tags without words are not content. */
const withoutTags = (text: string): string => text.replace(/<\/?(?:tool_call|tool_calls|think)>/g, '').trim();

/** The arguments as the model wrote them, if the text of the call shows them; else serialised again. */
function shownArguments(raw: string, value: JsonValue | null): string {
  const at = /"(?:arguments|parameters)"\s*:\s*/.exec(raw);
  if (at !== null) {
    const text = raw.slice(at.index + at[0].length).trimEnd();
    const inner = text.endsWith('}') ? text.slice(0, -1).trimEnd() : text;
    if (isJsonText(inner)) return inner;
  }
  return value === null ? raw.trim() : argumentsText(value);
}

function isJsonText(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
