import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { isFull } from '../../core/files/temporary.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { recordedImage } from '../../replay/worlds/recorded-image.ts';
import type { WorldOptions } from '../../replay/worlds/replay-world.ts';
import { planText, worldOptions } from '../../replay/worlds/rollout-world.ts';
import { openImage, type WorldImage } from '../../sandbox/worlds/images.ts';
import { worldProblem } from '../../sandbox/worlds/problem.ts';
import { askPerson, canAsk } from './allow-cost.ts';
import { say } from './output.ts';
import { usesOf, type WorldFlags } from './world-flags.ts';

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

/** Opens an image after its question. @throws UsageError */
export async function openedImage(
  { name, how }: { name: string; how: string },
  flags: Pick<WorldFlags, 'yes' | 'engine' | 'network' | 'image'>,
): Promise<WorldImage> {
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
  if (canAsk()) return askPerson(`${question}. Continue?`, 'nothing was run');
  if (isNeeded) throw new UsageError(`${question}: give --yes to allow it`);
}

export const worldFor = (row: DumpRecord, rollout: Rollout, image: WorldImage, flags: WorldFlags): WorldOptions =>
  worldOptions(row, rollout, image, { ...flags, tools: usesOf(flags.tool) });

export const sayPlan = ({ locator }: DumpRecord, options: WorldOptions): void =>
  say(`${locator}: ${planText(options)}`);

/** A failure of a world as one line that names the rollout. */
export const orUsage = <T>({ locator }: DumpRecord, made: Promise<T>): Promise<T> =>
  made.catch((error: unknown) => {
    throw new UsageError(`${locator}: ${errorMessage(error)}`);
  });

/** A failure to start a world is one line. */
export async function* asUsageLater<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    if (isFull(error)) throw error;
    throw new UsageError(errorMessage(error));
  }
}
