import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import type { PolicyVersions } from '../rollout/rollout.ts';
import { numberOf } from './values.ts';

/**
 * Keys that hold the version of the sampling weights: a single one, a list by turn or token, or spans `{start, end,
 * version}`.
 */
const KEYS = [
  'weight_versions',
  'weight_version',
  'policy_versions',
  'policy_version',
  'versions',
  'head_version',
  'tail_version',
];

/** The versions of the sampling weights, if the record numbers them; else null. */
export function recordedPolicy(record: JsonObject): PolicyVersions | null {
  const work = workOf(record);
  const { policy } = work;
  const worked = isJsonObject(policy) ? [policy.start, policy.end].flatMap(versionsIn) : versionsIn(policy);
  const versions: number[] = [];
  // Lines of slime and miles hold a sample.
  for (const holder of [record, objectIn(record.sample)])
    for (const key of KEYS) if (holder[key] !== undefined) versions.push(...versionsIn(holder[key]));
  versions.push(...worked);
  if (versions.length === 0) return null;
  return {
    first: versions.reduce((least, version) => Math.min(least, version)),
    last: versions.reduce((most, version) => Math.max(most, version)),
    // prime-rl uses its steps as versions.
    trainedAt: worked.length === 0 ? null : numberOf(work.step),
  };
}

function versionsIn(value: JsonValue | undefined): number[] {
  if (Array.isArray(value)) return value.flatMap(versionsIn);
  if (isJsonObject(value)) return versionsIn(value.version);
  // In lists by token, prompts and observations have -1.
  const version = numberOf(value);
  return version !== null && Number.isInteger(version) && version >= 0 ? [version] : [];
}

/** prime-rl's `run.work`, of the trace or of its episode. */
function workOf(record: JsonObject): JsonObject {
  const holder = isJsonObject(record.episode) ? record.episode : record;
  const run = objectIn(holder.run);
  return objectIn(run.work);
}
