import { it } from 'vitest';
import { hasWalls } from './drawn-commands.ts';
import { expectNoneCertainAndWrong } from './drawn-sessions.ts';

it.skipIf(!hasWalls)('no file of 1,000 drawn sessions is certain and another one', { timeout: 600_000 }, () => {
  expectNoneCertainAndWrong(1000, Number(process.env.DRAWN_SEED ?? 38));
});
