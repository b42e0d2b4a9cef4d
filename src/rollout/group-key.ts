import { createHash } from 'node:crypto';
import { printJson } from '../json/print.ts';
import type { Rollout } from './rollout.ts';

/** Identifies the prompt that a rollout was sampled from. */
export interface GroupKey {
  /** From what the record says (`uid` of verl from 2026-04: `{prompt_uid}_{session_id}_{output_index}`), or by a hash of prompt and ground truth. */
  from: 'uid' | 'prompt';
  key: string;
  /** A hash of the prompt alone: where it is equal in all of a file, prompts cannot be told apart by it. */
  prompt: string;
}

export function groupKeyOf(rollout: Rollout): GroupKey {
  const turns = rollout.turns.slice(0, rollout.responseTurn);
  // The header that waits for the response belongs to the prompt alone where the response is empty.
  if (turns.at(-1)?.role === 'assistant') turns.pop();
  const prompt = hash(JSON.stringify(turns.map(({ role, text }) => [role, text])));
  if (rollout.group !== undefined) return { from: 'uid', key: rollout.group, prompt };
  const parts = rollout.uid?.split('_') ?? [];
  if (parts.length > 2) return { from: 'uid', key: parts.slice(0, -2).join('_'), prompt };
  return { from: 'prompt', key: hash(`${prompt} ${printJson(rollout.groundTruth ?? null)}`), prompt };
}

/** Keys of the record itself that may name the prompt: a task, a problem, an index, with one value for each. */
export const groupKeysLike = ({ extras, group }: Rollout): string[] =>
  group !== undefined
    ? []
    : Object.keys(extras).filter(
        (key) => LIKE_A_GROUP.test(key) && ['string', 'number', 'bigint'].includes(typeof extras[key]),
      );

const LIKE_A_GROUP =
  /^(?:\w+_)?(?:task|prompt|problem|question|query|group|example|instance|item)(?:_?(?:id|idx|index|uid|key|hash|name))?$|^(?:index|idx)$/i;

/** 48 bits are enough to tell the prompts of a step apart, and short enough to be read. */
const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);
