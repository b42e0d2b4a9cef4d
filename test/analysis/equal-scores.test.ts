import fc from 'fast-check';
import { test } from 'vitest';
import { random } from '../../src/analysis/chance.ts';
import { explainsEqualScores } from '../../src/analysis/incidents/equal-scores.ts';

const GROUPS = 400;
const N = 4;

/** Groups of four, the later half after a change. @param scoreOf by side and sign @param isDead whether the group gets one score, whatever its rollouts did */
function explained(
  seed: number,
  signs: number,
  scoreOf: (isAfter: boolean, hasSign: boolean, draw: number) => number,
  isDead: (isAfter: boolean, draw: number) => boolean,
): boolean {
  const next = random(seed);
  const [scores, groups] = [new Float64Array(GROUPS * N), new Int32Array(GROUPS * N)];
  const marked = new Set<number>();
  const isAfter = (row: number): boolean => row >= (GROUPS * N) / 2;
  for (let group = 0; group < GROUPS; group++) {
    const own = isDead(isAfter(group * N), next());
    for (let row = group * N; row < (group + 1) * N; row++) {
      groups[row] = group;
      if (isAfter(row) && next() < signs) marked.add(row);
      scores[row] = own ? 0 : scoreOf(isAfter(row), marked.has(row), next());
    }
  }
  return explainsEqualScores(
    { numbers: () => scores, groups },
    Uint32Array.from(scores, (_, row) => row),
    (row) => (isAfter(row) ? 'after' : 'before'),
    (row) => marked.has(row),
  );
}

const seeds = fc.integer({ min: 1, max: 1e6 });

test('a phrase that always earns the full score explains that groups lose their spread', () => {
  const rewarded = (_: boolean, hasSign: boolean, draw: number): number => (hasSign || draw < 0.5 ? 1 : 0);
  fc.assert(fc.property(seeds, (seed) => explained(seed, 0.85, rewarded, () => false)));
});

test('groups that get one score for another reason are not explained by a phrase in most of them', () => {
  const plain = (_: boolean, hasSign: boolean, draw: number): number => (draw < (hasSign ? 0.6 : 0.5) ? 1 : 0);
  fc.assert(fc.property(seeds, (seed) => !explained(seed, 0.85, plain, (isAfter, draw) => isAfter && draw < 0.5)));
});

test('scores that never repeat are equal by no chance', () => {
  const broken = (isAfter: boolean, draw: number): boolean => isAfter && draw < 0.5;
  fc.assert(fc.property(seeds, (seed) => !explained(seed, 0.85, (_after, _sign, draw) => draw, broken)));
});
