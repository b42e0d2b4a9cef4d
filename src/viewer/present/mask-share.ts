import { type LossMask, trainedShare } from '../../core/rollout/loss-mask.ts';
import { formatPercent } from '../../core/text/numbers.ts';

const UNIT = (mask: LossMask): string => (mask.totalTokens !== null ? 'tokens' : 'characters');

/** Without text, or if nothing is known, there is nothing to count. */
const none = (mask: LossMask): string => (mask.totalChars > 0 ? 'mask unknown' : 'no response');

/** '~' if roles imply the share, '≥' if part of the text is unknown. */
function about(mask: LossMask): string {
  if (mask.trainedTokens !== null) return '';
  return mask.unknownChars > 0 ? '≥ ' : mask.source === 'inferred' ? '~' : '';
}

/** ', 12 % unknown', if there is any. */
const unknownPart = ({ unknownChars, totalChars, trainedTokens }: LossMask): string =>
  unknownChars === 0 || trainedTokens !== null ? '' : `, ${formatPercent(unknownChars / totalChars)} unknown`;

/** The trained share of the response: '~62 % (inferred, characters)'. '~' marks anything not counted in recorded tokens. */
export function maskShare(mask: LossMask): string {
  const share = trainedShare(mask);
  if (share === null) return none(mask);
  return `${about(mask)}${formatPercent(share)}${unknownPart(mask)} (${mask.source}, ${UNIT(mask)})`;
}

/** The same in few cells: '~62 % trained'. */
export function maskShort(mask: LossMask | null): string {
  if (mask === null) return 'not trained';
  const share = trainedShare(mask);
  if (share === null) return none(mask);
  return `${about(mask)}${formatPercent(share)} trained${unknownPart(mask)}`;
}
