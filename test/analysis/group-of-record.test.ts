import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberGroups } from '../../src/analysis/facts/group-numbers.ts';
import { groupOfRecord } from '../../src/analysis/group-of-record.ts';
import { Groups } from '../../src/analysis/groups.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { groupKeyOf, groupNumbersOf, NO_GROUP } from '../../src/core/rollout/group-key.ts';
import { FileGroups } from '../../src/viewer/commands/file-groups.ts';
import { writeDump } from '../support/dump.ts';

/** As Python writes it: ASCII alone. */
const ascii = (record: object): string =>
  JSON.stringify(record).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const record = fc.record({
  prompt: fc.constantFrom('Why?', 'Why so?', 'Warum? Ägypten 💡', `${'long '.repeat(80)}end`, ''),
  gts: fc.constantFrom('7', '8'),
  uid: fc.constantFrom(null, null, 'p1_0_0', 'p1_1_0', 'p2_0_0', 'odd', 'même', 'ein_ander_er'),
  step: fc.constantFrom(1, 1, 1, 2),
  score: fc.constantFrom(0, 1, null),
  isBad: fc.constantFrom(false, false, false, true),
});

test('the list, the screen, a single record and the tables give a record the same group', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 8 }), fc.boolean(), async (records, isAscii) => {
      const lines = records.map(({ prompt, isBad, uid, ...more }) => {
        if (isBad) return '{"input": "Why?", bro';
        const line = { input: `user\n${prompt}\nassistant\n`, output: 'So.', ...more, ...(uid && { uid }) };
        return isAscii ? ascii(line) : JSON.stringify(line);
      });
      const run = writeDump({ 'all.jsonl': lines });
      const dump = Dump.open([run.dir]);
      try {
        const [file] = dump.files;
        await file!.buildIndex(() => true);
        const rows = lines.map((_, i) => file!.read(i));
        const groups = new Groups(
          rows.map(({ rollout }) => (rollout === null ? null : groupKeyOf(rollout))),
          (i) => file!.stepOf(i),
        );
        const listed = new FileGroups();
        const numbers = rows.map(({ rollout }) => (rollout === null ? NO_GROUP : groupNumbersOf(rollout)));
        const table = numberGroups({
          keys: Float64Array.from(numbers, ({ group }) => group),
          prompts: Float64Array.from(numbers, ({ prompt }) => prompt),
          uids: Float64Array.from(numbers, ({ uid }) => uid),
          units: Uint32Array.from(lines, (_, i) => file!.stepOf(i) ?? 0),
          streams: new Uint32Array(lines.length),
        }).groups;
        for (const [i, row] of rows.entries()) {
          const { key, members } = groupOfRecord(row);
          expect(key).toBe(groups.keyOf(i));
          expect(members.map((member) => member.record)).toEqual(groups.membersOf(i));
          expect(listed.of(file!, row)).toBe(key);
          const mates = table[i] === -1 ? [] : [...table.keys()].filter((other) => table[other] === table[i]);
          expect(mates).toEqual(groups.membersOf(i));
        }
      } finally {
        dump.close();
        run.remove();
      }
    }),
    { numRuns: 150 },
  );
});
