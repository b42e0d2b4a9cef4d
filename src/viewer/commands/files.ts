import { Command } from 'commander';
import type { FileSummary, RolloutFiles } from '../../analysis/files/rollout-files.ts';
import { blameOf, filesAt, patchOf, rolloutFiles } from '../../analysis/files/rollout-files.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import { sanitise, sanitiseLine } from '../../core/text/sanitise.ts';
import { filesTable } from '../present/files-text.ts';
import { countOf } from './count.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { ANSWER_IS_NO, DONE, print, run, say } from './output.ts';
import { selectRows } from './select-rows.ts';
import { toolUse, usesOf } from './world-flags.ts';

interface FilesFlags extends ReadingFlags {
  turn?: number;
  diff?: boolean;
  patch?: boolean;
  blame?: string;
  workdir?: string;
  tool: Record<string, string>;
  json?: boolean;
}

export const filesCommand = (): Command =>
  withReading(
    new Command('files')
      .description('show the files of a rollout at each turn, from its recorded edits, reads and patches; runs nothing')
      .argument('<rollout>', 'FILE:LINE, FILE:LINE#tN for the files as they were after turn N, or a session file')
      .option('--turn <n>', 'the files as they were after this turn', countOf)
      .option('--diff', 'show the changes of each call')
      .option('--patch', 'print the whole change as one patch, and name uncertain files on stderr')
      .option('--blame <path>', 'show each known line of this file with the turn that wrote it; PATH:LINE for one line')
      .option('--workdir <dir>', 'the directory that commands start in, if the record does not name it')
      .addOption(toolUse())
      .option('--journal <dir>', 'accepted for consistency; this command stores nothing')
      .option('--json', 'one JSON object per call and file'),
  ).action((rollout: string, flags: FilesFlags) => run(() => files(rollout, flags)));

const ALONE = { isAlone: true };

async function files(arg: string, flags: FilesFlags): Promise<number> {
  let status = ANSWER_IS_NO;
  for await (const { row, turn } of selectRows(
    [arg],
    await dumpOptions(flags),
    null,
    undefined,
    undefined,
    undefined,
    ALONE,
  )) {
    if (row.rollout === null) throw new UsageError(`${row.locator}: ${row.error ?? 'no rollout'}`);
    const found = rolloutFiles(row.rollout, row.json, { workdir: flags.workdir, tools: usesOf(flags.tool) });
    const at = flags.turn ?? turn;
    if (found.workdir?.how === 'inferred')
      say(`${row.locator}: commands start in ${found.workdir.path}, as ${found.workdir.why}`);
    const list = filesAt(found, at);
    if (list.length > 0) status = DONE;
    if (flags.blame !== undefined) await printBlame(list, found, flags.blame, flags.json === true);
    else if (flags.patch) await printPatch(list, found);
    else if (flags.json) await printRows(found, at);
    else if (flags.diff) await printDiffs(found, at);
    else if (list.length > 0) await print(`${filesTable(list).join('\n')}\n`);
    else say(`${row.locator}: no file is named by a recorded call`);
  }
  return status;
}

async function printRows({ states }: RolloutFiles, turn: number | null): Promise<void> {
  for (const { change, file } of states) {
    if (turn !== null && change.turn > turn) continue;
    const lines = change.status === 'partial' ? [...file.lines].map(([line, { text }]) => ({ line, text })) : null;
    await print(`${printJson({ ...change, known: lines })}\n`);
  }
}

async function printDiffs({ states }: RolloutFiles, turn: number | null): Promise<void> {
  for (const { change } of states) {
    if (!change.changed || (turn !== null && change.turn > turn)) continue;
    await print(`t${change.turn} call ${change.call} ${sanitiseLine(change.path)}: ${change.status}, ${change.why}\n`);
    if (change.diff !== null && change.diff !== '') await print(`${sanitise(change.diff)}\n`);
  }
}

async function printPatch(list: readonly FileSummary[], { workdir }: RolloutFiles): Promise<void> {
  const { patch, missing } = patchOf(list, workdir?.path ?? null);
  for (const path of missing) say(`${path}: not in the patch, since its content is not certain before or after`);
  await print(patch);
}

async function printBlame(
  list: readonly FileSummary[],
  { actions }: RolloutFiles,
  place: string,
  asJson: boolean,
): Promise<void> {
  const [, path = place, line] = /^(.*?)(?::(\d+))?$/s.exec(place) ?? [];
  const named = list.filter((one) => one.path === path || one.path.endsWith(`/${path}`));
  const [file, other] = named;
  if (file === undefined)
    throw new UsageError(
      `--blame ${path}: no recorded call names this file; there are ${list.map((one) => one.path).join(', ') || 'none'}`,
    );
  if (other !== undefined)
    throw new UsageError(`--blame ${path}: more than one file ends so: ${named.map((one) => one.path).join(', ')}`);
  const rows = blameOf(file.last.file).filter((one) => line === undefined || one.line === Number(line));
  if (rows.length === 0)
    throw new UsageError(`--blame ${place}: no such line is known; ${file.path} is ${file.last.change.status}`);
  for (const row of rows) {
    const turn = row.by === null ? null : (actions.find(({ call }) => call === row.by)?.turn ?? null);
    if (asJson) await print(`${printJson({ path: file.path, line: row.line, turn, call: row.by, text: row.text })}\n`);
    else
      await print(
        `${(turn === null ? '–' : `t${turn}`).padStart(5)} ${String(row.line).padStart(5)}  ${sanitiseLine(row.text)}\n`,
      );
  }
}
