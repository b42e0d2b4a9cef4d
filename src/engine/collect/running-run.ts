import { errorCode } from '../../core/text/thrown.ts';
import { ruleOf } from '../common/faults.ts';
import { wireSchema } from '../tools/schema.ts';
import type { CollectedRollout, RolloutOutcome } from './collector.ts';
import type { DumpWriter } from './dump-writer.ts';
import type { FaultLog } from './fault-log.ts';
import type { Partials } from './partials.ts';
import type { RunSetup } from './prepare.ts';
import type { CollectionOptions, RunProgress } from './run-options.ts';
import { ServerHealth } from './server-health.ts';

interface RunParts {
  writer: DumpWriter;
  faults: FaultLog;
  progress: RunProgress;
  stop: AbortController;
  /** Ends a step by its deadline, or once enough rollouts are complete. */
  suspend: AbortController | undefined;
  partials: Partials;
}

const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk; whole rollouts are kept',
  EDQUOT: 'the disk quota is used up; whole rollouts are kept',
  EROFS: 'the file system is read-only; whole rollouts are kept',
  EFBIG: 'the file may not grow any further (ulimit -f); whole rollouts are kept',
  EIO: 'the disk fails (input/output error); whole rollouts are kept',
  ESTALE: 'a file was deleted or replaced while the run wrote to it',
};

/** Called with each rollout of a run as it ends. */
export class RunningRun {
  /** Why the run was given up. */
  ended: string | null = null;
  readonly #options: CollectionOptions;
  readonly #parts: RunParts;
  readonly #health: ServerHealth;
  readonly #scores = { sum: 0, count: 0 };
  #started = performance.now();
  #deadline: NodeJS.Timeout | undefined;

  constructor(setup: RunSetup, options: CollectionOptions, parts: RunParts) {
    this.#options = options;
    this.#parts = parts;
    const tools = setup.tools.map((tool) => wireSchema(tool.getOpenAIToolSchema()));
    const { sampling = {} } = setup.request;
    this.#health = new ServerHealth({ model: setup.model, tools, sampling, signal: parts.stop.signal });
  }

  start(): void {
    this.#started = performance.now();
    const { deadline } = this.#options.settings;
    if (deadline !== undefined)
      this.#deadline = setTimeout(() => this.#suspend(`the deadline of ${deadline} s`), deadline * 1000);
  }

  close(): void {
    clearTimeout(this.#deadline);
  }

  counts(): Record<string, number | null> {
    const { total, done, resumed, failed, unscored } = this.#parts.progress;
    return { total, done: done + resumed, failed, unscored };
  }

  #suspend(why: string): void {
    const { suspend } = this.#parts;
    if (!suspend || suspend.signal.aborted) return;
    this.ended = `ended by ${why}`;
    suspend.abort(new Error(this.ended));
  }

  /** A full disk ends the run, and complete lines are kept. */
  async take(collected: CollectedRollout<RolloutOutcome>): Promise<void> {
    try {
      await this.#take(collected);
    } catch (error) {
      const words = DISK_ERRORS[errorCode(error) ?? ''];
      if (words === undefined) throw error;
      this.#parts.progress.failed++;
      this.ended = `${this.#options.settings.out}: ${words}`;
      this.#parts.stop.abort(new Error(this.ended));
    }
  }

  async #take(collected: CollectedRollout<RolloutOutcome>): Promise<void> {
    const { writer, faults, progress } = this.#parts;
    const { task, rollout, step, request, judgement, record, cause } = collected;
    const where = `task ${task.index + 1}, rollout ${rollout}`;
    const { partials } = this.#parts;
    if (request.state === 'suspended') {
      partials.keep(task.key, rollout, step, request.partial());
      return;
    }
    partials.drop(task.key, rollout, step);
    if (cause !== null) faults.note(cause, where, request.error ?? judgement.error ?? ruleOf(cause).says);
    for (const warning of request.warnings) faults.warn(warning, where);
    if (record === null) {
      progress.failed++;
      await writer.state.noteFailure({
        task: task.key,
        rollout,
        step,
        cause,
        error: request.error ?? judgement.error,
        messages: request.messages,
      });
      if (cause !== null && ruleOf(cause).probes) await this.#giveUpIfGone();
    } else {
      await writer.append(record, { step, task: task.key, rollout });
      progress.done++;
      if (judgement.score === null) progress.unscored++;
      else {
        this.#scores.sum += judgement.score;
        this.#scores.count++;
      }
    }
    const { enough } = this.#options.settings;
    if (enough !== undefined && progress.done >= enough) this.#suspend(`--enough ${enough}`);
    progress.tokens += request.generations.reduce((sum, turn) => sum + (turn.completion_tokens ?? 0), 0);
    await this.#options.onRollout?.(collected);
    this.#options.onProgress?.({ ...this.measured(), done: progress.done + progress.resumed });
  }

  /** Lines that were written but have disappeared do not count as done. */
  async countLost(): Promise<void> {
    const { writer, progress } = this.#parts;
    const lost = await writer.lostLines();
    if (lost === 0) return;
    progress.done -= lost;
    progress.failed += lost;
    this.ended ??= `${this.#options.settings.out}: ${DISK_ERRORS.ESTALE}; ${lost} lines of it are lost`;
  }

  measured(): RunProgress {
    const { sum, count } = this.#scores;
    return {
      ...this.#parts.progress,
      elapsed: (performance.now() - this.#started) / 1000,
      meanScore: count === 0 ? null : sum / count,
    };
  }

  /** Gives up only if the server answers nothing at all, however many rollouts failed. */
  async #giveUpIfGone(): Promise<void> {
    const { stop } = this.#parts;
    if (stop.signal.aborted) return;
    const problem = await this.#health.check();
    if (problem === null || stop.signal.aborted) return;
    this.ended = `given up: the model server did not answer a probe: ${problem}`;
    stop.abort(new Error(this.ended));
  }
}
