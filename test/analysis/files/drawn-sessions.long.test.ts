import { it } from 'vitest';
import { hasWalls } from './drawn-commands.ts';
import { expectNoneCertainAndWrong, expectTrueComparisons } from './drawn-sessions.ts';

it.skipIf(!hasWalls)(
  'no file of 1,000 drawn sessions is certain and another one (skipped without bubblewrap)',
  { timeout: 3_600_000 },
  () => {
    expectNoneCertainAndWrong(1000, Number(process.env.DRAWN_SEED ?? 38));
  },
);

it.skipIf(!hasWalls)(
  'no claim about the files of 200 drawn pairs is false (skipped without bubblewrap)',
  { timeout: 3_600_000 },
  () => {
    expectTrueComparisons(200, Number(process.env.DRAWN_SEED ?? 38));
  },
);
