import { expect, test } from 'vitest';
import { brokenWalls } from '../scripts/structure.mjs';

test('each folder imports only what the table in scripts/structure.mjs allows', () => {
  expect(brokenWalls()).toEqual([]);
});
