import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { DriftTable } from '../../replay/index.ts';
import { bisect } from '../../replay/worlds/bisect.ts';
import { outcomesOf } from '../../replay/worlds/outcomes.ts';
import type { RepeatedOutcome } from '../../replay/worlds/repeated.ts';
import { layerIds, type WorldOptions, type WorldOutcome, worldPlan } from '../../replay/worlds/replay-world.ts';
import { wholeChain } from '../../replay/worlds/rollout-world.ts';
import { worldTerminal } from '../../sandbox/worlds/launch.ts';
import { foldChanges, type LayerRecord, removeTree } from '../../sandbox/worlds/layers.ts';
import { culpritText, worldChanges, worldOutcomeLines } from '../present/world-text.ts';
import { dumpOptions, type ReadingFlags } from './dump-options.ts';
import { interruption } from './interruption.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { printDrift } from './print-drift.ts';
import { filterOf } from './query-options.ts';
import { selectRows } from './select-rows.ts';
import { StatusLine } from './status-line.ts';
import { endWork } from './work-line.ts';
import type { WorldFlags } from './world-flags.ts';
import { asUsageLater, orUsage, sayPlan, WorldImages, worldFor } from './world-options.ts';

export interface ReplayWorldFlags extends ReadingFlags, WorldFlags {
  call?: number;
  from?: number;
  stopAtDrift?: boolean;
  bisect?: string;
  repeat?: number;
  resume?: boolean;
  table?: boolean;
  filter?: string;
  json?: boolean;
  exec?: boolean;
}

/** Runs whole rollouts in their worlds and prints an outcome per call. @returns the exit status */
export async function replayInWorld(args: readonly string[], flags: ReplayWorldFlags): Promise<number> {
  const images = new WorldImages(flags);
  const tally = new Map<string, number>();
  const table = new DriftTable();
  endWork();
  const line = new StatusLine();
  const stop = interruption();
  let isFound = true;
  try {
    for await (const { row } of selectRows(args, await dumpOptions(flags), filterOf(flags.filter))) {
      if (stop.signal.aborted) break;
      if (row.rollout === null) {
        say(`${row.locator}: ${row.error}`);
        continue;
      }
      const options = { ...worldFor(row, row.rollout, await images.of(row), flags), signal: stop.signal };
      sayPlan(row, options);
      if (flags.exec === false) continue;
      if (flags.bisect !== undefined) {
        isFound = (await printBisect(row, options, flags.bisect, flags.json === true, line)) && isFound;
        continue;
      }
      for await (const outcome of asUsageLater(
        outcomesOf({ ...options, to: flags.call, stopAtDrift: flags.stopAtDrift }, flags),
      )) {
        if (flags.call !== undefined && outcome.call !== flags.call) continue;
        const { verdict, name } = outcome;
        tally.set(verdict, (tally.get(verdict) ?? 0) + 1);
        table.add({ ...STATUS[verdict], name, backend: options.image.name, environment: null }, row.rollout.step);
        line.clear();
        if (!flags.table) await printOutcome(row.locator, outcome, flags.json === true);
        line.show(tallyText(tally));
      }
    }
  } finally {
    line.clear();
    stop.end();
  }
  if (flags.bisect !== undefined) return isFound ? DONE : ANSWER_IS_NO;
  if (flags.table === true) await printDrift(table, flags.json === true);
  if (!flags.json && tally.size > 0) say(tallyText(tally));
  if (tally.size === 0 && flags.exec !== false) say(`${args.join(' ')}: no call to run`);
  if (tally.size === 1 && tally.has('infra')) return USAGE;
  const isOther = tally.has('drift') || tally.has('flaky');
  return isOther || (tally.size === 0 && flags.exec !== false) ? ANSWER_IS_NO : DONE;
}

const STATUS = {
  same: { status: 'same', verdict: 'same' },
  normalised: { status: 'same', verdict: 'same' },
  drift: { status: 'drift', verdict: null },
  flaky: { status: 'drift', verdict: 'flaky' },
  infra: { status: 'error', verdict: 'infra' },
  skipped: { status: 'skipped', verdict: null },
  unknown: { status: 'unknown', verdict: null },
} as const;

async function printOutcome(locator: string, outcome: WorldOutcome | RepeatedOutcome, isJson: boolean): Promise<void> {
  if (!isJson) return void (await print(`${worldOutcomeLines(locator, outcome).join('\n')}\n`));
  const { changed, ...rest } = outcome;
  await print(`${printJson({ locator, ...rest, changed: worldChanges(changed) })}\n`);
}

/** @returns whether a call was found */
async function printBisect(
  row: DumpRecord,
  options: WorldOptions,
  command: string,
  isJson: boolean,
  line: StatusLine,
): Promise<boolean> {
  const { locator } = row;
  line.show('running the calls whose states are not kept …');
  const chain = await orUsage(row, wholeChain(options, options.plan.actions.length));
  const culprit = await bisect(options, chain, command, ({ call, exit }) =>
    line.show(`${call === -1 ? 'before the first call' : `after call ${call}`}: exit ${exit ?? 'none'}`),
  );
  line.clear();
  if (culprit === null) {
    if (isJson) await print(`${printJson({ locator, call: null, change: null })}\n`);
    else await print(`${sanitiseLine(`${locator}: no call changes the answer of ${command}`)}\n`);
    return false;
  }
  const { action, layer, before, after, change } = culprit;
  const changed = worldChanges(layer.changed);
  if (isJson) {
    const { call, turn, name } = action;
    const found = { locator, call, turn, name, change, before, after, changed };
    await print(`${printJson(found)}\n`);
    return true;
  }
  const summary = `${locator}#t${action.turn} ${culpritText(culprit, 0)}`;
  const files = changed.filter(({ type }) => type !== 'dir').map(({ change: how, path }) => `    ${how} ${path}`);
  await print(`${[summary, ...files].map((text) => sanitiseLine(text)).join('\n')}\n`);
  return true;
}

/** Prints the paths that differ from the image after a call, or opens a shell there. @returns the exit status */
export async function stateInWorld(
  locator: string,
  flags: ReplayWorldFlags & { call: number; prompt?: boolean },
): Promise<number> {
  const images = new WorldImages(flags);
  let status = ANSWER_IS_NO;
  for await (const { row } of selectRows([locator], await dumpOptions(flags))) {
    if (row.rollout === null) throw new UsageError(`${row.locator}: ${row.error ?? 'no rollout'}`);
    const options = worldFor(row, row.rollout, await images.of(row), flags);
    const { actions } = options.plan;
    const at = actions.findIndex(({ call }) => call === flags.call);
    if (at === -1)
      throw new UsageError(
        `--call ${flags.call}: this rollout has ${plural(actions.length, 'call')}${actions.length === 0 ? '' : `, 0 to ${actions.length - 1}`}`,
      );
    if (options.store.chain(layerIds(options).slice(0, at + 1)) === null) sayPlan(row, options);
    const chain = await orUsage(row, wholeChain(options, at + 1));
    if (flags.prompt === true) return openPrompt(row, options, chain, flags.call);
    status = DONE;
    const changes = worldChanges([...foldChanges(chain).values()]).sort((a, b) => (a.path < b.path ? -1 : 1));
    for (const change of changes)
      await print(
        flags.json
          ? `${printJson(change)}\n`
          : `${change.change.padEnd(8)}  ${change.type.padEnd(7)}  ${change.mode ?? '    '}  ${String(change.size ?? '').padStart(9)}  ${sanitiseLine(change.path)}\n`,
      );
    for (const lost of chain.at(-1)?.processes ?? []) say(`a layer keeps no processes; this one ran: ${lost}`);
    for (const lost of chain.at(-1)?.lost ?? []) say(sanitiseLine(`not kept in the layer: ${lost}`));
  }
  return status;
}

/** A shell for a person, in a copy of a state: nothing of it stays. */
async function openPrompt(
  { locator }: DumpRecord,
  options: WorldOptions,
  chain: readonly LayerRecord[],
  call: number,
): Promise<number> {
  if (!process.stdin.isTTY) throw new UsageError('--prompt: a shell needs a terminal');
  say(`${locator}: a shell in a copy of the state after call ${call}; nothing of it stays. exit or ^d leaves it`);
  const live = options.store.live();
  const ignore = () => {};
  // ^c is the shell's.
  process.on('SIGINT', ignore);
  try {
    const { exit, excess } = await worldTerminal(worldPlan(options, live, chain));
    if (excess !== null) say(`the shell was ended: it took ${excess}`);
    return exit === 0 || excess === null ? DONE : ANSWER_IS_NO;
  } finally {
    process.off('SIGINT', ignore);
    removeTree(live);
  }
}

function tallyText(tally: ReadonlyMap<string, number>): string {
  const total = [...tally.values()].reduce((sum, count) => sum + count, 0);
  return total === 0
    ? ''
    : `${plural(total, 'call')}: ${[...tally].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`;
}
