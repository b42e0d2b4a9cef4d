import type { Dump, Place } from '../../dump/dump.ts';
import type { DumpRecord } from '../../dump/dump-file.ts';
import { Journal } from '../../journal/journal.ts';
import { recordKey } from '../../journal/record-key.ts';
import type { CallReplay } from '../../present/replay/view.ts';
import {
  type BackendChoice,
  backendWish,
  type CallState,
  editCall,
  historyOf,
  howOf,
  isDrift,
  keepOutcome,
  openBackend,
  type PlannedCall,
  planCalls,
  type ReplayBackend,
  type ReplayOutcome,
  ReplayTools,
  replayCall,
  replayMany,
  standingWord,
} from '../../replay/index.ts';
import type { JsonValue } from '../../rollout/json.ts';
import type { Rows } from '../rows.ts';
import type { ReplayJob, ReplayNews } from './actions.ts';
import { draftOf, editDraft, turnDraft } from './edit.ts';
import { forkOnDesk, keptBranches } from './fork-desk.ts';
import { rescoreOnDesk } from './rescore-desk.ts';
import { Shelf } from './shelf.ts';
import type { BulkProgress, Where } from './state.ts';

export interface DeskOptions {
  dump: Dump;
  /** What was opened; null for stdin. */
  path: string | null;
  sandbox: string;
  tools: string | undefined;
  journal: string | undefined;
  env: NodeJS.ProcessEnv;
  /** The rollout that is open. */
  here(): Place | null;
  tell(news: ReplayNews): void;
  say(text: string, kind: 'info' | 'error'): void;
  /** Lends the terminal to an editor. */
  lend<T>(use: () => T): T;
}

const TICK_MS = 1000;
/** The list is told of a run over many rollouts this often. */
const NEWS_MS = 150;
/** Longer records are not read for a word in the list; they have it once they are opened. */
const MAX_WORD_BYTES = 200_000;

/**
 * Does what replay, fork and re-score ask for, beside the screen: it holds the sandbox, the journal and what is under way, and tells the
 * screen what comes of it. Loaded with the first key that asks for it.
 */
export class Desk {
  readonly options: DeskOptions;
  readonly tools: ReplayTools;
  readonly journal: Journal;
  readonly shelf: Shelf;
  #backend: Promise<ReplayBackend> | null = null;
  readonly #jobs = new Set<AbortController>();
  #bulk: BulkProgress | null = null;
  #ticks: NodeJS.Timeout | null = null;
  #news: NodeJS.Timeout | null = null;
  #words = new Map<string, string>();
  /** A run over the list was cut off: the next one leaves out what is known. */
  #wasCut = false;
  /** Rows whose words were looked up. */
  readonly #seen = new Set<string>();

  /** @throws Error that names the tool file and what is wrong with it */
  constructor(options: DeskOptions) {
    this.options = options;
    this.tools = new ReplayTools({ tools: options.tools });
    this.journal = Journal.of(options.path, { journal: options.journal, env: options.env });
    this.shelf = new Shelf((locator, replay) => options.tell({ type: 'replay-rollout', locator, replay }));
  }

  /** What the journal knows of a rollout, for whoever opens it. */
  show(place: Place): void {
    const row = this.options.dump.read(place);
    if (row.rollout === null) return;
    const plans = planCalls(row, { tools: this.tools });
    const known = new Map<number, CallReplay>();
    for (const plan of plans) {
      const history = historyOf(this.journal, plan);
      if (history.length === 0) continue;
      known.set(plan.call, {
        underway: null,
        standing: history.findLast(({ edited }) => !edited) ?? null,
        edits: history.filter(({ edited }) => edited),
      });
    }
    const branches = keptBranches(this.journal, row);
    if (known.size > 0 || branches.length > 0) this.shelf.fill(row.locator, known, branches);
    const word = standingWord(this.journal, recordKey(row.raw));
    if (word !== '') this.#setWord(row.locator, word);
  }

  /** The words of rows in sight, one after the other, so that keys go first. */
  async see(places: readonly Place[]): Promise<void> {
    for (const { file, record } of places) {
      const locator = file.locator(record);
      if (this.#seen.has(locator) || file.index.length(record) > MAX_WORD_BYTES) continue;
      this.#seen.add(locator);
      const word = standingWord(this.journal, recordKey(this.row({ file, record }).raw));
      if (word !== '') this.#setWord(locator, word);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async do(job: ReplayJob): Promise<void> {
    try {
      if (job.kind === 'where') await this.#where(job.place, job.call);
      else if (job.kind === 'edit') this.#edit(job.place, job.call, job.args);
      else if (job.kind === 'run') await this.#run(job.place, job.call, job.args, job.repeat);
      else if (job.kind === 'all') await this.#all(job.place, job.repeat);
      else if (job.kind === 'list') await this.#list(job.rows, job.repeat);
      else if (job.kind === 'cancel') this.cancel();
      else if (job.kind === 'fork-where') await this.#forkWhere(job.place);
      else if (job.kind === 'fork-edit') this.#editTurn(job.place, job.turn, job.text);
      else if (job.kind === 'fork') await this.during((signal) => forkOnDesk(this, job, signal));
      else await this.during((signal) => rescoreOnDesk(this, job.rows, signal));
    } catch (error) {
      this.options.say((error as Error).message, 'error');
    }
  }

  cancel(): void {
    for (const job of this.#jobs) job.abort(new Error('cancelled'));
  }

  async close(): Promise<void> {
    this.cancel();
    if (this.#ticks !== null) clearInterval(this.#ticks);
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

  get #choice(): BackendChoice {
    return { sandbox: this.options.sandbox, toolsUrl: this.tools.sandboxUrl, env: this.options.env };
  }

  /** The sandbox, opened when it is first asked for. A failure is forgotten, so that the next key tries again. */
  backend(): Promise<ReplayBackend> {
    this.#backend ??= openBackend(this.#choice).then(
      (backend) => {
        this.tools.use(backend.run);
        backend.onWait = (wait) => {
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

  #plan(place: Place, call: number): PlannedCall | null {
    return planCalls(this.row(place), { tools: this.tools, call })[0] ?? null;
  }

  async #where(place: Place, call: number): Promise<void> {
    const plan = this.#plan(place, call);
    if (plan === null) return;
    this.options.tell({ type: 'replay-where', place, call, where: await this.#whereOf(plan) });
  }

  async #whereOf(plan: PlannedCall): Promise<Where> {
    const { tool, skip } = plan;
    // A call that cannot be run needs no sandbox; the others of the rollout may.
    if (tool !== null && tool.url !== null)
      return { name: tool.url, why: `session_url of ${tool.from}`, isRemote: true, problem: skip };
    if (tool !== null && tool.language === null)
      return { name: 'this program', why: tool.from, isRemote: false, problem: skip };
    return this.#sandbox(skip);
  }

  /** Where code runs: a server is named without asking it, a sandbox of this machine is tried. */
  async #sandbox(problem: string | null): Promise<Where> {
    try {
      const wish = backendWish(this.#choice);
      if (wish.kind === 'remote') return { name: wish.url, why: wish.why, isRemote: true, problem };
      const { name, why, confined } = await this.backend();
      return { name, why: confined ? why : `${why}; with all your rights`, isRemote: false, problem };
    } catch (error) {
      return { name: '', why: '', isRemote: false, problem: (error as Error).message };
    }
  }

  async #forkWhere(place: Place): Promise<void> {
    const tools = this.tools.forFork(this.row(place).rollout?.toolSchemas ?? []);
    const none: Where = { name: '', why: 'no tools', isRemote: false, problem: null };
    const where = tools.length === 0 ? none : await this.#sandbox(null);
    const names = tools.map(({ name }) => name).join(', ');
    this.options.tell({ type: 'replay-where', place, call: null, where: { ...where, why: names || where.why } });
  }

  #edit(place: Place, call: number, args: JsonValue | undefined): void {
    const recorded = this.#plan(place, call);
    if (recorded === null) return;
    const before = args ?? this.shelf.draft(recorded.locator, call);
    const plan = before === undefined ? recorded : editCall(recorded, before);
    const edited = editDraft(draftOf(plan, plan.arguments), this.options.lend, this.options.env) ?? before ?? null;
    if (edited === null) {
      this.options.say('nothing was changed', 'info');
      return;
    }
    this.shelf.keepDraft(plan.locator, call, edited);
    this.options.tell({ type: 'replay-edited', place, call, args: edited });
  }

  #editTurn(place: Place, turn: number, before: string | null): void {
    const text = before ?? this.row(place).rollout?.turns[turn]?.text;
    if (text === undefined) return;
    const edited = editDraft(turnDraft(text), this.options.lend, this.options.env);
    if (edited === null) this.options.say('nothing was changed', 'info');
    else this.options.tell({ type: 'fork-edited', place, turn, text: edited });
  }

  async #run(place: Place, call: number, args: JsonValue | undefined, repeat: number): Promise<void> {
    const recorded = this.#plan(place, call);
    if (recorded === null) return;
    const plan = args === undefined ? recorded : editCall(recorded, args);
    await this.during(async (signal) => {
      const backend = await this.backend();
      const onState = (state: CallState) => this.shelf.state(plan, state);
      onState({ kind: 'queued' });
      const options = { tools: this.tools, backend, repeat, signal };
      const outcome = await replayCall(plan, { ...options, onState });
      keepOutcome(this.journal, plan, howOf(plan, options), outcome);
      this.#judged(plan, outcome);
    });
    if (this.journal.problem !== null) this.options.say(this.journal.problem, 'error');
  }

  #judged({ locator, record, edited }: PlannedCall, outcome: ReplayOutcome): void {
    if (edited) return;
    const word = outcome.attempts.length === 0 ? outcome.status : standingWord(this.journal, record);
    this.#setWord(locator, word);
  }

  /** All calls of a rollout in their order; the screen goes to the first that differs. */
  async #all(place: Place, repeat: number): Promise<void> {
    const plans = planCalls(this.row(place), { tools: this.tools });
    const tally: Record<string, number> = {};
    let isFirst = true;
    await this.during(async (signal) => {
      const backend = await this.backend();
      const onState = (plan: PlannedCall, state: CallState) => this.shelf.state(plan, state);
      // One behind the other: what is seen then happens in the order of reading.
      const run = { tools: this.tools, backend, repeat, signal, journal: this.journal, concurrency: 1, onState };
      for await (const { plan, outcome } of replayMany({ ...run, rollouts: [plans] })) {
        tally[outcome.status] = (tally[outcome.status] ?? 0) + 1;
        this.#judged(plan, outcome);
        if (!isDrift(outcome) || !isFirst) continue;
        isFirst = false;
        const answer = this.row(place)
          .rollout?.turns.flatMap(({ toolCalls }) => toolCalls)
          .find(({ index }) => index === plan.call)?.resultTurn;
        this.options.tell({ type: 'replay-drift', place, turn: answer ?? plan.turn });
      }
    });
    if (isFirst) this.options.say(tallyText(tally, plans.length), 'info');
  }

  /** All calls of the rollouts of the list, in the background. */
  async #list(rows: Rows, repeat: number): Promise<void> {
    const tally: Record<string, number> = {};
    const total = rows.length;
    let done = 0;
    let calls = 0;
    const outcomes = new Map<string, ReplayOutcome[]>();
    const self = this;
    async function* rollouts(): AsyncGenerator<readonly PlannedCall[]> {
      for (let index = 0; index < total; index++) {
        const place = rows.at(index);
        if (place === null) continue;
        const plans = planCalls(self.row(place), { tools: self.tools });
        done = index;
        if (plans.length > 0) yield plans;
        // A file of rollouts without calls is no reason to keep the keys waiting.
        if (index % 20 === 19) await new Promise((resolve) => setImmediate(resolve));
      }
      done = total;
    }
    await this.during(async (signal) => {
      const backend = await this.backend();
      this.progress({ what: 'replaying', done, total, tally, waiting: null });
      const onState = (plan: PlannedCall, state: CallState) => {
        if (this.#isSeen(plan.locator)) this.shelf.state(plan, state);
      };
      const run = { tools: this.tools, backend, repeat, signal, journal: this.journal, resume: this.#wasCut, onState };
      for await (const { plan, outcome } of replayMany({ ...run, rollouts: rollouts() })) {
        tally[outcome.status] = (tally[outcome.status] ?? 0) + 1;
        calls++;
        const all = [...(outcomes.get(plan.locator) ?? []), outcome];
        // Results come rollout after rollout: of the others only the word is kept, the rest is in the journal.
        if (!outcomes.has(plan.locator)) outcomes.clear();
        outcomes.set(plan.locator, all);
        this.#judged(plan, outcome);
        this.progress({ what: 'replaying', done, total, tally, waiting: null });
      }
      this.#wasCut = signal.aborted;
    });
    this.options.say(
      this.#wasCut ? `cancelled after ${tallyText(tally, calls)}; ! f goes on` : tallyText(tally, calls),
      'info',
    );
    if (this.journal.problem !== null) this.options.say(this.journal.problem, 'error');
  }

  #isSeen(locator: string): boolean {
    const here = this.options.here();
    return this.shelf.has(locator) || (here !== null && here.file.locator(here.record) === locator);
  }

  #setWord(locator: string, word: string): void {
    this.#words.set(locator, word);
    this.#newsSoon();
  }

  progress(bulk: BulkProgress | null): void {
    this.#bulk = bulk === null ? null : { ...bulk, tally: { ...bulk.tally } };
    this.#newsSoon();
  }

  #newsSoon(): void {
    this.#news ??= setTimeout(() => {
      this.#news = null;
      this.options.tell({ type: 'replay-words', words: new Map(this.#words) });
      this.options.tell({ type: 'replay-busy', isBusy: this.#jobs.size > 0, bulk: this.#bulk });
    }, NEWS_MS);
  }

  /** Runs a job that can be cancelled, its seconds counted on the screen. */
  async during(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const job = new AbortController();
    this.#jobs.add(job);
    this.#ticks ??= setInterval(() => this.options.tell({ type: 'replay-tick', now: Date.now() }), TICK_MS);
    this.options.tell({ type: 'replay-busy', isBusy: true, bulk: this.#bulk });
    try {
      await work(job.signal);
      if (job.signal.aborted) this.options.say('cancelled', 'info');
    } catch (error) {
      if (!job.signal.aborted) throw error;
      this.options.say('cancelled', 'info');
    } finally {
      this.#jobs.delete(job);
      if (this.#jobs.size === 0) {
        if (this.#ticks !== null) clearInterval(this.#ticks);
        this.#ticks = null;
        this.#bulk = null;
        this.shelf.clear();
      }
      this.options.tell({ type: 'replay-busy', isBusy: this.#jobs.size > 0, bulk: this.#bulk });
    }
  }
}

/** `24 calls: 20 same, 3 drift, 1 skipped`. */
function tallyText(tally: Readonly<Record<string, number>>, calls: number): string {
  const parts = Object.entries(tally).map(([word, count]) => `${count} ${word}`);
  return `${calls} ${calls === 1 ? 'call' : 'calls'}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}
