import type { RunProgress } from './run-options.ts';

/** A run's progress, on one line of at most `width` columns: `▓▓▓░░ 120/400  3.2/s  850 tok/s  score 0.41  1 failed  ETA 1:27`. */
export function progressLine(progress: RunProgress, width: number): string {
  const { total, done, resumed, failed, elapsed, tokens, meanScore } = progress;
  const rate = elapsed > 0 ? (done - resumed) / elapsed : 0;
  const parts = [
    `${done}/${total}`,
    `${rate.toFixed(rate < 10 ? 1 : 0)}/s`,
    ...(tokens > 0 && elapsed > 0 ? [`${Math.round(tokens / elapsed)} tok/s`] : []),
    ...(meanScore === null ? [] : [`score ${meanScore.toFixed(2)}`]),
    ...(failed > 0 ? [`${failed} failed`] : []),
    `ETA ${rate > 0 ? clock(Math.max(0, total - done - failed) / rate) : '…'}`,
  ];
  const text = parts.join('  ');
  const bar = Math.min(30, width - text.length - 1);
  if (bar < 5) return text.slice(0, width);
  const filled = total === 0 ? bar : Math.round((Math.min(done, total) / total) * bar);
  return `${'▓'.repeat(filled)}${'░'.repeat(bar - filled)} ${text}`;
}

/** 87 → 1:27, 3700 → 1:01:40. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
