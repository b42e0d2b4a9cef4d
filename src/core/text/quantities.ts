/**
 * A score with two decimals, or four if two are inexact and there is room: 1.00, 0.1250, -6.58, NaN; "–" for none, "…"
 * while unknown.
 */
export function scoreText(score: number | null | undefined): string {
  if (score === undefined) return '…';
  if (score === null) return '–';
  if (!Number.isFinite(score)) return score > 0 ? 'inf' : score < 0 ? '-inf' : 'NaN';
  const short = score.toFixed(2);
  if (Number(short) === score) return short;
  const longer = score.toFixed(4);
  if (Math.abs(score) >= 1e7 || (score !== 0 && Math.abs(score) < 1e-4)) return score.toExponential(1);
  return longer.length > 8 ? score.toFixed(2) : longer;
}

/** A number in this many cells: rounded, never cut. If even its integer digits do not fit, it uses an exponent. */
export function numberText(value: number, width: number): string {
  const whole = Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : scoreText(value);
  if (whole.length <= width || !Number.isFinite(value)) return whole;
  const shorter = [2, 1, 0].map((digits) => value.toFixed(digits)).find((text) => text.length <= width);
  const isNothing = shorter !== undefined && Number(shorter) === 0;
  return shorter !== undefined && !isNothing ? shorter : value.toExponential(0).replace('+', '');
}

/** A mean with two decimals if they suffice; small values are not shown as zero, nor huge ones with all digits. */
export const meanText = (mean: number): string =>
  Math.abs(mean) >= 1e7
    ? mean.toExponential(1)
    : Math.abs(mean) < 0.01
      ? scoreText(Number(mean.toPrecision(2)))
      : mean.toFixed(2);

/** Bytes as people read them: 812 B, 23.4 kB, 1.2 MB (thousands, not 1,024). */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  for (const [unit, size] of UNITS)
    if (bytes < size * 999.5 || unit === 'TB') return `${(bytes / size).toFixed(1)} ${unit}`;
  return `${bytes} B`;
}

const UNITS: [string, number][] = [
  ['kB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
];

/** `4.2 s`, `3 min 20 s`, `2 h 5 min`: two parts at most. */
export function secondsText(seconds: number): string {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 99.5) return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 100) return `${minutes} min ${whole - minutes * 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
