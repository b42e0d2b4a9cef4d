import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { layMeasures } from '../../src/analysis/facts/fact-table.ts';
import { GROUP_MEASURES } from '../../src/analysis/facts/group-measures.ts';
import { numberBlocks, verdictBlocks } from '../../src/analysis/query/column-blocks.ts';
import { completions } from '../../src/analysis/query/complete.ts';
import { ASK, YES } from '../../src/analysis/query/evaluator.ts';
import {
  type Comparison,
  type Expression,
  type Literal,
  printExpression,
} from '../../src/analysis/query/expression.ts';
import {
  FACT_FIELDS,
  FIELD_NAMES,
  type Field,
  fieldNamed,
  NUMBER_FIELDS,
  TEXT_FIELDS,
  valueName,
} from '../../src/analysis/query/fields.ts';
import { type IndexedFile, knownValue, NO_COLUMNS, verdictOn } from '../../src/analysis/query/on-columns.ts';
import { parseQuery } from '../../src/analysis/query/parse.ts';
import { compileQuery } from '../../src/analysis/query/query.ts';
import { QueryError } from '../../src/analysis/query/query-error.ts';
import { compareValues, parseSort, type SortValue } from '../../src/analysis/query/sort.ts';
import { Subject } from '../../src/analysis/query/subject.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import type { DumpFile } from '../../src/core/dump/dump-file.ts';
import { CHECKS } from '../../src/core/rollout/checks.ts';
import { directoryWith, verlLine } from '../program.ts';

/** Which of the lines a filter accepts, by their number from 1. */
async function accepted(lines: readonly string[], text: string): Promise<number[]> {
  const dump = Dump.open([join(directoryWith({ '1.jsonl': lines.join('') }), '1.jsonl')]);
  const file = dump.files[0]!;
  await file.buildIndex(() => true);
  const query = compileQuery(text);
  const records = Array.from({ length: file.count }, (_, record) => record);
  const found = records.filter((record) => query.accepts(Subject.of({ file, record })));
  dump.close();
  return found.map((record) => record + 1);
}

const lines = [
  verlLine({ score: 1, output: 'Sorry, 2', uid: 'a_b_c', acc: true, reward: { 'x.y': 1, deep: [5] } }),
  verlLine({ score: 0.25, output: 'it is 2', big: 3 }),
  verlLine({ score: 'NaN', gts: ['a', 'b'] }).replace('"NaN"', 'NaN'),
  verlLine({ score: null, step: 7 }),
  'no record\n',
];

describe('a filter', () => {
  test.each<[string, number[]]>([
    ['score < 0.5', [2]],
    ['score>=0.25&&step==1', [1, 2]],
    ['score == NaN', [3]],
    ['score != NaN', [1, 2, 4, 5]],
    ['score == null', [4, 5]],
    ['step = 7 || big > 2', [2, 4]],
    ['!(sample <= 2)', [3, 4, 5]],
    ['output ~ /sorry/i', [1]],
    ['output ~ "Sorry, 2"', [1]],
    ['output !~ /^it/', [1, 3, 4, 5]],
    ['gts ~ /^\\["a"/', [3]],
    ['acc == true', [1]],
    ['reward.deep.0 == 5', [1]],
    ['extras.acc != true', [2, 3, 4, 5]],
    ['uid == "a_b_c"', [1]],
    ['finding:bad_record || finding:cut', [5]],
    ['findings == 0 && turns > 1 && tool.search < 1', [1, 2, 3, 4]],
  ])('%s', async (text, wanted) => {
    expect(await accepted(lines, text)).toEqual(wanted);
  });

  test.each<[string, number, RegExp]>([
    ['', 0, /condition is missing/],
    ['score <', 7, /expected a value/],
    ['score < "a"', 8, /compares numbers/],
    ['score == "a"', 9, /score is a number/],
    ['scroe < 1', 0, /did you mean score/],
    ['score ~ /x/', 6, /score is a number/],
    ['score < 0.5x', 8, /0\.5x is not a number/],
    ['output < 3', 9, /output is text/],
    ['output == 3', 10, /quotes/],
    ['(score < 1', 10, /no closing \)/],
    ['score < 1)', 9, /no opening \(/],
    ['score < 1 step', 10, /expected && or \|\|/],
    ['score < 1 & step', 10, /write &&/],
    ['finding:nothing', 8, /unknown finding/],
    ['output ~ /(/', 9, /./],
    ['output ~ /x', 9, /no closing/],
    ['output ~ /x/g', 12, /flag g/],
    [`${'('.repeat(200)}`, 100, /more than 100/],
    ['a'.repeat(10_001), 10_000, /longer/],
  ])('%s is wrong at a character', (text, at, message) => {
    let error: unknown;
    try {
      parseQuery(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(QueryError);
    expect((error as QueryError).message).toMatch(message);
    expect((error as QueryError).at).toBe(at);
  });

  test('knows what it costs', () => {
    expect(compileQuery('score < 1 && !(bytes > 3 || stream == "val")').cost).toBe('quick');
    expect(compileQuery('score < 1 || finding:cut').cost).toBe('facts');
    expect(compileQuery('turns > 1 || acc == 1').cost).toBe('facts');
    expect(compileQuery('turns > 1 || output ~ /x/').cost).toBe('record');
  });

  test('a pattern that would take other engines for ever ends at once', async () => {
    expect(await accepted([verlLine({ output: `${'a'.repeat(5000)}!` })], 'output ~ /^(a+)+$/')).toEqual([]);
  });

  test('names are completed at the end', () => {
    expect(completions('sco', [])).toEqual(['score']);
    expect(completions('score<1 && ac', ['acc'])).toEqual(['score<1 && acc']);
    expect(completions('finding:tool_', [])).toEqual(['finding:tool_error', 'finding:tool_cut', 'finding:tool_unused']);
    expect(completions('score < 0.5', [])).toEqual([]);
  });
});

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.constantFrom(...NUMBER_FIELDS, ...TEXT_FIELDS).map(fieldNamed),
  fc.stringMatching(/^[a-z_][a-z0-9_-]{0,6}(\.[a-z0-9_]{1,4}){0,2}$/).map((path): Field => ({ type: 'extra', path })),
  fc.stringMatching(/^[a-z_]{1,8}$/).map((name): Field => ({ type: 'tool', name, part: null })),
);

const condition: fc.Arbitrary<Expression> = fc.oneof(
  fc.constantFrom(...CHECKS).map((check): Expression => ({ op: 'finding', check })),
  fc
    .tuple(field, fc.constantFrom('==', '!=', '<', '<=', '>', '>=' as const), fc.double())
    .map(
      ([of, by, value]): Expression =>
        of.type === 'text'
          ? { op: 'compare', field: of, by: by === '!=' ? '!=' : '==', value: String(value) }
          : { op: 'compare', field: of, by: by as '<', value },
    ),
  fc
    .tuple(fc.constantFrom(...TEXT_FIELDS), fc.string())
    .map(([name, value]): Expression => ({ op: 'compare', field: { type: 'text', name }, by: '==', value })),
  fc.tuple(fc.constantFrom(...TEXT_FIELDS), fc.stringMatching(/^[\w /.]{1,9}$/), fc.boolean()).map(
    ([name, source, ignoresCase]): Expression => ({
      op: 'match',
      field: { type: 'text', name },
      source,
      ignoresCase,
    }),
  ),
);

/** A term over the fields that columns know: facts, findings, extras, measures of a group. */
const columnTerm: fc.Arbitrary<Expression> = fc.oneof(
  condition,
  fc
    .tuple(
      fc
        .constantFrom(...FACT_FIELDS, ...GROUP_MEASURES, 'read', 'acc', 'reward.extra', 'task_id', 'info')
        .map(fieldNamed),
      fc.constantFrom<Comparison>('==', '!=', '<', '<=', '>', '>='),
      fc.oneof(fc.constantFrom<Literal>(null, true, 0, 1, 2, 'stop', 'en', 'latin'), fc.double({ min: 0, max: 5000 })),
    )
    .map(
      ([of, by, value]): Expression =>
        typeof value === 'number'
          ? { op: 'compare', field: of, by, value }
          : { op: 'compare', field: of, by: by === '!=' ? '!=' : '==', value },
    )
    .filter((written) => isRead(written)),
);

function isRead(written: Expression): boolean {
  try {
    return printExpression(parseQuery(printExpression(written))) !== '';
  } catch {
    return false;
  }
}

/** Facts that a file has of records that nobody examined. */
const unexamined = (file: DumpFile): IndexedFile => ({
  stream: file.stream,
  index: { length: (record) => file.index.length(record), columns: NO_COLUMNS },
  stepOf: (record) => file.stepOf(record),
  score: () => undefined,
  measures: null,
  signals: null,
  isRead: (record) => file.isRead(record),
});

const expressionOf = (term: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> =>
  fc.letrec<{ expression: Expression }>((tie) => ({
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      term,
      fc
        .tuple(fc.constantFrom('and' as const, 'or' as const), tie('expression'), tie('expression'))
        .map(([op, left, right]): Expression => ({ op, left, right })),
      tie('expression').map((of): Expression => ({ op: 'not', of })),
    ),
  })).expression;

const expression = expressionOf(condition);

describe('whatever is written', () => {
  test('printed and read again it is the same', () => {
    fc.assert(
      fc.property(expression, (written) => {
        expect(parseQuery(printExpression(written))).toEqual(written);
      }),
    );
  });

  test('reading text fails with a QueryError inside of it, or not at all', () => {
    const word = fc.constantFrom(
      'score',
      '<',
      '1',
      '(',
      ')',
      '!',
      '&&',
      '||',
      '~',
      '/a/',
      '"',
      'finding:',
      'x.y',
      ' ',
      '\\',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word).map((words) => words.join(' ')),
        ),
        (text) => {
          try {
            parseQuery(text);
          } catch (error) {
            expect(error).toBeInstanceOf(QueryError);
            expect((error as QueryError).at).toBeGreaterThanOrEqual(0);
            expect((error as QueryError).at).toBeLessThanOrEqual(text.length);
          }
        },
      ),
    );
  });

  test('asking never throws', async () => {
    const dump = Dump.open([join(directoryWith({ '1.jsonl': lines.join('') }), '1.jsonl')]);
    const file = dump.files[0]!;
    await file.buildIndex(() => true);
    fc.assert(
      fc.property(expression, (written) => {
        for (let record = 0; record < file.count; record++)
          expect(typeof compileQuery(printExpression(written)).accepts(Subject.of({ file, record }))).toBe('boolean');
      }),
    );
    dump.close();
  });
});

test('columns that decide a filter decide it as the records do, and leave no other record open', async () => {
  const dump = Dump.open(['fixtures/rollout_data', 'fixtures/tau-airline', 'fixtures/verl-gsm8k', 'fixtures/decoded']);
  for (const file of dump.files) await file.buildIndex(() => true);
  // Parsed records, which no column knows, are the truth.
  const records = dump.files.flatMap((file) =>
    Array.from({ length: file.count }, (_, record) => ({ file, record, read: file.read(record) })),
  );
  await dump.lookAtAll();
  layMeasures(dump);
  const subjects = records.map(({ file, record, read }) => ({
    ...{ file, record },
    subject: new Subject(
      { file: { ...unexamined(file), measures: file.measures }, record },
      { read: () => read, hasRaw: () => true },
    ),
  }));
  fc.assert(
    fc.property(expressionOf(columnTerm), (written) => {
      const query = compileQuery(printExpression(written));
      for (const { file, record, subject } of subjects) {
        const verdict = verdictOn(query.expression, file)(record);
        if (verdict !== ASK) expect(verdict === YES, file.locator(record)).toBe(query.accepts(subject));
        else if (query.cost !== 'record') expect(/extras|\b(?:info|reward)\b/.test(query.text), query.text).toBe(true);
      }
      const blocks = verdictBlocks(query.expression);
      for (const file of dump.files) {
        const from = Math.min(1, file.count);
        const verdicts = new Uint8Array(file.count - from);
        blocks({ file, from, count: verdicts.length }, verdicts);
        const verdict = verdictOn(query.expression, file);
        expect([...verdicts], query.text).toEqual(Array.from(verdicts, (_, i) => verdict(from + i)));
      }
    }),
    { numRuns: 60 },
  );
  for (const name of [...FIELD_NAMES, 'acc', 'reward', 'info', 'extras.step']) {
    const field = fieldNamed(name);
    const blocks = numberBlocks(field);
    for (const file of dump.files) {
      const numbers = new Float64Array(file.count);
      if (blocks?.({ file, from: 0, count: file.count }, numbers) !== true) continue;
      const read = knownValue(file, field);
      const values = Array.from(numbers, (_, record) => read(record) ?? Number.NaN);
      expect([...numbers], name).toEqual(values.map((value) => (typeof value === 'boolean' ? Number(value) : value)));
    }
  }
  dump.close();
});

describe('sorting', () => {
  const sorted = (values: SortValue[], descending: boolean) =>
    [...values].sort((a, b) => compareValues(a, b, descending));

  test('numbers as numbers, NaN and what is missing last both ways', () => {
    expect(sorted([10, null, 9, Number.NaN, 'b', 'a', -1], false)).toEqual([-1, 9, 10, 'a', 'b', Number.NaN, null]);
    expect(sorted([10, null, 9, Number.NaN, 'b', 'a', -1], true)).toEqual([10, 9, -1, 'b', 'a', Number.NaN, null]);
  });

  test('reads KEY and KEY:desc', () => {
    expect(parseSort('score:desc')).toMatchObject({ key: 'score', descending: true });
    expect(parseSort('reward.x')).toMatchObject({ field: { type: 'extra', path: 'reward.x' }, descending: false });
    expect(() => parseSort('score:down')).toThrow(QueryError);
    expect(() => parseSort('')).toThrow(QueryError);
  });
});

test("a record's own value has a name under which it is found, whatever it is called", () => {
  const name = fc.oneof(
    fc.constantFrom('scores', 'score', 'turn', 'uid', 'tool.f', 'NaN', 'extras.x', 'stream'),
    fc.stringMatching(/^[a-z_][a-z0-9_.-]{0,8}$/),
  );
  fc.assert(
    fc.property(name, (path) => {
      const { field } = parseSort(valueName(path));
      expect(field).toEqual(fieldNamed(valueName(path)));
      expect(field.type === 'extra' ? field.path : field.type === 'text' ? field.name : null).toBe(path);
    }),
  );
});

test('a record is passed over unread only where its line would hold the words as they are', () => {
  const finds = (filter: string) =>
    compileQuery(filter).accepts({ value: () => 'a/b and more', has: () => false, mayHold: () => false });
  expect(finds('output ~ /and more/')).toBe(false);
  // Other values are made from the record, JSON may escape a slash, and letters may fold.
  expect(finds('gts ~ /and more/')).toBe(true);
  expect(finds('output ~ "a/b"')).toBe(true);
  expect(finds('output ~ /and more/i')).toBe(true);
});

test('a line that escapes letters may hold any word, and a record that is read already is asked itself', () => {
  const subject = (raw: string) =>
    new Subject({ file: {}, record: 0 } as never, {
      read: () => ({ rollout: null, findings: [] }),
      hasRaw: (characters) => raw.includes(characters),
    });
  expect(subject('some words').mayHold('other')).toBe(false);
  expect(subject('some words').mayHold('words')).toBe(true);
  expect(subject('s\\u006fme').mayHold('other')).toBe(true);
  const read = subject('some words');
  expect(read.record.rollout).toBeNull();
  expect(read.mayHold('other')).toBe(true);
});

test('letters fold as RE2 folds them, in the short cut for plain words too', () => {
  const finds = (pattern: string, output: string) =>
    compileQuery(`output ~ /${pattern}/i`).accepts({ value: () => output, has: () => false, mayHold: () => true });
  expect(finds('sos', 'ſOS')).toBe(true);
  expect(finds('ix', 'İx')).toBe(false);
  expect(finds('SORRY', 'so sorry')).toBe(true);
});
