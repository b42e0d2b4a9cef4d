import type { TreeBranch } from '../compare/tree.ts';
import { ownColumn } from './columns.ts';
import { locatorText, type Report, type RolloutPlace } from './report.ts';

/** Levels that are indented; deeper ones are not distinguished by indentation. */
const DEEPEST = 20;
const LONGEST = 160;

const shortened = (text: string): string => text.slice(0, LONGEST).replaceAll(/\s+/g, ' ').trim();

/** The beginning of a shared text only says where it is; its end is the place at which the answers part. */
const BEGINNING = 16;
const END = 40;

function sharedText(text: string): string {
  const whole = text.replaceAll(/\s+/g, ' ').trim();
  if (whole.length <= BEGINNING + END + 3) return whole;
  return `${whole.slice(0, BEGINNING).trimEnd()} … ${whole.slice(-END).trimStart()}`;
}

/** The answers of a group as a tree of common beginnings. @param placeAt a member of the group */
export function treeReport(
  name: string,
  branches: readonly TreeBranch[],
  placeAt: (member: number) => RolloutPlace,
): Report<TreeBranch> {
  return {
    title: `answers of the group of ${name}`,
    columns: [
      ownColumn('n', 'count', 'answers that begin so', { identifies: true }),
      ownColumn('mean', 'mean', 'their mean score', { identifies: true }),
      {
        key: 'branch',
        title: 'branch',
        type: 'text',
        meaning: 'the words from the last fork to the next',
        grows: true,
        width: 60,
        value: ({ depth, text, n }) =>
          `${'  '.repeat(Math.min(depth, DEEPEST))}${n === 1 ? shortened(text) : sharedText(text)}`,
      },
      {
        key: 'rollout',
        title: 'rollout',
        type: 'rollout',
        meaning: 'the rollout, if the answer is of one alone',
        value: ({ n, members: [first] }) => (n === 1 && first !== undefined ? placeAt(first) : null),
      },
    ],
    rows: branches,
    details: ({ depth, text, members }) => ({ depth, text, rollouts: members.map((one) => locatorText(placeAt(one))) }),
    empty: `no other rollout has the prompt of ${name}`,
  };
}
