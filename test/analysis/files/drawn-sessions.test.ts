import { it } from 'vitest';
import { hasWalls } from './drawn-commands.ts';
import { expectNoneCertainAndWrong } from './drawn-sessions.ts';

it.skipIf(!hasWalls)(
  'no file is certain and another one, whatever a shell does to it (skipped without bubblewrap)',
  { timeout: 240_000 },
  () => {
    expectNoneCertainAndWrong(10, 38);
  },
);
