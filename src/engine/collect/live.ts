import { appendFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import type { JsonObject } from '../../core/json/value.ts';
import type { RolloutRequest } from '../request/request.ts';

/** The stage of a rollout. */
type LiveStage = 'waiting' | 'generating' | 'tool' | 'user' | 'scoring' | 'ending';

interface LiveEntry {
  task: number;
  rollout: number;
  step: number;
  uid: string;
  request: RolloutRequest;
  since: number;
  isScoring: boolean;
  /** The file in the folder with its messages so far, or null. */
  file: string | null;
  written: number;
  /** Its last sign of life, and the time. */
  activity: string;
  sign: number;
}

/** A rollout that finishes within this time is read from the dump only: a reader that polls once a second would hardly see it. */
const YOUNG_MS = 2000;
/** Rollouts listed individually; beyond that only counts are kept. */
const MOST_LISTED = 2000;
const EVERY_MS = 1000;

/**
 * The rollouts under way, written to `live.json` beside the dump once a second, and their messages so far, one file each in `live/`: for
 * readers that follow a run before its rollouts are done. All of it is removed with the run.
 */
export class LiveFile {
  readonly #path: string;
  readonly #folder: string;
  /** Resolves when the folder exists, cleared of an earlier run's files. */
  #isFolderReady: Promise<unknown> | null = null;
  readonly #running = new Set<LiveEntry>();
  readonly #counts: () => JsonObject;
  readonly #timer: NodeJS.Timeout;
  #isWriting = false;
  #isClosed = false;

  constructor(directory: string, counts: () => JsonObject) {
    this.#path = join(directory, 'live.json');
    this.#folder = join(directory, 'live');
    this.#counts = counts;
    this.#timer = setInterval(() => void this.write(), EVERY_MS).unref();
  }

  /** @returns functions to report that it is being scored, and that it has ended */
  add(
    { task, rollout, step, uid }: { task: number; rollout: number; step: number; uid: string },
    request: RolloutRequest,
  ): { scoring(): void; end(): void } {
    const since = Date.now();
    const entry: LiveEntry = {
      task,
      rollout,
      step,
      uid,
      request,
      since,
      isScoring: false,
      file: null,
      written: 0,
      activity: '',
      sign: since,
    };
    this.#running.add(entry);
    return {
      scoring: () => {
        entry.isScoring = true;
      },
      end: () => {
        this.#running.delete(entry);
        if (entry.file !== null) void unlink(join(this.#folder, entry.file)).catch(() => {});
      },
    };
  }

  async write(): Promise<void> {
    if (this.#isWriting || this.#isClosed) return;
    this.#isWriting = true;
    try {
      await this.#writeMessages();
      const fresh = `${this.#path}.new`;
      await writeFile(fresh, `${JSON.stringify(this.#state())}\n`);
      await rename(fresh, this.#path);
    } catch {
      // The dump itself reports a full disk; a deleted folder is recreated.
      this.#isFolderReady = null;
    } finally {
      this.#isWriting = false;
    }
  }

  /** New messages, in the form of prime-rl's deltas (`live/ID.jsonl`), so any reader of those can read them. */
  async #writeMessages(): Promise<void> {
    const now = Date.now();
    for (const entry of [...this.#running].slice(0, MOST_LISTED)) {
      const { messages, promptLength } = entry.request;
      if (now - entry.since < YOUNG_MS || messages.length <= entry.written) continue;
      this.#isFolderReady ??= rm(this.#folder, { recursive: true, force: true }).then(() => ensureFolder(this.#folder));
      await this.#isFolderReady;
      const { uid, step, rollout, task, written } = entry;
      const nodes = messages.slice(written).map((message, i) => ({
        parent: written + i === 0 ? null : written + i - 1,
        message,
        sampled: written + i >= promptLength && message.role === 'assistant',
      }));
      const lines = [
        ...(written === 0 ? [{ trace: uid, open: { id: uid }, dispatch: { kind: 'train', step } }] : []),
        { trace: uid, nodes },
      ];
      entry.file ??= `${step}-${task}-${rollout}.jsonl`;
      entry.written = messages.length;
      await appendFile(join(this.#folder, entry.file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      // It ended while its messages were being written.
      if (!this.#running.has(entry)) await rm(join(this.#folder, entry.file), { force: true });
    }
  }

  #state(): object {
    const now = Date.now();
    const at: Record<string, number> = {};
    const rollouts: object[] = [];
    for (const entry of this.#running) {
      const { task, rollout, step, uid, request, since, isScoring, file } = entry;
      const stage = stageOf(request, isScoring);
      at[stage] = (at[stage] ?? 0) + 1;
      if (rollouts.length >= MOST_LISTED) continue;
      const tools = request.runningTools;
      const turns = request.messages.length;
      const activity = `${stage} ${turns} ${tools.join()}`;
      if (activity !== entry.activity) Object.assign(entry, { activity, sign: now });
      rollouts.push({
        task,
        rollout,
        step,
        uid,
        at: stage,
        ...(tools.length > 0 ? { tools } : {}),
        turns,
        seconds: tenths(now - since),
        quiet: tenths(now - entry.sign),
        ...(file === null ? {} : { file }),
      });
    }
    return { time: new Date(now).toISOString(), pid: process.pid, host: hostname(), at, rollouts, ...this.#counts() };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#isWriting) await new Promise((resolve) => setTimeout(resolve, 5));
    this.#isClosed = true;
    await rm(this.#path, { force: true });
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const tenths = (ms: number): number => Math.round(ms / 100) / 10;

/** The stage of a rollout. */
export function stageOf({ state }: RolloutRequest, isScoring: boolean): LiveStage {
  if (isScoring) return 'scoring';
  if (state === 'pending') return 'waiting';
  if (state === 'running') return 'generating';
  if (state === 'tool_calling') return 'tool';
  return state === 'interacting' ? 'user' : 'ending';
}
