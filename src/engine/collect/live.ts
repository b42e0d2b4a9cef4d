import { rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../json/value.ts';
import type { RolloutRequest } from '../request/request.ts';

/** The stage of a rollout. */
type LiveStage = 'waiting' | 'generating' | 'tool' | 'user' | 'scoring' | 'ending';

interface Entry {
  task: number;
  rollout: number;
  step: number;
  request: RolloutRequest;
  since: number;
  isScoring: boolean;
}

/** Rollouts that are listed one by one; of more only the counts are kept. */
const MOST_LISTED = 2000;
const EVERY_MS = 1000;

/**
 * The rollouts under way, written whole to `live.json` beside its dump once a second: for a reader that follows a run before its
 * rollouts are done. The file goes with the run.
 */
export class LiveFile {
  readonly #path: string;
  readonly #running = new Set<Entry>();
  readonly #counts: () => JsonObject;
  readonly #timer: NodeJS.Timeout;
  #isWriting = false;
  #isBroken = false;

  constructor(directory: string, counts: () => JsonObject) {
    this.#path = join(directory, 'live.json');
    this.#counts = counts;
    this.#timer = setInterval(() => void this.write(), EVERY_MS).unref();
  }

  /** @returns how to say that it is scored, and that it has ended */
  add(task: number, rollout: number, step: number, request: RolloutRequest): { scoring(): void; end(): void } {
    const entry: Entry = { task, rollout, step, request, since: Date.now(), isScoring: false };
    this.#running.add(entry);
    return {
      scoring: () => {
        entry.isScoring = true;
      },
      end: () => this.#running.delete(entry),
    };
  }

  async write(): Promise<void> {
    if (this.#isWriting || this.#isBroken) return;
    this.#isWriting = true;
    try {
      const fresh = `${this.#path}.new`;
      await writeFile(fresh, `${JSON.stringify(this.#state())}\n`);
      await rename(fresh, this.#path);
    } catch {
      // A full disk is told by the dump itself.
      this.#isBroken = true;
    } finally {
      this.#isWriting = false;
    }
  }

  #state(): object {
    const now = Date.now();
    const at: Record<string, number> = {};
    const rollouts: object[] = [];
    for (const { task, rollout, step, request, since, isScoring } of this.#running) {
      const stage = stageOf(request, isScoring);
      at[stage] = (at[stage] ?? 0) + 1;
      if (rollouts.length >= MOST_LISTED) continue;
      const tools = request.runningTools;
      const turns = request.messages.length;
      const seconds = Math.round((now - since) / 100) / 10;
      rollouts.push({ task, rollout, step, at: stage, ...(tools.length > 0 ? { tools } : {}), turns, seconds });
    }
    return { time: new Date(now).toISOString(), pid: process.pid, host: hostname(), at, rollouts, ...this.#counts() };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#isWriting) await new Promise((resolve) => setTimeout(resolve, 5));
    this.#isBroken = true;
    await rm(this.#path, { force: true });
  }
}

/** Where a rollout is. */
export function stageOf({ state }: RolloutRequest, isScoring: boolean): LiveStage {
  if (isScoring) return 'scoring';
  if (state === 'pending') return 'waiting';
  if (state === 'running') return 'generating';
  if (state === 'tool_calling') return 'tool';
  return state === 'interacting' ? 'user' : 'ending';
}
