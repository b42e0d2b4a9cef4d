import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { changedPath, type LayerStore } from '../../sandbox/worlds/layers.ts';
import { WORLD_RULES } from './compare.ts';
import type { WorldOutcome } from './replay-world.ts';
import type { RolloutPlan } from './world-plan.ts';

const worldOutcome: z.ZodType<WorldOutcome> = z.strictObject({
  call: z.int().nonnegative(),
  turn: z.int().nonnegative(),
  name: z.string(),
  verdict: z.enum(['same', 'normalised', 'drift', 'infra', 'skipped', 'unknown']),
  rules: z.array(z.enum(WORLD_RULES)),
  tainted: z.boolean(),
  exit: z.number().nullable(),
  recorded_exit: z.number().nullable(),
  reason: z.string().nullable(),
  recorded: z.string().nullable(),
  result: z.string().nullable(),
  seconds: z.number(),
  changed: z.array(changedPath),
  processes: z.array(z.string()),
});

/** The outcomes of a rollout in an image, beside its layers: what an interrupted run has found. */
export class OutcomeLog {
  readonly #file: string;
  readonly #calls: readonly number[];

  /** @param layers the names of its layers: they hold image, calls and settings */
  constructor(store: LayerStore, layers: readonly string[], { actions }: Pick<RolloutPlan, 'actions'>) {
    this.#calls = actions.map(({ call }) => call);
    const hash = createHash('sha256');
    for (const id of layers) hash.update(id);
    for (const { result } of actions) hash.update(result === null ? '-' : `+${result}\0`);
    const folder = join(store.folder, 'outcomes');
    ensureFolder(folder, 0o700);
    this.#file = join(folder, `${hash.digest('hex').slice(0, 32)}.jsonl`);
  }

  /** The outcomes from the first call on, up to the first line that was cut or says something else. */
  read(): WorldOutcome[] {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch {
      return [];
    }
    const outcomes: WorldOutcome[] = [];
    for (const line of text.split('\n').slice(0, -1)) {
      try {
        const outcome = worldOutcome.parse(JSON.parse(line));
        if (outcome.call !== this.#calls[outcomes.length]) break;
        outcomes.push(outcome);
      } catch {
        break;
      }
    }
    return outcomes;
  }

  clear(): void {
    rmSync(this.#file, { force: true });
  }

  add(outcome: WorldOutcome): void {
    appendFileSync(this.#file, `${JSON.stringify(outcome)}\n`, { mode: 0o600 });
  }
}
