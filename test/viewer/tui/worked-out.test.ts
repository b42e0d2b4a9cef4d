import { describe, expect, test } from 'vitest';
import type { Rest } from '../../../src/analysis/rest.ts';
import { WorkedOut } from '../../../src/viewer/tui/rows/worked-out.ts';

const ROUNDS = 200;

/** Work of many rounds that each take longer than a key may wait. */
function slowWork(): { work: (rest: Rest) => Promise<string>; rounds: () => number } {
  let rounds = 0;
  const work = async (rest: Rest): Promise<string> => {
    for (; rounds < ROUNDS; rounds++) {
      const end = performance.now() + 9;
      while (performance.now() < end);
      await rest(rounds, ROUNDS);
    }
    return 'answer';
  };
  return { work, rounds: () => rounds };
}

/** Ends when `isSo` does, looked at after each change of the answers. */
function changes(): { changed: () => void; until(isSo: () => boolean): Promise<void> } {
  let wake = (): void => {};
  return {
    changed: () => wake(),
    until: (isSo) =>
      new Promise((resolve) => {
        wake = () => {
          if (isSo()) resolve();
        };
        wake();
      }),
  };
}

describe('answers that take long', () => {
  test('say how much is done, and stop once something else is shown', async () => {
    const { changed, until } = changes();
    const answers = new WorkedOut(changed);
    const facts = {};
    const first = slowWork();
    expect(answers.of(facts, 'movement', first.work)).toBeNull();
    answers.look('movement');
    await until(() => answers.note === '2 %');
    answers.look('movement');
    expect(answers.isBusy).toBe(true);
    answers.look(null);
    await until(() => !answers.isBusy);
    expect(first.rounds()).toBeLessThan(ROUNDS / 2);
    expect(answers.note).toBe('');
  });

  test('are found when they are wanted again', async () => {
    const { changed, until } = changes();
    const answers = new WorkedOut(changed);
    const facts = {};
    answers.of(facts, 'movement', slowWork().work);
    answers.look('movement');
    answers.look('triage');
    await until(() => !answers.isBusy);
    const quick = async (): Promise<string> => 'answer';
    expect(answers.of(facts, 'movement', quick)).toBeNull();
    answers.look('movement');
    await until(() => !answers.isBusy);
    expect(answers.of(facts, 'movement', quick)).toBe('answer');
  });
});
