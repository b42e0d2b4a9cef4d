import { Command } from 'commander';
import { compareRuns } from '../../analysis/compare/runs.ts';
import { answerTree } from '../../analysis/compare/tree.ts';
import { type ComparedTurn, compareTurns } from '../../analysis/compare/turns.ts';
import { readFactRows } from '../../analysis/facts/fact-rows.ts';
import { type ComparedFile, comparedFiles } from '../../analysis/files/compared-files.ts';
import { rolloutFiles } from '../../analysis/files/rollout-files.ts';
import { groupOfRecord } from '../../analysis/group-of-record.ts';
import { outcomeCounts, runsReport } from '../../analysis/report/runs.ts';
import { treeReport } from '../../analysis/report/tree.ts';
import { Dump } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { parseLocator } from '../../core/dump/locator.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { itemAt } from '../../core/lists/at.ts';
import { groupKeyOf } from '../../core/rollout/group-key.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { scoreText } from '../../core/text/quantities.ts';
import { sanitise, sanitiseLine } from '../../core/text/sanitise.ts';
import { isSetName } from '../../replay/sets/curated-set.ts';
import { comparedFileText } from '../present/compared-file.ts';
import { dumpOptions } from './dump-options.ts';
import { readableSet } from './export-source.ts';
import { type FactsFlags, withTable } from './facts-of.ts';
import { findRow } from './find-row.ts';
import { ANSWER_IS_NO, DONE, print, run, say } from './output.ts';
import { printReport } from './print-report.ts';
import { filterOf } from './query-options.ts';
import { selectRows } from './select-rows.ts';

export const compareCommand = (): Command =>
  withTable(
    new Command('compare')
      .description(
        'two runs joined by prompt, two rollouts side by side, or one rollout with the others of its group as a tree',
      )
      .argument('<a>', 'a dump, or the locator of a rollout')
      .argument('[b]', 'another one (default: the group of the rollout)')
      .option('--set <name>', 'two runs: compare the prompts of this set, and only count the others'),
  ).action((a: string, b: string | undefined, flags: CompareFlags) => run(() => printComparison(a, b, flags)));

interface CompareFlags extends FactsFlags {
  set?: string;
}

const isLocator = (text: string): boolean => /:\d+(?:\.\d+)?(?:#t\d+)?$/.test(text);

async function printComparison(a: string, b: string | undefined, flags: CompareFlags): Promise<number> {
  if (b === undefined) {
    if (!isLocator(a)) throw new UsageError('compare takes two dumps, two locators, or one locator');
    return withRecord(a, flags, (row) => tree(row, flags));
  }
  if (isLocator(a) !== isLocator(b)) throw new UsageError('compare takes two dumps or two locators, not one of each');
  if (isLocator(a))
    return withRecord(a, flags, (first) => withRecord(b, flags, (second) => rollouts(first, second, flags)));
  return runs(a, b, flags);
}

async function withRecord(
  locator: string,
  flags: FactsFlags,
  use: (row: DumpRecord & { rollout: Rollout }) => Promise<number>,
): Promise<number> {
  const place = parseLocator(locator);
  const dump = Dump.open([place.path], await dumpOptions(flags));
  try {
    const row = await findRow(dump, place);
    if (row.rollout === null) throw new UsageError(`${locator}: ${row.error ?? 'no rollout'}`);
    return await use(row as DumpRecord & { rollout: Rollout });
  } finally {
    dump.close();
  }
}

async function rollouts(
  first: DumpRecord & { rollout: Rollout },
  second: DumpRecord & { rollout: Rollout },
  { json, html }: CompareFlags,
): Promise<number> {
  if (html !== undefined) {
    const { htmlForm } = await import('./show-html.ts');
    const form = htmlForm(html, `${first.locator} against ${second.locator}`, true);
    for (const row of [first, second]) await form.row(row, [], null);
    await form.end();
    return DONE;
  }
  const pairs = compareTurns(first.rollout, second.rollout);
  const files = comparedFiles(rolloutFiles(first.rollout, first.json), rolloutFiles(second.rollout, second.json));
  if (json) {
    await print(
      `${JSON.stringify({ a: first.locator, b: second.locator, scores: [first.rollout.score, second.rollout.score], turns: pairs, files })}\n`,
    );
    return DONE;
  }
  await print(`a ${sanitiseLine(first.locator)}  score ${scoreText(first.rollout.score)}\n`);
  await print(`b ${sanitiseLine(second.locator)}  score ${scoreText(second.rollout.score)}\n`);
  for (const { a, b, isSame } of pairs) {
    const { role } = (a ?? b)!;
    await print(`\n[${sanitiseLine(role)}] ${a === null ? '–' : `t${a.turn}`} ${b === null ? '–' : `t${b.turn}`}`);
    if (isSame) await print(` the same, ${(a?.pieces[0]?.text.length ?? 0).toLocaleString('en-US')} characters\n`);
    else await print(`\n${sideText('a', a)}${sideText('b', b)}`);
  }
  if (files.length > 0) await print(`\n[files]\n${files.map(fileText).join('')}`);
  return pairs.every(({ isSame }) => isSame) ? DONE : ANSWER_IS_NO;
}

const fileText = (file: ComparedFile): string =>
  `${sanitiseLine(file.path)}: ${comparedFileText(file)}\n${sanitise(file.diff ?? '')}`;

/** Words that only this side says are in {braces}. */
const sideText = (name: string, side: ComparedTurn | null): string =>
  side === null
    ? ''
    : `${sanitise(side.pieces.map(({ isOwn, text }) => (isOwn && text.trim() !== '' ? `{${text}}` : text)).join(''))
        .trimEnd()
        .split('\n')
        .map((line) => `${name} ${line}`)
        .join('\n')}\n`;

async function tree(row: DumpRecord & { rollout: Rollout }, flags: CompareFlags): Promise<number> {
  const { members } = groupOfRecord(row);
  if (members.length < 2) {
    say('no other rollout of this file has this prompt');
    return ANSWER_IS_NO;
  }
  const answers = members.map(({ record, score }) => ({ text: finalAnswer(row.file.read(record).rollout), score }));
  const branches = answerTree(answers);
  if (flags.html !== undefined) {
    const { treePageFile } = await import('./compare-html.ts');
    await treePageFile(flags.html, branches, members.length, (member) => row.file.read(itemAt(members, member).record));
    return DONE;
  }
  const report = treeReport(row.locator, branches, (member) => ({
    file: row.file,
    record: members[member]?.record ?? row.record,
  }));
  await printReport(report, flags);
  return DONE;
}

/** The model's own text, without that of others. */
const finalAnswer = (rollout: Rollout | null): string =>
  rollout === null
    ? ''
    : rollout.turns
        .slice(rollout.responseTurn)
        .map(({ text }) => text)
        .join('\n');

async function runs(a: string, b: string, flags: CompareFlags): Promise<number> {
  const options = await dumpOptions(flags);
  const filter = filterOf(flags.filter);
  const dumps = [Dump.open([a], options), Dump.open([b], options)];
  try {
    const [first, second] = [
      await readFactRows(itemAt(dumps, 0), filter),
      await readFactRows(itemAt(dumps, 1), filter),
    ];
    const all = await compareRuns(first, second);
    const asked = flags.set === undefined ? null : await promptsOfSet(flags.set, flags);
    const pairs = asked === null ? all : all.filter(({ key }) => asked.has(key));
    if (flags.html !== undefined && pairs.length > 0) {
      const { runsPageFile } = await import('./compare-html.ts');
      await runsPageFile(flags.html, [a, b], [first, second], pairs);
      return DONE;
    }
    const report = runsReport([a, b], [first, second], pairs);
    const others = all.filter((pair) => !pairs.includes(pair));
    const notes = asked === null ? [] : [`prompts outside of the set ${flags.set}: ${outcomeCounts(others)[0]}`];
    await printReport({ ...report, notes: [...(report.notes ?? []), ...notes] }, flags);
    return pairs.length === 0 ? ANSWER_IS_NO : DONE;
  } finally {
    for (const dump of dumps) dump.close();
  }
}

/** The keys of the prompts that a set holds, as `compareRuns` joins by them. @throws UsageError */
async function promptsOfSet(name: string, flags: CompareFlags): Promise<Set<string>> {
  const members = isSetName(name) ? readableSet(name, flags.journal).members() : null;
  if (members === null || members.size === 0) throw new UsageError(`--set ${name}: no such set, or it is empty`);
  const keys = new Set<string>();
  let gone = 0;
  const missing = (): void => void gone++;
  for await (const { row } of selectRows([...members.keys()], await dumpOptions(flags), null, undefined, missing)) {
    if (row.rollout !== null) keys.add(groupKeyOf(row.rollout).prompt);
  }
  if (gone > 0) say(`--set ${name}: ${gone} of its rollouts are gone; their prompts are not compared`);
  return keys;
}
