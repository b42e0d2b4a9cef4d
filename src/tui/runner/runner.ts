import type { Dump, Place } from '../../dump/dump.ts';
import type { DumpRecord } from '../../dump/dump-file.ts';
import { Journal } from '../../journal/journal.ts';
import { recordKey } from '../../journal/record-key.ts';
import type { CallReplay, RescoreView } from '../../present/replay/view.ts';
import {
  type BackendChoice,
  historyOf,
  keptRescore,
  openBackend,
  planCalls,
  type ReplayBackend,
  ReplayTools,
  type Rule,
  reportedOf,
  rulesWithout,
  standingWord,
} from '../../replay/index.ts';
import type { Rows } from '../rows/rows.ts';
import type { BulkProgress } from '../state/replay.ts';
import type { RunnerJob, RunnerReport } from '../state/replay-actions.ts';
import { runAll, runCall, runList } from './calls.ts';
import { openCallEditor, openTurnEditor, takeEdited } from './edit.ts';
import { fork, keptBranches } from './fork.ts';
import { Jobs } from './jobs.ts';
import { rescore } from './rescore.ts';
import { Shelf } from './rollouts.ts';
import type { ReplaySettings } from './settings.ts';
import { whereForkRuns, whereRuns } from './where.ts';

export interface RunnerOptions extends Omit<ReplaySettings, 'start'> {
  dump: Dump;
  env: NodeJS.ProcessEnv;
  /** The rollout that is open. */
  here(): Place | null;
  /** The list as it is now. */
  rows(): Rows;
  /** Something is still asked at the foot of the screen. */
  isAsking(): boolean;
  tell(news: RunnerReport): void;
  say(text: string, kind: 'info' | 'error'): void;
  /** Lends the terminal to an editor. */
  lend<T>(use: () => T): T;
}

/** The list is told of a run over many rollouts this often. */
const NEWS_MS = 150;
/** Longer records are not read for a word in the list; they have it once they are opened. */
const MAX_WORD_BYTES = 200_000;

/**
 * Does what replay, fork and re-score ask for, beside the screen: it holds the sandbox, the journal and what is under way, and tells the
 * screen what comes of it. Loaded with the first key that asks for it.
 */
export class Runner {
  readonly options: RunnerOptions;
  readonly tools: ReplayTools;
  readonly journal: Journal;
  readonly shelf: Shelf;
  readonly jobs: Jobs;
  readonly rules: readonly Rule[];
  #backend: Promise<ReplayBackend> | null = null;
  #bulk: BulkProgress | null = null;
  #news: NodeJS.Timeout | null = null;
  #words = new Map<string, string>();
  readonly #rescores = new Map<string, RescoreView>();
  /** Rows whose words were looked up. */
  readonly #seen = new Set<string>();

  /** @throws Error that names the tool file and what is wrong with it */
  constructor(options: RunnerOptions) {
    this.options = options;
    this.tools = new ReplayTools({ tools: options.tools, mapped: options.mapped, timeout: options.timeout });
    this.rules = rulesWithout(options.exact ?? []);
    this.journal = Journal.of(options.path, { journal: options.journal, env: options.env });
    this.shelf = new Shelf((locator, replay) => options.tell({ type: 'replay-rollout', locator, replay }));
    this.jobs = new Jobs({
      tick: () => options.tell({ type: 'replay-tick', now: Date.now() }),
      changed: () => this.#tellBusy(),
      idle: () => {
        this.#bulk = null;
        this.shelf.clear();
      },
      say: options.say,
    });
  }

  /** What the journal knows of a rollout, for whoever opens it. */
  show(place: Place): void {
    const row = this.options.dump.read(place);
    if (row.rollout === null) return;
    const plans = planCalls(row, { tools: this.tools });
    const known = new Map<number, CallReplay>();
    for (const plan of plans) {
      const history = historyOf(this.journal, plan);
      const reported = reportedOf(this.journal, plan);
      if (history.length === 0 && reported.length === 0) continue;
      known.set(plan.call, {
        underway: null,
        standing: history.findLast(({ edited }) => !edited) ?? null,
        edits: history.filter(({ edited }) => edited),
        reported,
      });
    }
    const branches = keptBranches(this.journal, row);
    if (known.size > 0 || branches.length > 0) this.shelf.fill(row.locator, known, branches);
    this.#recall(row.locator, row.raw);
  }

  /** The words of rows in sight, one after the other, so that keys go first. */
  async see(places: readonly Place[]): Promise<void> {
    for (const { file, record } of places) {
      const locator = file.locator(record);
      if (this.#seen.has(locator) || file.index.length(record) > MAX_WORD_BYTES) continue;
      this.#seen.add(locator);
      this.#recall(locator, this.row({ file, record }).raw);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async do(job: RunnerJob): Promise<void> {
    try {
      if (job.kind === 'where') await whereRuns(this, job);
      else if (job.kind === 'edit') openCallEditor(this, job);
      else if (job.kind === 'edited') takeEdited(this, job);
      else if (job.kind === 'run') await runCall(this, job);
      else if (job.kind === 'all') await runAll(this, job);
      else if (job.kind === 'list') await runList(this, job);
      else if (job.kind === 'cancel') this.#cancel(job.call);
      else if (job.kind === 'fork-where') await whereForkRuns(this, job.place);
      else if (job.kind === 'fork-edit') openTurnEditor(this, job);
      else if (job.kind === 'fork') await this.jobs.during((signal) => fork(this, job, signal));
      else await this.jobs.during((signal) => rescore(this, job, signal));
    } catch (error) {
      this.options.say((error as Error).message, 'error');
    }
  }

  /** The call that is pointed at where it is under way, else everything. */
  #cancel(call: { place: Place; call: number } | null): void {
    const { file, record } = call?.place ?? {};
    const isOne = call !== null && this.jobs.cancelCall(file!.locator(record!), call.call);
    if (!isOne) this.jobs.cancel();
    else if (this.#bulk !== null) this.options.say('this call is cancelled; once more ends the others', 'info');
  }

  async close(): Promise<void> {
    this.jobs.cancel();
    if (this.#news !== null) clearTimeout(this.#news);
    await this.#backend?.then(
      (backend) => backend.close(),
      () => {},
    );
    this.journal.close();
  }

  row(place: Place): DumpRecord {
    return this.options.dump.read(place);
  }

  get choice(): BackendChoice {
    return { sandbox: this.options.sandbox, toolsUrl: this.tools.sandboxUrl, env: this.options.env };
  }

  /** The sandbox, opened when it is first asked for. A failure is forgotten, so that the next key tries again. */
  backend(): Promise<ReplayBackend> {
    this.#backend ??= openBackend(this.choice).then(
      (backend) => {
        this.tools.use(backend.run);
        this.options.tell({ type: 'replay-backend', name: backend.name });
        backend.onWait = (wait) => {
          if (this.#bulk === null && wait !== null) this.options.say(`${wait.reason}, waiting …`, 'info');
          if (this.#bulk !== null) this.progress({ ...this.#bulk, waiting: wait === null ? null : wait.reason });
        };
        return backend;
      },
      (error: unknown) => {
        this.#backend = null;
        throw error;
      },
    );
    return this.#backend;
  }

  /** Its calls are on the screen, or were. */
  isSeen(locator: string): boolean {
    const here = this.options.here();
    return this.shelf.has(locator) || (here !== null && here.file.locator(here.record) === locator);
  }

  setWord(locator: string, word: string): void {
    this.#words.set(locator, word);
    this.#newsSoon();
  }

  /** The score that a rollout was given anew; of one that is open it stands beside the record, too. */
  setRescored(locator: string, rescored: RescoreView): void {
    this.#rescores.set(locator, rescored);
    if (this.isSeen(locator)) this.shelf.rescored(locator, rescored);
    this.#newsSoon();
  }

  /** What the journal knows of a record, as the list says it. */
  #recall(locator: string, raw: string): void {
    const record = recordKey(raw);
    const word = standingWord(this.journal, record);
    if (word !== '') this.setWord(locator, word);
    const rescored = keptRescore(this.journal, record);
    if (rescored !== null) this.setRescored(locator, rescored);
  }

  progress(bulk: BulkProgress | null): void {
    this.#bulk = bulk === null ? null : { ...bulk, tally: { ...bulk.tally } };
    this.#newsSoon();
  }

  #newsSoon(): void {
    this.#news ??= setTimeout(() => {
      this.#news = null;
      this.options.tell({
        type: 'replay-words',
        words: new Map(this.#words),
        rescores: new Map(this.#rescores),
      });
      this.#tellBusy();
    }, NEWS_MS);
  }

  #tellBusy(): void {
    this.options.tell({ type: 'replay-busy', isBusy: this.jobs.isBusy, bulk: this.#bulk });
  }
}
