import { finishedBetweenKeys } from '../../../core/async/finished.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { OwnCode } from '../../../engine/own/own-code.ts';
import {
  historyOf,
  keptRescore,
  openBackend,
  type PlannedCall,
  planningCalls,
  REPLAYS,
  type ReplayBackend,
  type ReplayBackendChoice,
  ReplayTools,
  type Rules,
  reportedOf,
  rulesWithout,
  standingWord,
} from '../../../replay/index.ts';
import { Journal } from '../../../replay/journal/journal.ts';
import { keepLabel, type Label, standingLabels } from '../../../replay/journal/labels.ts';
import { recordKey } from '../../../replay/journal/record-key.ts';
import type { WorldImage } from '../../../sandbox/worlds/images.ts';
import type { CallReplay, RescoreView } from '../../present/replay/view.ts';
import { assertNever } from '../state/assert-never.ts';
import type { RunnerJob } from '../state/effect.ts';
import type { BulkProgress, RolloutChange } from '../state/replay.ts';
import { startBisect } from './bisect-world.ts';
import { openPrompt } from './call-prompt.ts';
import { runAll, runList, startCall } from './calls.ts';
import type { JobOf, RunnerContext, RunnerOptions } from './context.ts';
import { openCallEditor, openTurnEditor, takeEdited } from './edit.ts';
import { keptBranches, startFork } from './fork.ts';
import { startAgentFork } from './fork-agent.ts';
import { Jobs } from './jobs.ts';
import { keyOfRow } from './planned.ts';
import { startRescore } from './rescore.ts';
import { addToSet, dropFromSet, reportSets } from './sets.ts';
import { takeAway } from './take-away.ts';
import { whereForkRuns, whereRuns } from './where.ts';
import { startWorld, startWorldList, whereWorldRuns } from './worlds.ts';

/** ms between two progress reports on a run over many rollouts. */
const REPORT_MS = 150;
/** Longer records are not read just for a word in the list; they get it once opened. */
const MAX_WORD_BYTES = 200_000;

/**
 * Does the work of replay, fork and re-score beside the screen: it holds the sandbox, the journal and the work in progress, and reports to
 * the screen. Loaded with the first key that needs it.
 */
export class Runner implements RunnerContext {
  readonly options: RunnerOptions;
  readonly tools: ReplayTools;
  readonly journal: Journal;
  readonly jobs: Jobs;
  readonly rules: Rules;
  readonly drafts = new Map<string, JsonValue>();
  readonly images = new Map<string, Promise<WorldImage>>();
  #backend: Promise<ReplayBackend> | null = null;
  #bulk: BulkProgress | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Results not reported yet, by locator. */
  #words = new Map<string, string>();
  #rescores = new Map<string, RescoreView>();
  #labels = new Map<string, Label[]>();
  /** Rows whose words were looked up. */
  readonly #recalled = new Set<string>();

  /** @throws Error that names the tool file and what is wrong with it */
  constructor(options: RunnerOptions) {
    this.options = options;
    const { tools, mapped, timeout, python, pythonPath } = options;
    this.tools = new ReplayTools({ tools, mapped, timeout, own: new OwnCode({ python, pythonPath }) });
    this.rules = rulesWithout(options.exact ?? []);
    this.journal = Journal.of(options.path, { journal: options.journal, env: options.env });
    this.jobs = new Jobs({
      tick: () => options.report({ type: 'replay-tick', now: Date.now() }),
      changed: () => this.#reportBusy(),
      idle: () => {
        this.#bulk = null;
        options.report({ type: 'replay-idle', now: Date.now() });
      },
      say: options.say,
    });
  }

  /** Shows the journal's results for a rollout that was opened. */
  async show(place: Place): Promise<void> {
    const row = await this.options.whole(place);
    if (row === null || row.rollout === null) return;
    const record = keyOfRow(row);
    const calls = new Map<number, CallReplay>();
    for (const plan of await this.#replayed(row, record)) {
      const history = historyOf(this.journal, plan);
      const reported = reportedOf(this.journal, plan);
      if (history.length === 0 && reported.length === 0) continue;
      calls.set(plan.call, {
        underway: null,
        standing: history.findLast(({ edited }) => !edited) ?? null,
        edits: history.filter(({ edited }) => edited),
        reported,
      });
    }
    const branches = await keptBranches(this.journal, row, record);
    if (calls.size > 0 || branches.length > 0) this.change(row.locator, { kind: 'journal', calls, branches });
    this.#recall(row.locator, record);
  }

  /** The calls of a record that the journal may know; of most records it knows none. */
  #replayed(row: DumpRecord, record: string): Promise<readonly PlannedCall[]> {
    const { journal, tools } = this;
    const isKnown = journal.known(REPLAYS, record).length + journal.reported(REPLAYS, record).length > 0;
    return isKnown ? finishedBetweenKeys(planningCalls(row, record, { tools })) : Promise.resolve([]);
  }

  /** Looks up the words of visible rows, one at a time, so that keys come first. */
  async recall(places: readonly Place[]): Promise<void> {
    for (const { file, record } of places) {
      const locator = file.locator(record);
      if (this.#recalled.has(locator) || file.index.length(record) > MAX_WORD_BYTES) continue;
      this.#recalled.add(locator);
      this.#recall(locator, recordKey(this.row({ file, record }).raw));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async do(job: RunnerJob): Promise<void> {
    try {
      await this.#do(job);
    } catch (error) {
      this.options.say(errorMessage(error), 'error');
    }
  }

  async #do(job: RunnerJob): Promise<void> {
    switch (job.kind) {
      case 'label':
        return this.#label(job);
      case 'sets':
        return reportSets(this);
      case 'set-drop':
        return dropFromSet(this, job);
      case 'set-add':
        return addToSet(this, job);
      case 'where':
        return whereRuns(this, job);
      case 'edit':
        return openCallEditor(this, job);
      case 'edited':
        return takeEdited(this, job);
      case 'run':
        return startCall(this, job);
      case 'prompt':
        return openPrompt(this, job);
      case 'all':
        return runAll(this, job);
      case 'list':
        return runList(this, job);
      case 'cancel':
        return this.#cancel(job.call);
      case 'write':
        return takeAway(this, job);
      case 'world-where':
        return whereWorldRuns(this, job);
      case 'world-run':
        return startWorld(this, job);
      case 'world-bisect':
        return startBisect(this, job);
      case 'world-list':
        return startWorldList(this, job);
      case 'fork-where':
        return whereForkRuns(this, job);
      case 'fork-edit':
        return openTurnEditor(this, job);
      case 'fork':
        // Another program may have made branches since the rollout was opened.
        await this.show(job.place);
        return this.jobs.during((signal) => (job.agent === null ? startFork : startAgentFork)(this, job, signal));
      case 'rescore':
        return this.jobs.during((signal) => startRescore(this, job, signal));
      default:
        return assertNever(job);
    }
  }

  /** Keeps this user's labels of rollouts; they are on disk before anything else happens. */
  #label({ rows, rater, change }: JobOf<'label'>): void {
    const labels = new Map<string, Label[]>();
    for (let index = 0; index < rows.length; index++) {
      const place = rows.at(index);
      if (place === null) continue;
      const { locator, raw } = this.row(place);
      keepLabel(this.journal, { record: recordKey(raw), locator, rater }, change);
      labels.set(locator, this.#labelsOf(raw));
    }
    this.options.report({ type: 'labels-known', labels });
    if (this.journal.problem !== null) this.options.say(this.journal.problem, 'error');
  }

  #labelsOf(raw: string): Label[] {
    return standingLabels(this.journal, recordKey(raw));
  }

  /** Cancels the given call if it is in progress, else everything. */
  #cancel(call: { place: Place; call: number } | null): void {
    const { file, record } = call?.place ?? {};
    const isOne = call !== null && this.jobs.cancelCall(file!.locator(record!), call.call);
    if (!isOne) this.jobs.cancel();
    else if (this.#bulk !== null) this.options.say('this call is cancelled; once more ends the others', 'info');
  }

  async close(): Promise<void> {
    this.jobs.cancel();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#backend?.then(
      (backend) => backend.close(),
      () => {},
    );
    this.tools.close();
    this.journal.close();
  }

  row(place: Place): DumpRecord {
    return this.options.dump.read(place);
  }

  get choice(): ReplayBackendChoice {
    const { sandbox, yesWeak } = this.options;
    return { sandbox, yesWeak, toolsUrl: this.tools.sandboxUrl, env: this.options.env };
  }

  /** A failure is not cached, so the next key tries again. */
  backend(): Promise<ReplayBackend> {
    this.#backend ??= openBackend(this.choice).then(
      (backend) => {
        this.tools.use(backend.run);
        this.options.report({ type: 'replay-backend', name: backend.name });
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

  change(locator: string, change: RolloutChange): void {
    this.options.report({ type: 'replay-rollout', locator, change, now: Date.now() });
  }

  isSeen(locator: string): boolean {
    const here = this.options.here();
    return this.options.isKnown(locator) || (here !== null && here.file.locator(here.record) === locator);
  }

  setWord(locator: string, word: string): void {
    this.#words.set(locator, word);
    this.#reportSoon();
  }

  /** A rollout's re-computed score; if the rollout is open, it also appears beside the record. */
  setRescored(locator: string, rescored: RescoreView): void {
    this.#rescores.set(locator, rescored);
    if (this.isSeen(locator)) this.change(locator, { kind: 'rescored', rescored });
    this.#reportSoon();
  }

  /** The journal's results for a record, as words for the list. */
  #recall(locator: string, record: string): void {
    const word = standingWord(this.journal, record);
    if (word !== '') this.setWord(locator, word);
    const labels = standingLabels(this.journal, record);
    if (labels.length > 0) {
      this.#labels.set(locator, labels);
      this.#reportSoon();
    }
    const rescored = keptRescore(this.journal, record);
    if (rescored !== null) this.setRescored(locator, rescored);
  }

  progress(bulk: BulkProgress | null): void {
    this.#bulk = bulk === null ? null : { ...bulk, tally: { ...bulk.tally } };
    this.#reportSoon();
  }

  #reportSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const [words, rescores, labels] = [this.#words, this.#rescores, this.#labels];
      this.#words = new Map();
      this.#rescores = new Map();
      this.#labels = new Map();
      if (labels.size > 0) this.options.report({ type: 'labels-known', labels });
      if (words.size + rescores.size > 0) this.options.report({ type: 'replay-words', words, rescores });
      this.#reportBusy();
    }, REPORT_MS);
  }

  #reportBusy(): void {
    this.options.report({ type: 'replay-busy', isBusy: this.jobs.isBusy, bulk: this.#bulk });
  }
}
