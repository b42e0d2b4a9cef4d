import type { JsonObject, JsonValue } from '../json/value.ts';
import { isJsonObject } from '../json/value.ts';
import type { Context, RolloutTokens } from '../rollout/rollout.ts';
import { buildRollout, type FoundMessage, type FoundRollout } from './build.ts';
import type { Format, Session } from './format.ts';
import { textRollout } from './text-rollout.ts';
import { joinCalls, SAMPLED_END, type SampledTokens } from './token-lists.ts';
import { idOf, idsOf, namedNumbers, numberOf, numbersOf, objectsOf, parsed } from './values.ts';

/** The columns that name a trajectory, from the run down. */
const PLACE = ['run_id', 'run_attempt', 'split', 'source', 'iteration', 'group_idx', 'traj_idx'] as const;

/** The token store of Tinker's cookbook (`tokendb/schema.py`): parquet segments with a row for each turn. */
export const tokenDb: Session = {
  name: 'tokendb',
  isEvent: (record) =>
    record.ob_tokens !== undefined && record.ac_tokens !== undefined && record.traj_idx !== undefined,
  // Sequences that were sampled outside of a rollout all have the same place.
  keyOf: (event) =>
    JSON.stringify([
      ...PLACE.map((name) => event[name] ?? null),
      ...(event.source === 'sample' ? [event.ts ?? null, event.ob_tokens ?? null, event.ac_tokens ?? null] : []),
    ]),
};

export const tokenDbFormat: Format = {
  name: tokenDb.name,
  isStepless: true,
  basis: 'files',
  mapping: {
    rollouts: PLACE.join(', '),
    turns: 'ob_text and ac_text, if they are kept',
    tokens: 'ob_tokens, after all before it where ob_is_delta, and ac_tokens',
    'log probabilities': 'ac_logprobs',
    'per token': 'token_metrics',
    score: 'total_reward',
    'reward of a turn': 'reward',
    'named rewards': 'metrics of the last turn',
    step: 'iteration',
    group: 'iteration and group_idx',
    ended: 'stop_reason of the last turn',
  },
  detects: (record) => record.session_of === tokenDb.name,
  read(record, context) {
    const rows = objectsOf(record.events)
      .map((row, at) => ({ row, at }))
      .sort((a, b) => (numberOf(a.row.step_idx) ?? 0) - (numberOf(b.row.step_idx) ?? 0));
    const histories = historiesOf(rows);
    const [first = {}, last = first] = [rows[0]?.row, rows.at(-1)?.row];
    const stop = idOf(last.stop_reason);
    const found: Omit<FoundRollout, 'messages' | 'contexts'> = {
      format: tokenDb.name,
      record,
      known: new Set(['session_of', 'events']),
      tokens: histories[0]?.tokens ?? null,
      mask: 'recorded',
      score: numberOf(last.total_reward),
      named: namedNumbers(last.metrics),
      step: first.source === 'sample' ? null : numberOf(first.iteration),
      group: `${idOf(first.iteration) ?? ''}/${idOf(first.group_idx) ?? ''}`,
      uid: `${idOf(first.group_idx) ?? ''}/${idOf(first.traj_idx) ?? ''}`,
      ended: stop === 'length' ? { how: 'length', evidence: 'stop_reason length' } : null,
      extras: otherColumns(rows.map(({ row }) => row)),
    };
    const [only] = histories;
    const [prompt, ...replies] = only?.messages ?? [];
    const [text] = prompt?.texts ?? [];
    if (histories.length === 1 && text !== undefined && only?.hasText === true)
      return textRollout(
        {
          ...found,
          end: SAMPLED_END,
          prompt: '',
          promptField: '',
          response: text.text,
          responseField: text.pointer,
          replies,
        },
        context,
      );
    const contexts = histories.map(
      ({ tokens, before }, at): Context => ({
        kind: at === 0 ? 'main' : 'compaction',
        name: null,
        after: before,
        ...(tokens === null ? {} : { tokens }),
      }),
    );
    return buildRollout({ ...found, messages: histories.flatMap(({ messages }) => messages), contexts }, context);
  },
};

interface PlacedRow {
  row: JsonObject;
  /** Its index among the events. */
  at: number;
}

interface History {
  messages: FoundMessage[];
  tokens: RolloutTokens | null;
  /** The index of the message before it; null for the first. */
  before: number | null;
  hasText: boolean;
}

/** An observation that does not continue all before it begins another history. */
function historiesOf(rows: readonly PlacedRow[]): History[] {
  const found: History[] = [];
  let count = 0;
  for (let from = 0; from < rows.length; ) {
    let to = from + 1;
    while (rows[to]?.row.ob_is_delta === true) to++;
    const held = rows.slice(from, to);
    const messages = held.flatMap(({ row, at }, i) => rowMessages(row, at, held[i - 1]?.row ?? null, found.length));
    found.push({
      messages,
      tokens: tokensOf(held.map(({ row }) => row)),
      before: count === 0 ? null : count - 1,
      hasText: held.every(({ row }) => typeof row.ob_text === 'string' && typeof row.ac_text === 'string'),
    });
    count += messages.length;
    from = to;
  }
  return found;
}

/** @param before the turn that the observation follows; null: it is a prompt */
function rowMessages(row: JsonObject, at: number, before: JsonObject | null, context: number): FoundMessage[] {
  const textOf = (column: string, ids: string) => {
    const text = row[column];
    const count = idsOf(row[ids])?.length ?? 0;
    return typeof text === 'string'
      ? { pointer: `/events/${at}/${column}`, text }
      : { pointer: `/events/${at}/${ids}`, text: count === 0 ? '' : `[${count} token ids without text]` };
  };
  const calls = objectsOf(row.tool_calls).map(({ name, args_json: args }) => ({
    id: null,
    name: idOf(name),
    arguments: args,
  }));
  const place = context === 0 ? {} : { context };
  return [
    {
      role: before === null ? 'prompt' : 'observation',
      trained: false,
      texts: [textOf('ob_text', 'ob_tokens')],
      ...(objectsOf(before?.tool_calls).length > 0 ? observedResult(objectsOf(before?.tool_calls)) : {}),
      ...place,
    },
    {
      role: 'assistant',
      trained: true,
      texts: [textOf('ac_text', 'ac_tokens')],
      reward: numberOf(row.reward),
      ...(calls.length > 0 ? { calls } : {}),
      ...place,
    },
  ];
}

/** One observation holds the results of all calls before it. */
function observedResult(calls: readonly JsonObject[]): Pick<FoundMessage, 'isResult' | 'outcome'> {
  const error = calls.map(({ error_type: type }) => idOf(type)).find((type) => type !== null) ?? null;
  return {
    isResult: true,
    ...(error === null ? {} : { outcome: { isFailure: true, evidence: `error_type ${error.slice(0, 60)}` } }),
  };
}

function tokensOf(rows: readonly JsonObject[]): RolloutTokens | null {
  let before: number[] = [];
  const calls = rows.map((row): SampledTokens => {
    const prompt = [...before, ...(idsOf(row.ob_tokens) ?? [])];
    const sampled = idsOf(row.ac_tokens) ?? [];
    before = [...prompt, ...sampled];
    return { prompt, sampled, mask: null, logprobs: numbersOf(row.ac_logprobs) };
  });
  const tokens = joinCalls(calls);
  if (tokens === null) return null;
  const names = new Set(rows.flatMap(({ token_metrics: lists }) => (isJsonObject(lists) ? Object.keys(lists) : [])));
  const more = [...names].map((name): [string, (number | null)[]] => [name, perToken(rows, name)]);
  return more.length === 0 ? tokens : { ...tokens, more: { ...tokens.more, ...Object.fromEntries(more) } };
}

/** A list of numbers for sampled tokens, with nothing for the tokens between them. */
function perToken(rows: readonly JsonObject[], name: string): (number | null)[] {
  return rows.flatMap((row, at) => {
    const given = at === 0 ? 0 : (idsOf(row.ob_tokens)?.length ?? 0);
    const sampled = idsOf(row.ac_tokens)?.length ?? 0;
    const list = isJsonObject(row.token_metrics) ? numbersOf(row.token_metrics[name]) : null;
    return [
      ...Array.from({ length: given }, () => null),
      ...Array.from({ length: sampled }, (_, i) => list?.[i] ?? null),
    ];
  });
}

/** Columns that other parts of the rollout show. */
const SHOWN = new Set(
  'ob_tokens ob_is_delta ac_tokens ac_logprobs ob_text ac_text reward total_reward metrics token_metrics iteration group_idx traj_idx step_idx tool_calls'.split(
    ' ',
  ),
);

/** The other columns: once where all turns have the same value, else one for each turn. */
function otherColumns(rows: readonly JsonObject[]): JsonObject {
  const extras: JsonObject = {};
  for (const column of new Set(rows.flatMap(Object.keys))) {
    if (SHOWN.has(column)) continue;
    const values = rows.map((row): JsonValue => {
      const value = row[column] ?? null;
      return (column === 'logs' || column === 'extra') && typeof value === 'string' ? (parsed(value) ?? value) : value;
    });
    const [first = null] = values;
    const isSame = values.every((value) => JSON.stringify(value) === JSON.stringify(first));
    if (isSame && isBlank(first)) continue;
    extras[column] = isSame ? first : values;
  }
  return extras;
}

const isBlank = (value: JsonValue): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
