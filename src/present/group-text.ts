/** What a group of rollouts says in a line: its size, and whether its scores teach anything. */
export function groupText(scores: readonly (number | null | undefined)[], place: number): string {
  const finite = scores.filter((score): score is number => typeof score === 'number' && Number.isFinite(score));
  const parts = [`group ${place}/${scores.length}`];
  if (finite.length > 0) {
    const mean = finite.reduce((sum, score) => sum + score, 0) / finite.length;
    parts.push(`mean ${mean.toFixed(2)}`);
    // GRPO's advantage is zero where all of a group score alike.
    if (finite.length > 1 && finite.every((score) => score === finite[0])) parts.push('no signal');
  }
  return parts.join(' ');
}
