// A filter accepts the same rollouts by columns and by reading each record.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { passing } from '../../../src/analysis/facts/passing.ts';
import { compileQuery } from '../../../src/analysis/query/query.ts';
import { Subject } from '../../../src/analysis/query/subject.ts';
import { Dump } from '../../../src/core/dump/dump.ts';

const state = mkdtempSync(join(tmpdir(), 'passing-'));
afterAll(() => rmSync(state, { recursive: true }));

const FILTERS = [
  'score < 0.5',
  'score == null || turns >= 4',
  'step in 1..2 && tool_calls > 0',
  'finding:tool_error || finding:unclosed',
  '!(finding:bad_record) && chars > 200',
  'findings > 1',
  'ended == "stop"',
  'status != null',
  'acc == true',
  'extras.step != 3 || finding:empty_output',
  'uid ~ /a/i && turns > 1',
  'output ~ /the/ && chars > 100',
  'error.kind != null',
  'repetition > 0.01',
  'opening != "000000"',
  'sample > 1 && bytes > 500',
  'stream == "train"',
];

test.each(['fixtures/rollout_data', 'fixtures/tau-airline', 'fixtures/verl-gsm8k', 'fixtures/decoded'])(
  'in %s',
  async (path) => {
    const open = (facts?: string) => Dump.open([path], facts === undefined ? {} : { facts });
    const [byRecord, first, again] = [open(), open(join(state, 'facts')), open(join(state, 'facts'))];
    try {
      let passed = 0;
      for (const dump of [byRecord, first]) for (const file of dump.files) await file.buildIndex(() => true);
      for (const [at, file] of byRecord.files.entries()) {
        const subjects = Array.from({ length: file.count }, (_, record) => Subject.read(file.read(record)));
        for (const text of FILTERS) {
          const filter = compileQuery(text);
          const own = subjects.flatMap((subject, record) => (filter.accepts(subject) ? [record] : []));
          const found: number[] = [];
          for await (const record of passing(first, first.files[at]!, filter)) found.push(record);
          expect(found, `${text}: ${file.path}`).toEqual(own);
          passed += own.length;
        }
      }
      expect(passed).toBeGreaterThan(20);
      // Facts of plain files are stored, and are the same when read back.
      await first.whenKept();
      const filter = compileQuery('turns > 1 && chars > 10');
      for (const [at, file] of again.files.entries()) {
        await file.buildIndex(() => true);
        const own: number[] = [];
        for await (const record of passing(byRecord, byRecord.files[at]!, filter)) own.push(record);
        const found: number[] = [];
        for await (const record of passing(again, file, filter)) found.push(record);
        expect(found).toEqual(own);
      }
    } finally {
      for (const dump of [byRecord, first, again]) dump.close();
    }
  },
);
