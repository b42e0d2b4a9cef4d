import { join } from 'node:path';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { worldsFolder } from '../../core/files/places.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { plural } from '../../core/text/numbers.ts';
import type { WorldImage } from '../../sandbox/worlds/images.ts';
import { type LayerRecord, LayerStore } from '../../sandbox/worlds/layers.ts';
import { layerIds, replayWorld, type WorldOptions } from './replay-world.ts';
import { newPlan, planRollout, type WorldWishes } from './world-plan.ts';

export interface WorldChoice extends WorldWishes {
  /** The folder that a person chose for what is kept. */
  journal?: string | undefined;
  network?: boolean | undefined;
}

/** How a rollout is run in an image. */
export function worldOptions(
  { json }: Pick<DumpRecord, 'json'>,
  rollout: Rollout,
  image: WorldImage,
  { journal, network = false, ...wishes }: WorldChoice,
): WorldOptions {
  return { image, plan: planRollout(rollout, json, image, wishes), store: storeOf(image, journal), network };
}

const storeOf = (image: WorldImage, journal: string | undefined): LayerStore =>
  new LayerStore(journal === undefined || journal === 'beside' ? worldsFolder() : join(journal, 'worlds'), image.key);

/** How the tools of new rollouts run in an image. */
export const newWorldOptions = (
  image: WorldImage,
  { journal, network = false, ...wishes }: WorldChoice,
): WorldOptions => ({ image, plan: newPlan(image, wishes), store: storeOf(image, journal), network });

/** `14 calls in python:3.12, from /app (recorded: …), stateless shell (…), 120 s a call, network closed`. */
export const planText = (options: WorldOptions): string =>
  `${plural(options.plan.actions.length, 'call')} in ${options.image.name}, ${settingsText(options)}`;

export function settingsText({ plan: { workdir, shell, whyShell, timeLimit }, network }: WorldOptions): string {
  return `from ${workdir.path} (${workdir.how}: ${workdir.why}), ${shell} shell (${whyShell}), ${timeLimit} s a call, network ${network ? 'open' : 'closed'}`;
}

/** The layers of the first calls; those that are missing are run. @throws Error if they cannot be kept */
export async function wholeChain(options: WorldOptions, count: number): Promise<LayerRecord[]> {
  const ids = layerIds(options).slice(0, count);
  const kept = options.store.chain(ids);
  if (kept !== null) return kept;
  const to = options.plan.actions[count - 1]?.call;
  for await (const _ of replayWorld({ ...options, to }));
  options.signal?.throwIfAborted();
  const made = options.store.chain(ids);
  if (made === null) throw new Error('the layers of this rollout cannot be kept: is the disk full?');
  return made;
}

/** The number of a rollout's calls that come before a turn. */
export const callsBefore = ({ plan }: Pick<WorldOptions, 'plan'>, turn: number): number =>
  plan.actions.filter((one) => one.turn < turn).length;
