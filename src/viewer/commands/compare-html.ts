import { basename } from 'node:path';
import type { RunPair } from '../../analysis/compare/runs.ts';
import type { TreeBranch } from '../../analysis/compare/tree.ts';
import type { FactRows } from '../../analysis/facts/fact-rows.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { plural } from '../../core/text/numbers.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import { comparisonArticle } from '../present/html/comparison.ts';
import { type PairRow, runsArticle, treeArticle } from '../present/html/overview.ts';
import { type ContentsRow, pageEnd, pageStart } from '../present/html/page.ts';
import { PAGE_HEAD, pageRow, rolloutArticle } from '../present/html/rollout.ts';
import { say } from './output.ts';
import { pageOut } from './page-out.ts';

/** The prompts that changed the most are shown with their rollouts side by side below the table. */
const MOST_SIDES = 50;
/** Characters of a prompt in the table. */
const PROMPT = 160;

/** Two runs as one page: a table of their prompts, and the rollouts of those that changed. @throws UsageError as `pageOut` does */
export async function runsPageFile(
  path: string,
  names: readonly [string, string],
  [first, second]: readonly [FactRows, FactRows],
  pairs: readonly RunPair[],
): Promise<void> {
  const out = pageOut(path);
  let sides = 0;
  const rows = pairs.map((pair): PairRow => {
    const isShown = pair.difference !== null && pair.difference !== 0 && sides < MOST_SIDES;
    if (isShown) sides++;
    return {
      pair,
      prompt: comparedPrompt(pair, first, second),
      id: isShown ? `p${sides}` : null,
    };
  });
  await out.write(pageStart(`${basename(shownPath(names[0]))} against ${basename(shownPath(names[1]))}`));
  await out.write(runsArticle(names, rows));
  for (const { pair, id } of rows) {
    if (id === null || pair.a === null || pair.b === null) continue;
    // The rollouts that show the change: the worst of the losing run, the best of the winning one.
    const [a, b] = pair.difference! > 0 ? [pair.a.worst, pair.b.best] : [pair.a.best, pair.b.worst];
    await out.write(comparisonArticle(recordOf(first, a), recordOf(second, b), id));
  }
  await out.write(pageEnd([], []));
  await out.end();
  if (path !== '-')
    say(`${path}: ${plural(rows.length, 'prompt')}, ${sides} of them with a rollout of each side by side`);
}

const recordOf = (facts: FactRows, row: number): DumpRecord => {
  const { file, record } = facts.place(row);
  return file.read(record);
};

function comparedPrompt({ a, b }: RunPair, first: FactRows, second: FactRows): string {
  const { rollout } = a === null ? recordOf(second, b!.row) : recordOf(first, a.row);
  const asked = rollout?.turns.slice(0, rollout.responseTurn).findLast(({ role }) => role === 'user');
  const text = (asked?.text ?? '').replaceAll(/\s+/g, ' ').trim();
  return text.length > PROMPT ? `${[...text].slice(0, PROMPT).join('')} …` : text;
}

/** Answers of larger groups are named in the tree but get no article. */
const MOST_ANSWERS = 64;

/** A group as one page: its answers as a tree, followed by each of them. @throws UsageError as `pageOut` does */
export async function treePageFile(
  path: string,
  branches: readonly TreeBranch[],
  count: number,
  recordAt: (member: number) => DumpRecord,
): Promise<void> {
  const out = pageOut(path);
  const own = Math.min(count, MOST_ANSWERS);
  const title = `the group of ${recordAt(0).locator}: ${plural(count, 'rollout')}`;
  await out.write(pageStart(title));
  await out.write(
    treeArticle(title, branches, (member) => ({
      locator: recordAt(member).locator,
      id: member < own ? `r${member + 1}` : null,
    })),
  );
  const rows: ContentsRow[] = [];
  for (let member = 0; member < own; member++) {
    const row = recordAt(member);
    const id = `r${member + 1}`;
    rows.push(pageRow(row, id, []));
    await out.write(rolloutArticle(row, id, []));
  }
  await out.write(pageEnd(PAGE_HEAD, rows));
  await out.end();
  if (path !== '-')
    say(`${path}: ${plural(count, 'rollout')} as a tree${own < count ? `, the first ${own} of them whole` : ''}`);
}
