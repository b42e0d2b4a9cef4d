const grouped = new Intl.NumberFormat('en-US');

/** 16384 → '16,384'. */
export const formatCount = (count: number): string => grouped.format(count);

/** '1 turn', '3 turns'. */
export const plural = (count: number, word: string): string => `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;

/** Two places for what people compare at a glance; null = has none, undefined = not known yet. */
export function formatScore(score: number | null | undefined): string {
  if (score === undefined) return '·';
  if (score === null) return '–';
  if (!Number.isFinite(score)) return String(score);
  const size = Math.abs(score);
  if (size >= 1e6 || (size > 0 && size < 0.005)) return score.toExponential(1);
  return score.toFixed(size >= 1000 ? 0 : 2);
}

/** A reward says its sign: '+0.25', '-1.00', '+0.00'. */
export function formatReward(reward: number): string {
  const text = formatScore(reward);
  return Number.isNaN(reward) || text.startsWith('-') ? text : `+${text}`;
}

/** Bytes as people read them: '812 B', '24 KB', '1.2 MB'. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let size = bytes / 1000;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** '62 %'; what is not quite all or nothing is not written as if it were. */
export function formatPercent(share: number): string {
  const whole = Math.round(share * 100);
  if (whole === 100 && share < 1) return `${Math.min(99.9, Math.floor(share * 1000) / 10)} %`;
  if (whole === 0 && share > 0) return `${Math.max(0.1, Math.ceil(share * 1000) / 10)} %`;
  return `${whole} %`;
}

const BARS = '▁▂▃▄▅▆▇█';

/** A line of bars between the smallest and the largest finite value; the newest `width` values. */
export function sparkline(values: readonly number[], width: number): string {
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  return values
    .slice(-width)
    .map((value) => {
      if (!Number.isFinite(value)) return ' ';
      return BARS[high === low ? 3 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))]!;
    })
    .join('');
}
