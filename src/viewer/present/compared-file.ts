import type { ComparedFile } from '../../analysis/files/compared-files.ts';

const OUTCOMES: Record<ComparedFile['outcome'], string> = {
  only_a: 'written only in a',
  only_b: 'written only in b',
  differs: 'differs',
  unsure: 'not certain whether it differs',
};

/** How two rollouts left a file, in words. */
export function comparedFileText({ outcome, unless }: ComparedFile): string {
  const doubts = (['a', 'b'] as const)
    .filter((side) => unless[side].length > 0)
    .map((side) => `, unless call ${unless[side].join(', ')} of ${side} changed it`);
  return `${OUTCOMES[outcome]}${doubts.join('')}`;
}
