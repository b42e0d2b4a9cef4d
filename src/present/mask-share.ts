import { type LossMask, trainedShare } from '../rollout/loss-mask.ts';
import { formatPercent } from './numbers.ts';

const UNIT = (mask: LossMask): string => (mask.totalTokens !== null ? 'tokens' : 'characters');

/** The trained share of the response: '~62 % (inferred, characters)'. What was not counted in recorded tokens is about. */
export function maskShare(mask: LossMask): string {
  const share = trainedShare(mask);
  if (share === null) return 'no response';
  const about = mask.source === 'inferred' ? '~' : '';
  return `${about}${formatPercent(share)} (${mask.source}, ${UNIT(mask)})`;
}

/** The same in few cells: '~62 % trained'. */
export function maskShort(mask: LossMask | null): string {
  if (mask === null) return 'validation: not trained';
  const share = trainedShare(mask);
  if (share === null) return 'no response';
  return `${mask.source === 'inferred' ? '~' : ''}${formatPercent(share)} trained`;
}
