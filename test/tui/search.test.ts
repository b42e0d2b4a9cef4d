import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { rawFilter } from '../../src/tui/search/pattern.ts';
import { App } from '../driver/app.ts';
import { writeDump } from '../support/dump.ts';

describe('what need not be laid out', () => {
  test('is a record whose text does not hold a plain word', () => {
    expect(rawFilter('needle')('{"output": "a Needle"}')).toBe(true);
    expect(rawFilter('Needle')('{"output": "a needle"}')).toBe(false);
    expect(rawFilter('\\Vtwo words')('{"output": "two\\nwords"}')).toBe(false);
  });

  test('is never one that JSON may have written otherwise', () => {
    for (const value of ['é', 'a"b', 'x=1', 'a.b', 'a/b', '\\Va\\b', '1.00']) expect(rawFilter(value)('{}')).toBe(true);
  });
});

describe('n goes on through many samples', () => {
  const FILLER = 'nothing of note is said here. '.repeat(700);
  const record = (i: number) => ({
    input: 'user\nhi\nassistant\n',
    output: `${FILLER}${i === 12 ? 'a needle' : ''}`,
    gts: '1',
    score: 1,
    step: 1,
  });
  const run = writeDump({ '1.jsonl': Array.from({ length: 30 }, (_, i) => record(i)) });
  afterAll(() => run.remove());
  let app: App;
  afterEach(() => app.stop());

  const search = async (pattern: string): Promise<void> => {
    app = App.start([run.dir], { columns: 120 });
    await app.sees('▌›assistant');
    app.type(`/${pattern}`);
    await app.sees('no hit');
    app.press('Enter');
    await app.sees('not in this sample');
    app.press('n');
  };

  test('a word is found at once in the text of the records', async () => {
    await search('needle');
    await app.sees('sample 13/30');
    await app.sees('1/1');
    app.press('n', 'n');
    await app.sees('no more below');
  });

  test('a pattern takes a few presses, each of which says how far it came', async () => {
    await search('need.e');
    await app.sees('none in 7 samples, n goes on from here');
    await app.sees('sample 8/30');
    app.press('n');
    await app.sees('sample 13/30');
    await app.sees('1/1');
  });
});
