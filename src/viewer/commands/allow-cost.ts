import { createInterface } from 'node:readline/promises';
import { UsageError } from '../../core/dump/paths.ts';
import { say } from './output.ts';

/** Shows what something costs before it begins. @throws UsageError if it is not allowed */
export async function allowCost(cost: string, isAllowed: boolean): Promise<void> {
  if (isAllowed) return say(cost);
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new UsageError(`${cost}: give --yes to allow it`);
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`${cost}. Continue? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('not allowed: nothing was sent');
  } finally {
    reader.close();
  }
}
