import { segmentChat } from '../chat/segment.ts';
import { readToolSchemas, typesOf } from '../chat/tool-schemas.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { reportedFinding } from '../rollout/checks.ts';
import { completeRollout, type RolloutDraft } from '../rollout/complete.ts';
import type { Finding } from '../rollout/finding.ts';
import type { Rewards } from '../rollout/rewards.ts';
import { type Rollout, type RolloutFields, type RolloutTokens, type Turn, toolCallsOf } from '../rollout/rollout.ts';
import { type EndRule, layOut, UNKNOWN_END } from './conversation.ts';
import type { Format, ReadContext } from './format.ts';
import { verlTimes } from './recorded-times.ts';
import { chatOf, inferredMask } from './text-rollout.ts';
import { idOf, numberOf } from './values.ts';
import { layTokenMask, unevenLists, verlTokens } from './verl-tokens.ts';

/** Keys with a place in a Rollout; `uid` and `request_id` are read too, and remain among the extras. */
const KNOWN = new Set(['input', 'output', 'gts', 'score', 'step']);

const isTextOrNull = (value: JsonValue | undefined): value is string | null =>
  typeof value === 'string' || value === null;

/**
 * One line of a verl dump (`trainer.rollout_data_dir`), of any era: `gts` came in 2025-08, `request_id` left in 2025-09,
 * `uid` came in 2026-04; every other key is a reward extra. Source: `verl/trainer/ppo/ray_trainer.py`, `_dump_generations`.
 */
export const verl: Format = {
  name: 'verl',
  quickKeys: { score: 'score', step: 'step' },
  // A task of NeMo-Gym may have its prompt as text, too, beside an empty output.
  detects: (record) =>
    isTextOrNull(record.input) && isTextOrNull(record.output) && record.responses_create_params === undefined,
  times: verlTimes,
  read: readVerl,
  fields: fieldsOf,
};

function fieldsOf(record: JsonObject): RolloutFields {
  const extras: JsonObject = Object.create(null);
  for (const key of Object.keys(record)) if (!KNOWN.has(key)) extras[key] = record[key] ?? null;
  // A score or a step that is not a number has no place, but must not vanish.
  for (const key of ['score', 'step']) {
    const value = record[key];
    if (value !== undefined && value !== null && numberOf(value) === null) extras[key] = value;
  }
  return {
    groundTruth: record.gts,
    uid: idOf(record.uid),
    requestId: idOf(record.request_id),
    status: null,
    texts: { input: (record.input as string | null) ?? '', output: (record.output as string | null) ?? '' },
    extras,
  };
}

/**
 * The agent loop trains the end token, which is among the sampled ids, but not the line break after it; the old engine
 * trained both. Only the agent loop writes `uid`, only the old engine `request_id`; without both the era is unknown.
 */
function endRule({ uid, request_id }: JsonObject): EndRule {
  if (uid !== undefined) return { token: true, newline: false };
  return request_id === undefined ? UNKNOWN_END : { token: true, newline: true };
}

function readVerl(record: JsonObject, context: ReadContext): Rollout {
  const fields = fieldsOf(record);
  const prompt = fields.texts.input!;
  const response = fields.texts.output!;
  const { validation } = context;
  const chat = segmentChat(prompt, response, chatOf(context));
  const toolSchemas = readToolSchemas(prompt);
  const { turns, spans, responseTurn } = layOut(chat.turns, {
    promptField: 'input',
    responseField: 'output',
    prompt,
    response,
    validation,
    end: endRule(record),
    grammars: chat.template?.calls ?? [],
    typeOf: typesOf(toolSchemas),
  });
  const tokens = validation ? null : verlTokens(record);
  const recorded = tokens === null ? null : layTokenMask({ turns, spans, responseTurn }, tokens, 'output');
  const score = numberOf(record.score);
  const rollout: RolloutDraft = {
    format: 'verl',
    step: numberOf(record.step),
    score,
    ...fields,
    turns,
    spans,
    responseTurn,
    toolSchemas,
    validation,
    reading: chat.class,
    lossMask: validation ? null : (recorded ?? inferredMask(spans, ['output'], context)),
    ...(tokens === null ? {} : { tokens }),
    rewards: layRewards(fields.extras, { turns, responseTurn, score }),
  };
  const whole = completeRollout(rollout, context.errors);
  const uneven = tokens === null ? [] : lengthFindings(record, tokens);
  return uneven.length === 0 ? whole : { ...whole, findings: [...uneven, ...whole.findings] };
}

/**
 * Lists whose length differs from the mask are left out rather than attached to the wrong tokens, and the rollout says
 * so.
 */
function lengthFindings(record: JsonObject, { mask }: RolloutTokens): Finding[] {
  const uneven = unevenLists(record, mask.length);
  if (uneven.length === 0) return [];
  const lengths = uneven.map(([name, length]) => `${length} of ${name}`).join(', ');
  return [
    reportedFinding(
      'mask_length',
      `the lists of the response differ in length: ${mask.length} of the mask, ${lengths}`,
    ),
  ];
}

/**
 * Attaches flat reward lists to turns: `tool_rewards` to the results of executed calls, `turn_scores` to the user turns
 * of an interaction, each only if the counts are equal; any other list is kept whole as unaligned.
 */
export function layRewards(extras: JsonObject, rollout: Pick<Rollout, 'turns' | 'responseTurn' | 'score'>): Rewards {
  const { turns, responseTurn } = rollout;
  const unaligned: Rewards['unaligned'] = [];
  for (const field of ['tool_rewards', 'turn_scores']) {
    const values = extras[field];
    if (!Array.isArray(values) || values.length === 0) continue;
    const owners =
      field === 'tool_rewards'
        ? resultsIn(rollout)
        : turns.filter((turn, at) => at >= responseTurn && turn.role === 'user');
    if (values.length !== owners.length || values.some((value) => !isReward(value))) {
      unaligned.push({ field, values });
      continue;
    }
    for (const [i, owner] of owners.entries()) owner.reward = numberOf(values[i]) ?? owner.reward;
  }
  return {
    total: rollout.score,
    perTurn: turns.some(({ reward }) => reward !== null) ? turns.map(({ reward }) => reward) : null,
    returns: null,
    advantage: null,
    unaligned,
  };
}

/** The results of executed calls in the response. */
const resultsIn = (rollout: Pick<Rollout, 'turns' | 'responseTurn'>): Turn[] =>
  toolCallsOf(rollout)
    .map((call) => rollout.turns[call.resultTurn ?? -1])
    .filter((turn): turn is Turn => turn !== undefined && turn.index >= rollout.responseTurn);

const isReward = (value: JsonValue): boolean => value === null || (!isJsonObject(value) && numberOf(value) !== null);
