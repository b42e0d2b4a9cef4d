/** 16384 → '16,384', 0.12345 → '0.123'. By hand: Intl.NumberFormat takes 5 ms to load, a thirtieth of the time to the first frame. */
export function formatCount(count: number): string {
  if (!Number.isFinite(count) || Math.abs(count) >= 1e21) return String(count);
  const [whole = '', part] = String(Number.isInteger(count) ? count : Number(count.toFixed(3))).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return part === undefined ? grouped : `${grouped}.${part}`;
}

/** '1 turn', '3 turns'. */
export const plural = (count: number, word: string): string =>
  `${formatCount(count)} ${count === 1 ? word : pluralOf(word)}`;

const pluralOf = (word: string): string =>
  /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}${/(?:[sx]|[cs]h)$/.test(word) ? 'es' : 's'}`;

/** '62 %'; a share that is not exactly 0 or 100 % is never shown as that. */
export function formatPercent(share: number): string {
  const whole = Math.round(share * 100);
  if (whole === 100 && share < 1) return `${Math.min(99.9, Math.floor(share * 1000) / 10)} %`;
  if (whole === 0 && share > 0) return `${Math.max(0.1, Math.ceil(share * 1000) / 10)} %`;
  return `${whole} %`;
}

const BARS = '▁▂▃▄▅▆▇█';

/** A sparkline between the smallest and the largest finite value; the newest `width` values. */
export function sparkline(values: readonly number[], width: number): string {
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = finite.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  return values
    .slice(-width)
    .map((value) => {
      if (!Number.isFinite(value)) return ' ';
      return BARS[high === low ? 3 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))];
    })
    .join('');
}
