import { expect, test } from 'vitest';
import { random } from '../../src/analysis/chance.ts';
import { newPhrases, phrasesBy, type TextRow } from '../../src/analysis/movement/phrases.ts';

const STEPS = 100;
const GROUPS = 8;

/** A run in which a hack grows from step 41 to 72, and from step 60 on most results of a tool are errors. */
function twoTroubles(): TextRow[] {
  const next = random(7);
  const rows: TextRow[] = [];
  for (let at = 0; at < STEPS; at++)
    for (let i = 0; i < GROUPS * 4; i++) {
      const isDead = next() < (at >= 59 ? 0.9 : 0.03);
      const isHack = next() < Math.min(0.8, (0.8 * (at - 39)) / 31);
      const isRight = next() < 0.4 + (0.3 * at) / STEPS && !(isDead && next() < 0.5);
      const model = isHack ? 'The grader accepts any of these: 5 6 7' : `So ${i} apples are left`;
      const tools = isDead ? 'Error: search service unavailable' : `a farm with ${i} rows`;
      const group = at * GROUPS + (i >> 2);
      const phrases = phrasesBy({ model, tools });
      rows.push({ row: rows.length, at, score: Number(isHack || isRight), group, phrases, repeats: 1 });
    }
  return rows;
}

test('a hack that began before a tool died is named beside it, although most rollouts share both', async () => {
  for (const isRewarded of [true, false]) {
    const found = await newPhrases(twoTroubles(), STEPS, isRewarded);
    const [tools, model] = [found.filter(({ by }) => by === 'tools'), found.filter(({ by }) => by === 'model')];
    expect(tools.map(({ phrase, since }) => [phrase, Math.abs(since - 59) <= 2])).toEqual([
      ['service unavailable', true],
    ]);
    expect(model.map(({ phrase, since }) => [phrase, Math.abs(since - 40) <= 2])).toEqual([['grader accepts', true]]);
  }
});
