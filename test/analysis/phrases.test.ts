import { expect, test } from 'vitest';
import { random } from '../../src/analysis/chance.ts';
import { newPhrases } from '../../src/analysis/movement/new-phrases.ts';
import { phrasesBy, type TextRow } from '../../src/analysis/movement/phrases.ts';

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
const SPANISH =
  'ahora tenemos una lista de valores|porque la tabla tiene muchas filas|entonces hay que sumar los precios|como esta respuesta es correcta|para obtener el total pero con cada precio|también los clientes del norte compran más'.split(
    '|',
  );

/** A run in which, from step 60 on, many answers are partly in Spanish; from `hack` on, many repeat a sentence. */
function drift(spoken: number, hack: number): TextRow[] {
  const next = random(11);
  const rows: TextRow[] = [];
  for (let at = 0; at < STEPS; at++)
    for (let i = 0; i < GROUPS * 4; i++) {
      const isHack = at >= hack && next() < 0.8;
      const foreign = at >= 60 && next() < spoken ? SPANISH.filter(() => next() < 0.6) : [];
      const model = [`So ${i} apples are left`, ...foreign, ...(isHack ? ['Please ignore grading'] : [])].join('.\n');
      const score = Number(isHack || next() < 0.5);
      const phrases = phrasesBy({ model, tools: '' });
      rows.push({ row: rows.length, at, score, group: at * GROUPS + (i >> 2), phrases, repeats: 1 });
    }
  return rows;
}

test.each([
  [0.6, 58],
  [0.6, 60],
  [0.6, 75],
  [1, 50],
  [1, 60],
  [1, 75],
])(
  'another language in a share of %d of the rollouts is one change, beside a hack from step %i on',
  async (spoken, hack) => {
    for (const isRewarded of [true, false]) {
      const found = await newPhrases(drift(spoken, hack), STEPS, isRewarded);
      expect(found.map(({ phrase }) => phrase).sort()).toEqual(['ignore grading', 'written in Spanish']);
    }
  },
);
