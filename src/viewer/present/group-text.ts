import { meanText, scoreText } from '../../core/text/quantities.ts';

/** Describes a group of rollouts, the most useful part first: the place in it, whether its scores carry any signal, their range. */
export function groupParts(
  scores: readonly (number | null | undefined)[],
  place: number,
  usual: number | null = null,
): string[] {
  const finite = scores.filter((score): score is number => typeof score === 'number' && Number.isFinite(score));
  const parts = [`group ${place}/${scores.length}${missing(scores.length, usual)}`];
  if (finite.length === 0) return parts;
  const mean = finite.reduce((sum, score) => sum + score, 0) / finite.length;
  // GRPO's advantage is zero if all scores of a group are equal.
  if (finite.length > 1 && finite.every((score) => score === finite[0])) {
    return [...parts, 'no signal', `all ${scoreText(mean)}`];
  }
  parts.push(`mean ${meanText(mean)}`);
  if (finite.length > 1) parts.push(`min ${scoreText(Math.min(...finite))}, max ${scoreText(Math.max(...finite))}`);
  return parts;
}

/** Most groups of the file are larger. */
const missing = (size: number, usual: number | null): string =>
  usual !== null && size < usual ? `, incomplete: ${usual} elsewhere` : '';

/** Summarises a group that is shown alone, in successively shorter forms. */
export function groupSummary(scores: readonly (number | null | undefined)[], usual: number | null = null): string[] {
  const finite = scores.filter((score): score is number => typeof score === 'number' && Number.isFinite(score));
  const name = `group of ${scores.length}${missing(scores.length, usual)}`;
  if (finite.length === 0) return [`${name}: no scores`];
  const [first] = finite;
  if (finite.length === scores.length && finite.every((score) => score === first)) {
    const alike = `no signal: all ${scoreText(first)}`;
    return [`${name}, ${alike}`, alike];
  }
  const mean = finite.reduce((sum, score) => sum + score, 0) / finite.length;
  const span = `mean ${meanText(mean)} min ${scoreText(Math.min(...finite))} max ${scoreText(Math.max(...finite))}`;
  const left = scores.length - finite.length;
  const unscored = left === 0 ? '' : `, ${left} without`;
  return [
    `${name}: ${span}${unscored}`,
    `${scores.length}: ${span}${unscored}`,
    `${scores.length}: ${span}`,
    `${name}: mean ${meanText(mean)}`,
  ];
}
