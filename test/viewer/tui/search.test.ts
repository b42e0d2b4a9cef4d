import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { matcher, rawFilter } from '../../../src/analysis/text-search.ts';
import type { Block } from '../../../src/viewer/present/transcript/block.ts';
import { MAX_HITS, Scan } from '../../../src/viewer/tui/rows/scan.ts';
import { App } from '../../support/driver/app.ts';
import { smallRun, writeDump } from '../../support/dump.ts';

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

describe('a search that is taken up again', () => {
  const block = (text: string): Block => ({ id: 'b', turn: 0, text, style: 'plain', trained: false, indent: 0 });
  const found = (texts: readonly string[], value: string, steps: { count: number }): string[] => {
    const scan = new Scan(texts.map(block), matcher(value));
    while (!scan.isDone) {
      scan.run(() => true);
      steps.count++;
    }
    return scan.hits.map(({ start, end }) => `${start}-${end}`);
  };

  test('finds in slices what it would find at once, on one endless line and on many', () => {
    const pieces = fc.constantFrom(
      'needle',
      'nee',
      'dle',
      'n'.repeat(9000),
      '计算'.repeat(5000),
      '👩‍👩‍👧‍👦',
      'x'.repeat(20000),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.constantFrom('', '\n'), (parts, between) => {
        const text = parts.join(between);
        const wanted: string[] = [];
        for (let at = text.indexOf('needle'); at >= 0; at = text.indexOf('needle', at + 6))
          wanted.push(`${at}-${at + 6}`);
        const steps = { count: 0 };
        expect(found([text], 'needle', steps)).toEqual(wanted);
        if (between === '\n') expect(found([text], 'ne{2}dle', steps)).toEqual(wanted);
        expect(steps.count).toBeGreaterThanOrEqual(Math.floor(text.length / 32_768));
      }),
      { numRuns: 60 },
    );
  });

  test('says how far it is, and ends where there is too much to count', () => {
    const scan = new Scan([block('a'.repeat(100_000)), block('')], matcher('a'));
    expect(scan.share).toBe(0);
    scan.run(() => true);
    expect(scan.hits.length).toBe(MAX_HITS);
    expect(scan.isFull).toBe(true);
    expect(scan.share).toBe(1);
    const long = [block('b'.repeat(100_000))];
    const other = new Scan({ at: (index) => long[index], length: 100_000 }, matcher('a'));
    other.run(() => true);
    expect(other.share).toBeCloseTo(0.33, 1);
  });
});

describe('a search in a sample, and the reader in another', () => {
  const run = writeDump(smallRun(1, 8));
  afterAll(() => run.remove());
  let app: App;
  afterEach(() => app.stop());

  test('has no position there, and begins with what is in sight', async () => {
    app = App.start([run.dir], { columns: 120, rows: 40 });
    await app.sees('▌›assistant');
    app.type('/left');
    app.press('Enter', 'n');
    await app.sees(' 2/');
    app.press('J');
    await app.sees('sample 2/8');
    await app.sees(' –/');
    app.press('n');
    await app.sees(' 1/');
    await app.sees('sample 2/8');
    app.press('v');
    await app.sees(' –/');
  });
});

describe('a record of many MB', () => {
  const long = 'word and another '.repeat(150_000);
  const record = (output: string) => ({ input: 'user\nhi\nassistant\n', output, gts: '1', score: 1, step: 1 });
  const run = writeDump({ '1.jsonl': [record('short'), record(`${long}the needle`), record(long)] });
  afterAll(() => run.remove());
  let app: App;
  afterEach(() => app.stop());

  test('is searched bit by bit: n goes there, and the hit comes into sight when it is found', async () => {
    app = App.start([run.dir], { columns: 120 });
    await app.sees('▌›assistant');
    app.type('/the need.e');
    await app.sees('no hit');
    app.press('Enter');
    await app.sees('not in this sample');
    app.press('n');
    await app.sees('sample 2/3');
    await app.sees(/the needle[\s\S]* 1\/1 /);
    app.press('n', 'n');
    await app.sees('sample 3/3');
    await app.sees('not in this sample, n looks in the next ones');
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

  test('a pattern is looked for in all of them, with one press', async () => {
    await search('need.e');
    await app.sees('sample 13/30');
    await app.sees('1/1');
    app.press('n', 'n');
    await app.sees('no more below');
    await app.sees('sample 13/30');
    app.press('N', 'N');
    await app.sees('no more above');
  });
});
