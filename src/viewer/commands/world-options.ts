import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { worldsFolder } from '../../core/files/places.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { recordedImage } from '../../replay/worlds/recorded-image.ts';
import { layerIds, replayWorld, type WorldOptions } from '../../replay/worlds/replay-world.ts';
import { planRollout } from '../../replay/worlds/world-plan.ts';
import { openImage, type WorldImage } from '../../sandbox/worlds/images.ts';
import { type LayerRecord, LayerStore } from '../../sandbox/worlds/layers.ts';
import { worldProblem } from '../../sandbox/worlds/problem.ts';
import { say } from './output.ts';
import { usesOf, type WorldFlags } from './world-flags.ts';

/** The layers of all calls up to one; those that are missing are run. */
export async function wholeChain(row: DumpRecord, options: WorldOptions, count: number): Promise<LayerRecord[]> {
  const ids = layerIds(options).slice(0, count);
  const kept = options.store.chain(ids);
  if (kept !== null) return kept;
  const to = options.plan.actions[count - 1]?.call;
  for await (const _ of asUsageLater(replayWorld({ ...options, to })));
  const made = options.store.chain(ids);
  if (made === null)
    throw new UsageError(`${row.locator}: the layers of this rollout cannot be kept: is the disk full?`);
  return made;
}

/** The images of a command, each opened once, after its question. */
export class WorldImages {
  readonly #flags: WorldFlags;
  readonly #open = new Map<string, WorldImage>();

  constructor(flags: WorldFlags) {
    this.#flags = flags;
  }

  async of(row: DumpRecord): Promise<WorldImage> {
    const asked = this.#flags.image ?? '';
    const found = asked === 'recorded' ? recordedImage(row.json) : { name: asked, how: '--image' };
    if (found === null) throw new UsageError(`--image recorded: ${row.locator} names no image; name one with --image`);
    const known = this.#open.get(found.name);
    if (known !== undefined) return known;
    const image = await openedImage(found, this.#flags);
    this.#open.set(found.name, image);
    return image;
  }
}

async function openedImage({ name, how }: { name: string; how: string }, flags: WorldFlags): Promise<WorldImage> {
  const problem = await worldProblem();
  if (problem !== null) throw new UsageError(problem);
  const isHost = name === 'host';
  await allowWorld(
    isHost
      ? "--image host: recorded commands would read this machine's files"
      : `recorded commands run in ${name} (${how})`,
    flags.yes === true,
    isHost || how !== '--image',
  );
  try {
    return await openImage(name, { engine: flags.engine, network: flags.network, say });
  } catch (error) {
    throw new UsageError(`--image ${flags.image}: ${errorMessage(error)}`);
  }
}

/** Asks on a terminal. Elsewhere a strange image, and this machine itself, need --yes. @throws UsageError if it is not allowed */
async function allowWorld(question: string, isAllowed: boolean, isNeeded: boolean): Promise<void> {
  if (isAllowed) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    if (isNeeded) throw new UsageError(`${question}: give --yes to allow it`);
    return;
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`${sanitiseLine(question)}. Go on? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('not allowed: nothing was run');
  } finally {
    reader.close();
  }
}

export function worldOptions(row: DumpRecord, rollout: Rollout, image: WorldImage, flags: WorldFlags): WorldOptions {
  const plan = planRollout(rollout, row.json, image, {
    workdir: flags.workdir,
    env: flags.env,
    shell: flags.shell,
    timeLimit: flags.timeLimit,
    tools: usesOf(flags.tool),
  });
  const root =
    flags.journal === undefined || flags.journal === 'beside' ? worldsFolder() : join(flags.journal, 'worlds');
  return { image, plan, store: new LayerStore(root, image.key), network: flags.network === true };
}

export function sayPlan({ locator }: DumpRecord, { image, plan, network }: WorldOptions): void {
  const { workdir, shell, whyShell, timeLimit } = plan;
  say(
    `${locator}: ${plural(plan.actions.length, 'call')} in ${image.name}, from ${workdir.path} (${workdir.how}: ${workdir.why}), ${shell} shell (${whyShell}), ${timeLimit} s a call, network ${network ? 'open' : 'closed'}`,
  );
}

/** A failure to start a world is one line. */
export async function* asUsageLater<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}
