import { isJsonObject, type JsonObject, type JsonValue, listIn, objectIn } from '../json/value.ts';
import { reportedFinding } from '../rollout/checks.ts';
import { completeRollout } from '../rollout/complete.ts';
import type { Finding } from '../rollout/finding.ts';
import { countMask, type LossMask, orTrained, type Trained } from '../rollout/loss-mask.ts';
import type { Rollout, RolloutTokens, Span, Turn } from '../rollout/rollout.ts';
import { pairResults } from './build.ts';
import { toolsFileOf, unpackLine } from './engine-line.ts';
import type { Format, ReadContext } from './format.ts';
import { engineTimes } from './recorded-times.ts';
import { layRecordedCalls, messageContentText, turnOf } from './turns.ts';
import { idOf, numberOf, objectsOf } from './values.ts';
import { verl } from './verl.ts';
import { listsByToken } from './verl-tokens.ts';

/** Keys that have a place in the rollout, or only confirm what it shows. */
const KNOWN = new Set(
  'input output gts score step uid request_id status writer messages tools tool_calls spans prompt_turns turn_rewards returns'
    .concat(' prompt_ids prompt_log_probs response_ids response_mask rollout_log_probs started_at')
    .split(' '),
);

/**
 * A line written by this program's engine: verl's keys, plus the messages, the mask made during the rollout, ids and
 * log probabilities, and rewards per turn. If those do not fit the texts, the line is read as a verl line, which it
 * also is.
 */
export const engineDump: Format = {
  name: 'rollout-viewer',
  ...(verl.quickKeys && { quickKeys: verl.quickKeys }),
  detects: (record) =>
    typeof record.writer === 'string' && record.writer.startsWith('rollout-viewer/') && verl.detects(record),
  besides: toolsFileOf,
  read: readEngineDump,
};

function readEngineDump(line: JsonObject, context: ReadContext): Rollout {
  const record = unpackLine(line, context.beside);
  const texts = { input: (record.input as string | null) ?? '', output: (record.output as string | null) ?? '' };
  const messages = objectsOf(record.messages);
  const spans = recordedSpans(record.spans, texts, messages.length);
  if (spans === null) return { ...verl.read(record, context), format: engineDump.name };
  const { validation } = context;
  if (validation) for (const span of spans) span.trained = false;
  const turns = dumpTurns(messages, record, texts, spans);
  const tokens = dumpTokens(record);
  const score = numberOf(record.score);
  const times = engineTimes(record);
  const perTurn = paddedNumbers(record.turn_rewards, turns.length);
  const returns = paddedNumbers(record.returns, turns.length);
  for (const turn of turns) turn.reward = perTurn?.[turn.index] ?? null;
  const responseTurn = spans.find((span) => span.field === 'output')?.turn ?? turns.length;
  const extras: JsonObject = Object.create(null);
  for (const key of Object.keys(record)) if (!KNOWN.has(key)) extras[key] = record[key] ?? null;
  const rollout = completeRollout(
    {
      format: engineDump.name,
      step: numberOf(record.step),
      score,
      groundTruth: record.gts,
      uid: idOf(record.uid),
      requestId: idOf(record.request_id),
      status: idOf(record.status),
      texts,
      turns,
      spans,
      responseTurn,
      toolSchemas: Array.isArray(record.tools) ? record.tools : [],
      extras,
      validation,
      hasNotes: true,
      lossMask: validation ? null : lossMaskOf(record.mask_source, spans, tokens),
      ...(tokens ? { tokens } : {}),
      ...(times ? { times } : {}),
      rewards: { total: score, perTurn, returns, advantage: null, unaligned: unalignedOf(record, turns.length) },
    },
    context.errors,
  );
  return { ...rollout, findings: [...runFindings(record), ...lengthFindings(record), ...rollout.findings] };
}

/** The engine's notes from making the rollout: why there is no score, and its warnings. */
function runFindings({ cause, error, score, warnings }: JsonObject): Finding[] {
  const texts = Array.isArray(warnings) ? warnings.filter((one) => typeof one === 'string') : [];
  const found = texts.map((message) => reportedFinding('run_warning', message));
  if (typeof cause !== 'string' || score !== null) return found;
  const message = `no score: ${cause}${typeof error === 'string' ? `: ${error}` : ''}`;
  return [reportedFinding('not_scored', message), ...found];
}

/**
 * Lists whose length differs from the ids are left out rather than attached to the wrong tokens, and the rollout says
 * so.
 */
function lengthFindings({ response_ids, response_mask, rollout_log_probs }: JsonObject): Finding[] {
  if (!Array.isArray(response_ids) || response_ids.length === 0) return [];
  const lists = [
    ['of the mask', response_mask],
    ['log probabilities', rollout_log_probs],
  ] as const;
  const uneven = lists.filter(([, list]) => Array.isArray(list) && list.length !== response_ids.length);
  if (uneven.length === 0) return [];
  const lengths = uneven.map(([name, list]) => `${listIn(list).length} ${name}`);
  const message = `the lists of the response differ in length: ${response_ids.length} ids, ${lengths.join(', ')}`;
  return [reportedFinding('mask_length', message)];
}

/**
 * One turn per message. Its text is what the spans of the fields cover, so that a mask on the turn is a mask on the
 * field.
 */
function dumpTurns(
  messages: JsonObject[],
  record: JsonObject,
  texts: Record<string, string>,
  spans: readonly Span[],
): Turn[] {
  const shown = new Map<number, { text: string; trained: Trained }>();
  for (const { field, start, end, turn, kind, trained } of spans) {
    if (kind !== 'text') continue;
    const before = shown.get(turn) ?? { text: '', trained: false };
    shown.set(turn, {
      text: before.text + texts[field]!.slice(start, end),
      trained: orTrained(before.trained, trained),
    });
  }
  const recorded = objectsOf(record.tool_calls);
  let firstCall = 0;
  const turns = messages.map((message, index) => {
    const own = shown.get(index);
    const turn = turnOf(
      index,
      idOf(message.role) ?? 'unknown',
      own?.text ?? messageContentText(message.content),
      firstCall,
    );
    turn.trained = own === undefined ? false : own.trained;
    layRecordedCalls(
      turn,
      recorded.filter((call) => call.turn === index),
      firstCall,
      messages.length,
    );
    firstCall += turn.toolCalls.length;
    return turn;
  });
  // The calls of a prompt are those of the rollout that a branch continues, and a trainer that only knows messages records none.
  const count = recorded.length === 0 ? turns.length : (numberOf(record.prompt_turns) ?? 0);
  const paired = turns.slice(0, count);
  for (const [i, { toolCalls }] of paired.entries()) {
    const ids = objectsOf(messages[i]?.tool_calls).map(({ id }) => idOf(id));
    if (ids.length === toolCalls.length) for (const [at, call] of toolCalls.entries()) call.id ??= ids[at] ?? null;
  }
  const results = new Set(listIn(objectIn(record.fork).results));
  pairResults(
    paired,
    paired.map(({ role }, i) => ({
      isResult: role === ENVIRONMENT || results.has(i),
      answers: idOf(messages[i]?.tool_call_id),
    })),
  );
  return turns;
}

/** The speaker between two sampled turns, if only the mask shows that there is one. */
const ENVIRONMENT = 'environment';

function dumpTokens(record: JsonObject): RolloutTokens | null {
  const responseIds = integersOf(record.response_ids);
  const mask = integersOf(record.response_mask);
  if (responseIds === null || mask === null || mask.length !== responseIds.length) return null;
  const logprobs = paddedNumbers(record.rollout_log_probs, responseIds.length);
  // The trainer's values, if somebody added them; `returns` is a list by turn here.
  const {
    rollout_log_probs: _,
    returns: __,
    turn_rewards: ___,
    prompt_log_probs: ____,
    ...more
  } = listsByToken(record, mask.length);
  const promptIds = integersOf(record.prompt_ids);
  const promptLogprobs = paddedNumbers(record.prompt_log_probs, promptIds?.length ?? -1);
  const versions = versionsOf(record.weight_versions, mask);
  if (versions !== null) more.weight_versions = versions;
  return {
    promptIds,
    ...(promptLogprobs ? { promptLogprobs } : {}),
    responseIds,
    mask,
    logprobs,
    ...(Object.keys(more).length > 0 ? { more } : {}),
  };
}

/** Spans `{start, end, version}` over the response, mapped to the sampled text; null if versions are not numbers. */
function versionsOf(spans: JsonValue | undefined, mask: readonly number[]): (number | null)[] | null {
  const versions: (number | null)[] = mask.map(() => null);
  let isKnown = false;
  for (const { start, end, version } of objectsOf(spans)) {
    const [from, to, number] = [numberOf(start), numberOf(end), numberOf(version)];
    if (from === null || to === null || number === null) continue;
    for (let at = Math.max(0, from); at < Math.min(to, mask.length); at++) {
      if (mask[at] === 0) continue;
      versions[at] = number;
      isKnown = true;
    }
  }
  return isKnown ? versions : null;
}

function lossMaskOf(source: unknown, spans: readonly Span[], tokens: RolloutTokens | null): LossMask {
  return {
    source: source === 'rewritten' || source === 'unknown' ? source : 'recorded',
    ...countMask(spans, ['output']),
    trainedTokens: tokens?.mask.reduce((sum, bit) => sum + (bit === 0 ? 0 : 1), 0) ?? null,
    totalTokens: tokens?.mask.length ?? null,
  };
}

/** Reward lists without exactly one number or null per turn: kept whole, attached to nothing. */
function unalignedOf(record: JsonObject, turns: number): Rollout['rewards']['unaligned'] {
  return ['turn_rewards', 'returns'].flatMap((field) => {
    const values = record[field];
    if (!Array.isArray(values) || values.length === 0) return [];
    const fits = values.length === turns && values.every((value) => value === null || numberOf(value) !== null);
    return fits ? [] : [{ field, values }];
  });
}

function integersOf(value: JsonValue | undefined): number[] | null {
  return Array.isArray(value) && value.every((one) => typeof one === 'number' && Number.isInteger(one))
    ? (value as number[])
    : null;
}

/** One number or null per entry; null for a list of another length, or without any number. */
function paddedNumbers(value: JsonValue | undefined, length: number): (number | null)[] | null {
  if (!Array.isArray(value) || value.length !== length) return null;
  const numbers = value.map(numberOf);
  return numbers.some((number) => number !== null) ? numbers : null;
}

/**
 * Recorded spans, if they are valid: end to end over each field's text, on existing turns. A marker for a turn that
 * never came is attached to the last one. null for anything else, so that nothing false is drawn.
 */
export function recordedSpans(
  value: JsonValue | undefined,
  texts: Record<string, string>,
  turnCount: number,
): Span[] | null {
  if (!Array.isArray(value)) return null;
  const spans = value.map((entry) => (isJsonObject(entry) ? spanOf(entry, turnCount) : null));
  if (spans.some((span) => span === null || !Object.hasOwn(texts, span.field))) return null;
  const valid = spans as Span[];
  for (const [field, text] of Object.entries(texts)) {
    let at = 0;
    for (const span of valid) {
      if (span.field !== field) continue;
      if (span.start !== at || span.end <= span.start) return null;
      at = span.end;
    }
    if (at !== text.length) return null;
  }
  return valid;
}

function spanOf({ field, start, end, turn, kind, trained }: JsonObject, turnCount: number): Span | null {
  const isSpan =
    typeof field === 'string' &&
    typeof start === 'number' &&
    typeof end === 'number' &&
    typeof turn === 'number' &&
    Number.isInteger(turn) &&
    turn >= 0 &&
    turn <= turnCount &&
    turnCount > 0 &&
    (kind === 'text' || kind === 'marker') &&
    (typeof trained === 'boolean' || trained === null);
  return isSpan
    ? { field, start, end, turn: Math.min(turn, turnCount - 1), kind, trained: kind === 'text' ? trained : false }
    : null;
}
