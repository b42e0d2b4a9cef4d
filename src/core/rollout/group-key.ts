import { hash as digest } from 'node:crypto';
import { printJson } from '../json/print.ts';
import { itemAt } from '../lists/at.ts';
import type { Rollout } from './rollout.ts';

/** Identifies the prompt from which a rollout was sampled. */
export interface GroupKey {
  /**
   * From the record (`uid` of verl from 2026-04: `{prompt_uid}_{session_id}_{output_index}`), or a hash of prompt and
   * ground truth.
   */
  from: 'uid' | 'prompt';
  key: string;
  /** A hash of the prompt alone: if it is equal throughout a step, it does not distinguish prompts. */
  prompt: string;
  /** A uid that names no session. It names the group if a second rollout of the step has it; see `settleGroups`. */
  uid: string | null;
}

export function groupKeyOf(rollout: Rollout): GroupKey {
  const known = promptOf(rollout);
  known.hash ??= hash(JSON.stringify(pairsOf(known.texts)));
  const prompt = known.hash;
  const own = namedGroup(rollout);
  if (own !== null) return { from: 'uid', key: own, prompt, uid: null };
  const key = hash(`${prompt} ${printJson(rollout.groundTruth ?? null)}`);
  return { from: 'prompt', key, prompt, uid: rollout.uid };
}

/** A key as numbers, for a million rollouts. */
export interface GroupNumber {
  /** NaN means no group. Odd numbers mark groups identified by prompt. */
  group: number;
  prompt: number;
  /** The number of the group that the uid would name (even), or NaN. */
  uid: number;
}

export const NO_GROUP: GroupNumber = { group: Number.NaN, prompt: Number.NaN, uid: Number.NaN };

export function groupNumbersOf(rollout: Rollout): GroupNumber {
  const prompt = promptOf(rollout).number;
  const own = namedGroup(rollout);
  if (own !== null) return { group: numberAfter(own, 0) * 2, prompt, uid: Number.NaN };
  const { uid, groundTruth } = rollout;
  const group = numberAfter(printJson(groundTruth ?? null), prompt) * 2 + 1;
  return { group, prompt, uid: uid === null ? Number.NaN : numberAfter(uid, 0) * 2 };
}

/** Not by the remainder: of a number beyond 32 bits that takes a call. */
export const isOfPrompt = (group: number): boolean => Math.floor(group / 2) * 2 === group - 1;

/** The group that the record itself names. */
const namedGroup = ({ group, uid }: Rollout): string | null => group ?? uidParts(uid)?.prompt ?? null;

/** verl's uid since 2026-04: `{prompt_uid}_{session_id}_{output_index}`. */
export function uidParts(uid: string | null): { prompt: string; name: string; output: number } | null {
  const [, name, prompt, output] = /^((.+)_\d+)_(\d+)$/s.exec(uid ?? '') ?? [];
  return name === undefined || prompt === undefined ? null : { prompt, name, output: Number(output) };
}

/**
 * The groups of rollouts that are judged together (a step of a file, in any order), null for a rollout without one: a uid
 * that several share names their group; other rollouts are of one prompt, unless all of those have the same one (images
 * leave no trace in a text).
 */
export function settleGroups(keys: readonly (GroupKey | null)[]): (GroupKey | null)[] {
  const counts = new Map<string, number>();
  for (const key of keys) if (key?.uid != null) counts.set(key.uid, (counts.get(key.uid) ?? 0) + 1);
  const own = keys.map((key): GroupKey | null =>
    key?.uid == null || counts.get(key.uid) === 1 ? key : { ...key, from: 'uid', key: key.uid },
  );
  const byPrompt = own.filter((key) => key?.from === 'prompt');
  const areAlike = byPrompt.length > 1 && byPrompt.every((key) => key?.prompt === byPrompt[0]?.prompt);
  return areAlike ? own.map((key) => (key?.from === 'prompt' ? null : key)) : own;
}

interface KnownPrompt {
  /** Role and text of each turn. */
  texts: string[];
  number: number;
  hash: string | null;
}

/** Caches the prompt that was hashed last: rollouts of one group are often adjacent. */
let last: KnownPrompt = { texts: [], number: 0, hash: null };

const pairsOf = (texts: readonly string[]): string[][] =>
  Array.from({ length: texts.length / 2 }, (_, i) => texts.slice(i * 2, i * 2 + 2));

/** If the response is empty, the header that waits for it belongs to the prompt only. */
function promptOf({ turns, responseTurn }: Rollout): KnownPrompt {
  const end = turns[responseTurn - 1]?.role === 'assistant' ? responseTurn - 1 : responseTurn;
  let isSame = last.texts.length === end * 2;
  for (let i = 0; i < end && isSame; i++)
    isSame = last.texts[i * 2] === itemAt(turns, i).role && last.texts[i * 2 + 1] === itemAt(turns, i).text;
  if (isSame) return last;
  const texts: string[] = [];
  let number = 0;
  for (let i = 0; i < end; i++) {
    const { role, text } = itemAt(turns, i);
    texts.push(role, text);
    number = numberAfter(text, numberAfter(role, number));
  }
  last = { texts, number, hash: null };
  return last;
}

/**
 * A number below 2^52 for a text and what came before it: two combined 32-bit multiplicative hashes (MurmurHash3's
 * steps).
 */
function numberAfter(text: string, before: number): number {
  let a = (0xdeadbeef ^ (before | 0)) | 0;
  let b = (0x41c6ce57 ^ ((before / 2 ** 26) | 0)) | 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x85ebca6b);
    b = Math.imul(b ^ unit, 0xc2b2ae35);
    a = (a << 15) | (a >>> 17);
    b = (b << 13) | (b >>> 19);
  }
  a = Math.imul(a ^ (b >>> 16) ^ text.length, 0x85ebca6b);
  b = Math.imul(b ^ (a >>> 13), 0xc2b2ae35);
  a ^= b >>> 16;
  return (b >>> 6) * 2 ** 26 + (a >>> 6);
}

/** Record keys that may name the prompt: a task, a problem, an index, with a single value each. */
export const groupKeysLike = ({ extras, group }: Pick<Rollout, 'extras' | 'group'>): string[] =>
  group !== undefined
    ? []
    : Object.keys(extras).filter(
        (key) => LIKE_A_GROUP.test(key) && ['string', 'number', 'bigint'].includes(typeof extras[key]),
      );

const LIKE_A_GROUP =
  /^(?:\w+_)?(?:task|prompt|problem|question|query|group|example|instance|item)(?:_?(?:id|idx|index|uid|key|hash|name))?$|^(?:index|idx)$/i;

/** Whether such a key may be in an object's JSON; to parse one takes several times as long. @param json as `printJson` prints it */
export const mayHaveGroupKeys = (json: string): boolean => PART_OF_A_KEY.test(json);

const PART_OF_A_KEY = /task|prompt|problem|question|query|group|example|instance|item|index|idx/i;

/** 48 bits are enough to distinguish the prompts of a step, and short enough to read. */
const hash = (text: string): string => digest('sha256', text).slice(0, 12);
