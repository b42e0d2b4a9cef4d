import type { FactRows } from '../facts/fact-rows.ts';

/** With more different scores, groups of equal ones are no chance. */
const MOST_SCORES = 50;
/** More of the change than this share must not remain. */
const LEFT = 0.3;

/** Scores of the rollouts with and without a sign, and the groups they form. */
class GroupScores {
  readonly #groups = new Map<number, { scores: number[]; marked: number }>();
  /** How often each score occurs, without the sign and with it. */
  readonly #counts = [new Map<number, number>(), new Map<number, number>()] as const;

  add(group: number, score: number, isMarked: boolean): void {
    const counts = this.#counts[isMarked ? 1 : 0];
    counts.set(score, (counts.get(score) ?? 0) + 1);
    if (group < 0) return;
    const known = this.#groups.get(group) ?? { scores: [], marked: 0 };
    this.#groups.set(group, known);
    known.scores.push(score);
    known.marked += Number(isMarked);
  }

  /** The share of groups whose scores are equal, and the share to expect if each rollout scores for itself. */
  equal(): { seen: number; expected: number } {
    const several = [...this.#groups.values()].filter(({ scores }) => scores.length > 1);
    const [plain, marked] = this.#counts;
    const scores = [...new Set([...plain.keys(), ...marked.keys()])];
    const total = (counts: ReadonlyMap<number, number>): number =>
      Math.max(
        1,
        [...counts.values()].reduce((a, b) => a + b, 0),
      );
    const [ofPlain, ofMarked] = [total(plain), total(marked)];
    let [seen, expected] = [0, 0];
    for (const group of several) {
      seen += Number(group.scores.every((score) => score === group.scores[0]));
      if (scores.length > MOST_SCORES) continue;
      for (const score of scores)
        expected +=
          ((plain.get(score) ?? 0) / ofPlain) ** (group.scores.length - group.marked) *
          ((marked.get(score) ?? 0) / ofMarked) ** group.marked;
    }
    const of = Math.max(1, several.length);
    return { seen: seen / of, expected: expected / of };
  }
}

/**
 * Whether a sign explains that more groups have one score: rollouts with the sign score alike, so that groups with many
 * of them are equal by chance. Groups that are equal for another reason are more than chance gives, although they move
 * the scores that chance is reckoned from.
 */
export function explainsEqualScores(
  facts: Pick<FactRows, 'numbers' | 'groups'>,
  rows: Uint32Array,
  sideOf: (row: number) => 'before' | 'after' | null,
  isMarked: (row: number) => boolean,
): boolean {
  const scores = facts.numbers('score');
  const sides = { before: new GroupScores(), after: new GroupScores() };
  for (const row of rows) {
    const [side, score] = [sideOf(row), scores[row] ?? Number.NaN];
    if (side !== null && Number.isFinite(score)) sides[side].add(facts.groups[row] ?? -1, score, isMarked(row));
  }
  const [before, after] = [sides.before.equal(), sides.after.equal()];
  const [seen, expected] = [after.seen - before.seen, after.expected - before.expected];
  return Math.abs(seen - expected) < LEFT * Math.abs(seen);
}
