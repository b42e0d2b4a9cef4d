import { createInterface } from 'node:readline/promises';
import { UsageError } from '../../core/dump/paths.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { say } from './output.ts';

/** Shows what something costs before it begins. @throws UsageError if it is not allowed */
export async function allowCost(cost: string, isAllowed: boolean): Promise<void> {
  if (isAllowed) return say(cost);
  if (!canAsk()) throw new UsageError(`${cost}: give --yes to allow it`);
  await askPerson(`${cost}. Continue?`, 'nothing was sent');
}

export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks on the terminal. @throws UsageError for any answer but yes */
export async function askPerson(question: string, otherwise: string): Promise<void> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`${sanitiseLine(question)} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError(`not allowed: ${otherwise}`);
  } finally {
    reader.close();
  }
}
