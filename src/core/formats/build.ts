import type { JsonObject, JsonValue } from '../json/value.ts';
import { plainJson } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { completeRollout } from '../rollout/complete.ts';
import type { Ended } from '../rollout/ended.ts';
import { countMask, inferLossMask, type LossMask, type MaskSource, type Trained } from '../rollout/loss-mask.ts';
import { maskAgainstTurns } from '../rollout/mask-audit.ts';
import type { RecordedOutcome } from '../rollout/outcome.ts';
import type { Context, Part, Rollout, RolloutTokens, Span, ToolCall, Turn } from '../rollout/rollout.ts';
import type { Times } from '../rollout/times.ts';
import { BESIDE } from '../rollout/unread.ts';
import type { Format, ReadContext } from './format.ts';
import { turnOf } from './turns.ts';

/** A text of a message, with its JSON pointer. */
export interface MessageText {
  pointer: string;
  text: string;
  isThought?: boolean;
  /** The text of the whole field, and where this piece of it begins. */
  within?: { text: string; start: number };
}

export interface MessageCall {
  id: string | null;
  name: string | null;
  /** As recorded: an object, or a JSON text. */
  arguments: JsonValue | undefined;
  raw?: string;
  error?: string | null;
}

/** One message of a history, as found by a format. */
export interface FoundMessage {
  role: string;
  texts: MessageText[];
  /** Recorded calls; without any, the calls in the text count. */
  calls?: MessageCall[];
  /** The ids of the calls that this message answers. */
  answers?: string | null;
  /** It answers a call, though its role is not tool. */
  isResult?: boolean;
  /** One text with the results of all calls before it. */
  answersAll?: true;
  /** Its text is only the call. */
  isCallText?: true;
  /** Sampled by the policy and trained on; null if the record does not say. By default true for assistant messages. */
  trained?: Trained;
  reward?: number | null;
  /** It represents a line that cannot be read. */
  isLost?: true;
  /** The writer's note on a tool's result. */
  outcome?: RecordedOutcome | undefined;
  /** Its index in `contexts`. */
  context?: number;
  /** The index of the reply that it rephrases. */
  retells?: number;
}

/** The parts of a record. */
export interface FoundRollout {
  format: string;
  record: JsonObject;
  /** Record keys with a place in the rollout; all others are extras. */
  known: ReadonlySet<string>;
  messages: FoundMessage[];
  step?: number | null;
  score?: number | null;
  groundTruth?: JsonValue | undefined;
  uid?: string | null;
  status?: string | null;
  ended?: Ended | null;
  group?: string | null;
  tools?: JsonValue | undefined;
  advantage?: number | null;
  named?: Record<string, number | null> | null;
  /** In addition to the record's extras. */
  extras?: JsonObject;
  contexts?: Context[];
  tokens?: RolloutTokens | null;
  returns?: (number | null)[] | null;
  times?: Times | null;
  /** The source of the mask; by default inferred from the roles. */
  mask?: MaskSource;
  /** The first message of the response; by default the first trainable one. */
  firstReply?: number;
  /** No model is recorded as the author of the text. */
  isUnsampled?: boolean;
  /** The writer asks for calls and runs none. */
  runsNoCalls?: boolean;
  /** It was not trained on, whatever the stream of its record. */
  isValidation?: boolean;
  /** Calls in a message's text do not count: the writer records them separately. */
  hasCallsApart?: boolean;
}

/** Messages as turns with the spans of their texts, and calls with their results. */
export function layMessages(
  messages: readonly FoundMessage[],
  { validation }: Pick<ReadContext, 'validation'>,
  hasCallsApart = false,
  isUnsampled = false,
): Pick<Rollout, 'texts' | 'spans' | 'turns'> {
  const texts: Record<string, string> = Object.create(null);
  const spans: Span[] = [];
  const turns: Turn[] = [];
  let firstCall = 0;
  for (const [index, message] of messages.entries()) {
    const trained = validation ? false : isUnsampled ? recordedTrained(message) : trainedOf(message);
    const turn = layMessage(message, index, firstCall, hasCallsApart);
    turn.trained = turn.text === '' && turn.toolCalls.length === 0 ? false : trained;
    turn.reward = message.reward ?? null;
    if (message.outcome !== undefined) turn.outcome = message.outcome;
    if (message.isLost) Object.assign(turn, { isLost: true, confidence: 'unknown' });
    if (message.context !== undefined && message.context > 0) turn.context = message.context;
    if (message.retells !== undefined) turn.retells = message.retells;
    firstCall += turn.toolCalls.length;
    turns.push(turn);
    for (const { pointer, text, within } of message.texts) {
      if (text === '' || (Object.hasOwn(texts, pointer) && within === undefined)) continue;
      const start = within?.start ?? 0;
      texts[pointer] = within?.text ?? text;
      spans.push({ field: pointer, start, end: start + text.length, turn: index, kind: 'text', trained });
    }
  }
  pairResults(turns, messages);
  return { texts, spans, turns };
}

type NamedRecord = Omit<FoundRollout, 'messages'>;

/** The rollout's values as found, and values without a place as extras. */
export function namedParts(found: NamedRecord) {
  const { record, known, tokens, group, ended } = found;
  const extras: JsonObject = Object.create(null);
  for (const key of Object.keys(record)) if (!known.has(key) && key !== BESIDE) extras[key] = record[key] ?? null;
  for (const key of Object.keys(found.extras ?? {})) extras[key] = found.extras![key] ?? null;
  return {
    format: found.format,
    step: found.step ?? null,
    score: found.score ?? null,
    groundTruth: found.groundTruth,
    uid: found.uid ?? null,
    requestId: null,
    status: found.status ?? null,
    extras,
    ...(ended ? { ended } : {}),
    ...(tokens ? { tokens } : {}),
    ...(group ? { group } : {}),
    ...(found.times ? { times: found.times } : {}),
    ...(found.isUnsampled ? { isUnsampled: true as const } : {}),
    ...(found.runsNoCalls ? { runsNoCalls: true as const } : {}),
  };
}

/** The rewards of the rollout as a whole. */
export const wholeRewards = ({ score, advantage, named }: NamedRecord) => ({
  total: score ?? null,
  advantage: advantage ?? null,
  ...(named ? { named } : {}),
  unaligned: [],
});

/** A format whose records are rollouts of messages: `find` says what a record holds. */
export const messageFormat = ({
  find,
  ...format
}: Omit<Format, 'read'> & {
  find(record: JsonObject, context: ReadContext): Omit<FoundRollout, 'format' | 'record'>;
}): Format => ({
  ...format,
  read: (record, context) => buildRollout({ ...find(record, context), format: format.name, record }, context),
});

/** A rollout of messages: the mask is by message, unless tokens are recorded. */
export function buildRollout(found: FoundRollout, asked: ReadContext): Rollout {
  const context = found.isValidation === true ? { ...asked, validation: true } : asked;
  const { messages } = found;
  const { validation } = context;
  const { texts, spans, turns } = layMessages(
    messages,
    context,
    found.hasCallsApart === true,
    found.isUnsampled === true,
  );
  const firstReply =
    found.firstReply ?? firstIndex(messages, (message) => trainedOf(message) !== false || isReply(message.role));
  if (isOnlyOfTokens(found) && maskAgainstTurns(turns, firstReply, found.tokens!) !== null) {
    for (const span of spans) if (span.turn >= firstReply) span.trained = null;
    for (const turn of turns.slice(firstReply)) turn.trained = null;
  }
  const perTurn = turns.map(({ reward }) => reward);
  const contexts = found.contexts ?? [];
  return completeRollout(
    {
      ...namedParts(found),
      texts,
      turns,
      spans,
      responseTurn: firstReply,
      toolSchemas: Array.isArray(found.tools) ? found.tools : [],
      validation,
      // A recorded mask is also shown for a validation rollout, though nothing of it was trained on.
      lossMask: validation && found.mask !== 'recorded' ? null : maskOf(spans, messages.slice(firstReply), found),
      ...(contexts.length > 1 ? { contexts } : {}),
      rewards: {
        ...wholeRewards(found),
        perTurn: noneAsNull(perTurn),
        returns: noneAsNull(found.returns ?? []),
      },
    },
    context.errors,
  );
}

/** The mask is recorded for the tokens, and for no single message. */
const isOnlyOfTokens = ({ tokens, mask, messages }: FoundRollout): boolean =>
  tokens != null && mask === 'recorded' && messages.every(({ trained }) => trained === undefined);

const isReply = (role: string): boolean => role === 'assistant' || role === 'function_call';
const trainedOf = (message: FoundMessage): Trained =>
  message.trained === undefined ? isReply(message.role) : message.trained;

/** Nothing says that a run sampled the reply or trained on it: its mask is unknown, unless the message has one. */
const recordedTrained = (message: FoundMessage): Trained =>
  message.trained === undefined && isReply(message.role) ? null : trainedOf(message);

function firstIndex<T>(items: readonly T[], holds: (item: T) => boolean): number {
  const at = items.findIndex(holds);
  return at === -1 ? items.length : at;
}

const noneAsNull = (values: (number | null)[]): (number | null)[] | null =>
  values.some((value) => value !== null) ? values : null;

function maskOf(spans: readonly Span[], response: readonly FoundMessage[], { mask, tokens }: FoundRollout): LossMask {
  const fields = response.flatMap(({ texts }) => texts.map(({ pointer }) => pointer));
  if (mask === undefined || mask === 'inferred') return inferLossMask(spans, fields);
  return {
    source: mask,
    ...countMask(spans, fields),
    trainedTokens: tokens?.mask.reduce((sum, bit) => sum + (bit === 0 ? 0 : 1), 0) ?? null,
    totalTokens: tokens?.mask.length ?? null,
  };
}

function layMessage(message: FoundMessage, index: number, firstCall: number, hasCallsApart: boolean): Turn {
  const { texts, role } = message;
  const calls = message.calls ?? [];
  const shown = texts.filter(({ text }) => text !== '');
  const hasThoughts = shown.some(({ isThought }) => isThought === true);
  const text = shown.map((piece) => piece.text).join('\n');
  // Separately recorded thoughts are reasoning whatever their text contains; the text after them may contain calls.
  const last = shown.at(-1);
  const head = hasThoughts && last !== undefined ? text.length - (last.isThought ? 0 : last.text.length) : 0;
  const turn = turnOf(index, hasCallsApart ? 'text' : role, text.slice(head), firstCall);
  turn.role = role;
  turn.text = text;
  for (const part of turn.parts) {
    part.start += head;
    part.end += head;
  }
  if (head > 0) turn.parts.unshift(...thoughtParts(shown, head));
  const own = turn.toolCalls.filter(({ error }) => error === null);
  if (calls.length > 0) {
    const recorded = calls.map((call, position) => recordedCall(call, firstCall + position));
    if (turn.toolCalls.length === recorded.length) {
      for (const [at, { id, name, arguments: args, error }] of recorded.entries())
        Object.assign(itemAt(turn.toolCalls, at), { id, name, arguments: args, error });
    } else {
      if (own.length > 0) turn.parts = plainParts(turn.parts);
      turn.toolCalls = recorded;
      if (message.isCallText && text !== '') turn.parts = [{ kind: 'call', start: 0, end: text.length, call: 0 }];
    }
  }
  return turn;
}

/** Calls in the text that are not the recorded ones become text again. */
const plainParts = (parts: readonly Part[]): Part[] =>
  parts.map((part) => (part.kind === 'call' ? { kind: 'text', start: part.start, end: part.end } : part));

function thoughtParts(pieces: readonly MessageText[], head: number): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const { text, isThought } of pieces) {
    if (at >= head) break;
    const end = Math.min(head, at + text.length + 1);
    parts.push(isThought ? { kind: 'think', start: at, end, apart: true } : { kind: 'text', start: at, end });
    at = end;
  }
  return parts;
}

function recordedCall(call: MessageCall, index: number): ToolCall {
  const { id, name } = call;
  const raw = call.raw ?? (typeof call.arguments === 'string' ? call.arguments : '');
  const { args, error } = decoded(call.arguments);
  return { index, id, name, arguments: args, raw, error: call.error ?? error, resultTurn: null };
}

/** Arguments in JSON text are replaced by their value; text that does not parse is kept, with its error. */
function decoded(value: JsonValue | undefined): { args: JsonValue; error: string | null } {
  if (typeof value !== 'string') return { args: value ?? null, error: null };
  if (value.trim() === '') return { args: {}, error: null };
  try {
    return { args: plainJson(value), error: null };
  } catch (error) {
    return {
      args: null,
      error: `its arguments are not JSON: ${String(error instanceof Error ? error.message : error)}`.slice(0, 200),
    };
  }
}

/** Roles whose turn behind a call is its result. */
const ANSWERING: ReadonlySet<string> = new Set(['tool', 'environment']);

/**
 * Results are matched by call id; results without one belong, in order, to the preceding calls in the same history. A
 * call that could not be parsed was answered where there are as many results as calls.
 */
export function pairResults(
  turns: readonly Turn[],
  messages: readonly Pick<FoundMessage, 'answers' | 'answersAll' | 'isResult'>[],
): void {
  const byId = new Map<string, ToolCall>();
  // A set lets go of one of 80,000 calls without moving the others.
  const waiting = new Set<ToolCall>();
  const named = new Set(messages.flatMap(({ answers }) => answers ?? []));
  const isAnswer = (index: number): boolean =>
    ANSWERING.has(turns[index]?.role ?? '') || messages[index]?.isResult === true;
  let isEachAnswered = false;
  for (const [index, turn] of turns.entries()) {
    const { answers, answersAll } = messages[index]!;
    if (answersAll) {
      for (const call of waiting) call.resultTurn = turn.index;
      waiting.clear();
    }
    for (const call of turn.toolCalls) if (call.id !== null) byId.set(call.id, call);
    if (!isAnswer(index)) {
      if (turn.toolCalls.length > 0) {
        // Calls of one reply may be separate consecutive items.
        const before = turns[index - 1];
        const goesOn = before !== undefined && before.toolCalls.length > 0 && before.context === turn.context;
        if (!goesOn) waiting.clear();
        for (const call of turn.toolCalls) if (call.resultTurn === null) waiting.add(call);
      } else if (turn.role !== 'system' && turn.retells === undefined) waiting.clear();
      continue;
    }
    if (index > 0 && !isAnswer(index - 1)) {
      let end = index;
      while (isAnswer(end)) end++;
      isEachAnswered = end - index >= waiting.size;
    }
    const asked = answers ? byId.get(answers) : undefined;
    // Calls parsed from the text have no id, whatever id their results name.
    const isNamed = answers ? byId.has(answers) : false;
    const call =
      asked?.resultTurn === null
        ? asked
        : isNamed
          ? undefined
          : firstWhere(
              waiting,
              (one) =>
                (one.error === null || isEachAnswered) &&
                // A result that names the call comes before one that is merely next to it.
                (one.id === null || (!answers && !named.has(one.id))),
            );
    if (call === undefined) continue;
    call.resultTurn = turn.index;
    waiting.delete(call);
  }
}

function firstWhere<T>(values: Iterable<T>, holds: (value: T) => boolean): T | undefined {
  for (const value of values) if (holds(value)) return value;
  return undefined;
}
