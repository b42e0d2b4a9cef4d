import type { Span } from './rollout.ts';

/** Which text of the response the policy gradient sees: `response_mask` in verl, `masks` in Tunix, `loss_mask` in slime. */
export interface LossMask {
  /** recorded: laid while the rollout was made; tokens: from token ids; inferred: from the roles of the text. */
  source: 'recorded' | 'tokens' | 'inferred';
  /** UTF-16 units over the response alone, never the prompt. */
  trainedChars: number;
  totalChars: number;
  trainedTokens: number | null;
  totalTokens: number | null;
}

/** The mask that the roles imply, counted over the spans of the response fields. */
export function inferLossMask(spans: readonly Span[], responseFields: readonly string[]): LossMask {
  let trainedChars = 0;
  let totalChars = 0;
  for (const span of spans) {
    if (!responseFields.includes(span.field)) continue;
    totalChars += span.end - span.start;
    if (span.trained) trainedChars += span.end - span.start;
  }
  return { source: 'inferred', trainedChars, totalChars, trainedTokens: null, totalTokens: null };
}

/** The trained share from 0 to 1, by tokens where they are known; null for an empty response. */
export function trainedShare(mask: LossMask): number | null {
  if (mask.totalTokens !== null && mask.trainedTokens !== null) {
    return mask.totalTokens === 0 ? null : mask.trainedTokens / mask.totalTokens;
  }
  return mask.totalChars === 0 ? null : mask.trainedChars / mask.totalChars;
}
