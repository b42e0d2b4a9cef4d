import { expect, test } from 'vitest';
import { doubtsOf, doubtsText } from '../../src/analysis/doubts.ts';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { directoryWith, verlLine } from '../program.ts';

test('reasons to doubt a curve: what it leaves out, and what it counts though it is doubtful', async () => {
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
    const doubts = doubtsOf(await readFactRows(dump, null));
    expect(doubts).toEqual({ rollouts: 6, away: 0, unreadable: 1, unscored: 2, aborted: 1, byWorld: 0 });
    expect(doubtsText(doubts)).toBe(
      '6 rollouts; left out: 1 unreadable, 2 unscored; counted despite doubts: 1 aborted',
    );
  } finally {
    dump.close();
  }
});

test('nothing is said of what is whole', () => {
  expect(doubtsText({ rollouts: 9, away: 0, unreadable: 0, unscored: 0, aborted: 0, byWorld: 0 })).toBe('');
});
