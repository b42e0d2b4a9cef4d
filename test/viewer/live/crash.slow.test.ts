import { expect, test } from 'vitest';
import { countOf } from '../../support/tier.ts';
import { crashOnce } from './crash.ts';

const KILLS = countOf(3, 10);

test(`after writer and viewer were killed, ${2 * KILLS} times at random moments, the next start shows every whole line once`, async () => {
  for (let i = 0; i < KILLS; i++)
    expect((await Promise.all([crashOnce('list'), crashOnce('screen')])).flat()).toEqual([]);
});
