import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LayerStore } from '../../sandbox/worlds/layers.ts';
import type { WorldOutcome } from './replay-world.ts';
import type { RolloutPlan } from './world-plan.ts';

/** The outcomes of a rollout in an image, beside its layers: what an interrupted run has found. */
export class OutcomeLog {
  readonly #file: string;

  /** @param layers the names of its layers: they hold image, calls and settings */
  constructor(store: LayerStore, layers: readonly string[], { actions }: Pick<RolloutPlan, 'actions'>) {
    const hash = createHash('sha256');
    for (const id of layers) hash.update(id);
    for (const { result } of actions) hash.update(result === null ? '-' : `+${result}\0`);
    const folder = join(store.folder, 'outcomes');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#file = join(folder, `${hash.digest('hex').slice(0, 32)}.jsonl`);
  }

  /** The outcomes from the first call on, up to the first line that was cut. */
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
        outcomes.push(JSON.parse(line) as WorldOutcome);
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
