import { expect, test } from 'vitest';
import { partOfRest, type Rest } from '../../src/analysis/rest.ts';

test('the stages of a work count on from each other, and end at the whole', () => {
  const said: number[] = [];
  const rest: Rest = (done, total) => {
    if (done !== undefined && total !== undefined) said.push(done / total);
    return undefined;
  };
  const second = partOfRest(rest, 0.25, 1);
  for (const stage of [partOfRest(rest, 0, 0.25), partOfRest(second, 0, 0.5), partOfRest(second, 0.5, 1)]) {
    for (const done of [0, 5, 10]) void stage(done, 10);
    void stage();
    void stage(0, 0);
  }
  expect(said).toEqual([...said].sort((a, b) => a - b));
  expect([said[0], said.at(-1), said.length]).toEqual([0, 1, 9]);
});
