import type { Rescored } from '../../replay/index.ts';

const WORDS: Record<Rescored['status'], string> = {
  same: 'unchanged',
  drift: 'changed',
  error: 'error',
  unknown: 'unknown',
};

/** What a second score says beside the recorded one. */
export const scoreStatusWord = (status: Rescored['status']): string => WORDS[status];

/** `33 unchanged, 1 changed`. */
export const scoredTally = (tally: ReadonlyMap<Rescored['status'], number>): string =>
  [...tally].map(([status, count]) => `${count} ${scoreStatusWord(status)}`).join(', ');
