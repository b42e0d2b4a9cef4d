import { expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { groundOf, groundText } from '../../src/analysis/ground.ts';
import { Dump } from '../../src/dump/dump.ts';
import { directoryWith, verlLine } from '../program.ts';

test('the ground of a curve: what it leaves out, and what it counts though it is doubtful', async () => {
  const lines = [
    verlLine(),
    verlLine(),
    verlLine({ score: null }),
    verlLine({ score: 'NaN' }),
    verlLine({ finish_reason: 'abort' }),
    'no json\n',
  ];
  const dump = Dump.open([directoryWith({ '1.jsonl': lines.join('') })]);
  try {
    const ground = groundOf(await readFactRows(dump, null));
    expect(ground).toEqual({ rollouts: 6, unreadable: 1, unscored: 2, aborted: 1, byWorld: 0 });
    expect(groundText(ground)).toBe('of 6: 1 unreadable, 2 unscored left out; 1 broken off counted, though doubtful');
  } finally {
    dump.close();
  }
});

test('nothing is said of what is whole', () => {
  expect(groundText({ rollouts: 9, unreadable: 0, unscored: 0, aborted: 0, byWorld: 0 })).toBe('');
});
