import { objectIn } from '../core/json/value.ts';
import type { Rollout } from '../core/rollout/rollout.ts';
import { type OverlongBuffer, withOverlong } from '../engine/rewards/index.ts';

/** The length penalty of a response, as plain data. */
export interface ResponseLength {
  /** Tokens of the response; null if not recorded. */
  tokens: number | null;
  /** The penalty according to the record. */
  recordedPenalty: number | null;
  /** The requested penalty. */
  buffer: OverlongBuffer | null;
}

export function responseLength({ tokens, lossMask, extras }: Rollout, buffer: OverlongBuffer | null): ResponseLength {
  const { reward } = extras;
  const metadata = objectIn(objectIn(reward).metadata);
  // verl's key, and the same key in this program's own dumps.
  const recordedPenalty = extras.overlong_reward ?? metadata.overlong_reward;
  return {
    tokens: tokens?.responseIds.length ?? lossMask?.totalTokens ?? null,
    recordedPenalty: typeof recordedPenalty === 'number' ? recordedPenalty : null,
    buffer,
  };
}

/** A rollout's score with its length penalty. */
interface Penalised {
  score: number;
  /** 0 or less; null if no penalty is known. */
  penalty: number | null;
  reason: string | null;
}

/**
 * verl's dapo manager subtracts a penalty from a response near its length limit. If none was requested, the recorded one is subtracted,
 * provided that the recorded score includes it; verl's dump of a function that returns more than a number does not.
 * @throws Error if the token count is unknown
 */
export function penalised(
  score: number,
  recorded: number | null,
  { tokens, recordedPenalty, buffer }: ResponseLength,
): Penalised {
  if (buffer === null) {
    const isHeld =
      recordedPenalty !== null &&
      recordedPenalty !== 0 &&
      recorded !== null &&
      isNear(recorded, score + recordedPenalty);
    if (!isHeld) return { score, penalty: null, reason: null };
    return {
      score: score + recordedPenalty,
      penalty: recordedPenalty,
      reason: `${score} and the recorded overlong penalty of ${recordedPenalty}`,
    };
  }
  if (tokens === null) throw new Error('the overlong penalty counts tokens of the response, and the record holds none');
  const { score: left, penalty } = withOverlong(score, tokens, buffer);
  const isRaw = penalty !== 0 && recorded !== null && isNear(recorded, score);
  const where = isRaw ? '; the recorded score is the one without it' : '';
  const reason = penalty === 0 ? null : `${score} and an overlong penalty of ${penalty} for ${tokens} tokens${where}`;
  return { score: left, penalty, reason };
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(a));
