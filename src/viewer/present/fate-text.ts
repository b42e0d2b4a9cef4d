import { formatPercent } from '../../core/text/numbers.ts';
import type { TurnFate } from '../../replay/fate.ts';

const WIDTH = 10;
const EIGHTHS = ' ▏▎▍▌▋▊▉';

/** The share as a bar of ten cells, then as numbers with its interval. */
export function fateText({ branches, succeeded, share, low, high }: TurnFate): string {
  if (share === null) return `${'·'.repeat(WIDTH)} no branch from here has a score`;
  return `${bar(share)} ${succeeded} of ${branches} from here succeed (${formatPercent(low)} to ${formatPercent(high)})`;
}

function bar(share: number): string {
  const eighths = Math.round(share * WIDTH * 8);
  const full = '█'.repeat(Math.floor(eighths / 8));
  const part = eighths % 8 === 0 ? '' : EIGHTHS[eighths % 8];
  return (full + part).padEnd(WIDTH, '·');
}
