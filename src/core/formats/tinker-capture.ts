import type { JsonObject, JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import type { Context } from '../rollout/rollout.ts';
import { buildRollout, type FoundMessage } from './build.ts';
import type { Format, Session } from './format.ts';
import { idTurns } from './id-turns.ts';
import { joinCalls, type SampledTokens } from './token-lists.ts';
import { idOf, idsOf, numberOf, numbersOf, objectsOf, parsed } from './values.ts';

/** The columns that name a trajectory, from the run down. */
const PLACE = ['run_id', 'run_attempt', 'split', 'iteration', 'group_idx', 'traj_idx'] as const;

/** The capture store of Tinker's cookbook (`capture/store/schema.py`): a row for each sequence that was sampled, in ids alone. */
export const tinkerCapture: Session = {
  name: 'tinker-capture',
  isEvent: (record) =>
    record.run_id !== undefined && record.prompt_tokens !== undefined && record.sampled_tokens !== undefined,
  // Rows without a trajectory belong to none of the others.
  keyOf: (event) =>
    JSON.stringify([
      ...PLACE.map((name) => event[name] ?? null),
      event.traj_idx == null ? (event.cursor ?? null) : null,
    ]),
};

const unpackedColumn = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'string' ? parsed(value) : value;

const sampledCall = (row: JsonObject): SampledTokens => ({
  prompt: idsOf(unpackedColumn(row.prompt_tokens)) ?? [],
  sampled: idsOf(unpackedColumn(row.sampled_tokens)) ?? [],
  mask: null,
  logprobs: numbersOf(unpackedColumn(row.logprobs)),
});

export const tinkerCaptureFormat: Format = {
  name: tinkerCapture.name,
  isStepless: true,
  basis: 'files',
  mapping: {
    rollouts: PLACE.join(', '),
    tokens: 'prompt_tokens and sampled_tokens, joined where a prompt begins with all before it',
    'log probabilities': 'logprobs',
    step: 'iteration',
    group: 'iteration and group_idx',
  },
  detects: (record) => record.session_of === tinkerCapture.name,
  read(record, context) {
    const rows = objectsOf(record.events).sort((a, b) => (numberOf(a.cursor) ?? 0) - (numberOf(b.cursor) ?? 0));
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [];
    for (const calls of histories(rows.map(sampledCall))) {
      const tokens = joinCalls(calls);
      if (tokens === null) continue;
      const place = contexts.length;
      const after = messages.length === 0 ? null : messages.length - 1;
      contexts.push({ kind: place === 0 ? 'main' : 'compaction', name: null, after, tokens });
      for (const one of idTurns(tokens, `/histories/${place}`)) messages.push({ ...one, context: place });
    }
    const [first = {}] = rows;
    const versions = [...new Set(rows.flatMap(({ policy_version: version }) => idOf(version) ?? []))];
    const own = ['run_id', 'run_attempt', 'split', 'purpose', 'sampling_session_id'] as const;
    const metadata = unpackedColumn(first.metadata);
    return buildRollout(
      {
        format: tinkerCapture.name,
        record,
        known: new Set(['session_of', 'events']),
        messages,
        contexts,
        tokens: contexts[0]?.tokens ?? null,
        mask: 'recorded',
        step: numberOf(first.iteration),
        group: first.group_idx == null ? null : `${idOf(first.iteration) ?? ''}/${idOf(first.group_idx) ?? ''}`,
        uid:
          first.traj_idx == null ? idOf(first.cursor) : `${idOf(first.group_idx) ?? ''}/${idOf(first.traj_idx) ?? ''}`,
        extras: {
          ...Object.fromEntries(own.flatMap((name) => (first[name] == null ? [] : [[name, first[name] as JsonValue]]))),
          ...(versions.length > 0 ? { policy_version: versions.length === 1 ? itemAt(versions, 0) : versions } : {}),
          ...(metadata == null ? {} : { metadata }),
        },
      },
      context,
    );
  },
};

/** Calls that continue each other; a prompt that does not begin with all before it begins another history. */
function histories(calls: readonly SampledTokens[]): SampledTokens[][] {
  const found: SampledTokens[][] = [];
  let before: number[] | null = null;
  for (const call of calls) {
    const goesOn: boolean = before?.every((id, at) => call.prompt[at] === id) === true;
    if (goesOn) found.at(-1)?.push(call);
    else found.push([call]);
    before = [...call.prompt, ...call.sampled];
  }
  return found;
}
