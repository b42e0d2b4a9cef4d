import { LiveRun } from '../../../analysis/live-run.ts';
import type { Follower } from '../../../core/dump/follow.ts';
import { columnsFile, historyFile, lastViewFile, viewsFile } from '../../../core/files/places.ts';
import { plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { rewardProblem } from '../../../replay/reward-choice.ts';
import { loadColumns, saveColumns } from '../../config/columns.ts';
import { History } from '../../config/history.ts';
import { dumpName, loadLast, loadViews, type SavedView, saveLast, saveView } from '../../config/saved-views.ts';
import type { PointAnswer, PointRequest } from '../../listen/place.ts';
import { asksBackground, type Theme, themeFor } from '../../present/theme.ts';
import { Pages } from '../pages/pages.ts';
import { DumpData } from '../rows/dump-data.ts';
import { openInEditor, pipeTo } from '../runner/external-program.ts';
import { Finder } from '../runner/finder.ts';
import { LazyRunner } from '../runner/lazy-runner.ts';
import { pointedAt } from '../runner/pointed.ts';
import { BackgroundQuestion } from '../screen/background.ts';
import { copyText } from '../screen/clipboard.ts';
import { Keyboard } from '../screen/keyboard.ts';
import { Screen } from '../screen/screen.ts';
import { Terminal } from '../screen/terminal.ts';
import type { Action } from '../state/action.ts';
import { assertNever } from '../state/assert-never.ts';
import type { Effect } from '../state/effect.ts';
import type { FindJob } from '../state/find.ts';
import { initialLabels } from '../state/labels.ts';
import { type ListState, openedList } from '../state/list.ts';
import { initialReplay } from '../state/replay.ts';
import { samePlace } from '../state/rows.ts';
import { initialState, type State, type StatusMessage } from '../state/state.ts';
import { isAllThere, understood, viewAtEnd } from '../update/saved-views.ts';
import { chromeOf } from '../views/chrome.ts';
import { bodyPanes } from '../views/panes.ts';
import type { Scene } from '../views/scene.ts';
import { act, looked } from './act.ts';
import { AgeClock } from './age-clock.ts';
import { IdleReporter } from './idle.ts';
import { Input } from './input.ts';
import { LazyInk } from './lazy-ink.ts';
import type { ScreenOptions } from './options.ts';
import { Prefetch } from './prefetch.ts';

/** Opens the screen and returns when the user quits. The terminal is then restored. */
export function openScreen(options: ScreenOptions): Promise<void> {
  return new Promise((resolve) => new Program(options, resolve).start());
}

/** The first mistake in the settings or unread file; all are printed again when the screen is gone. */
const problemMessage = ([first, ...others]: readonly string[]): StatusMessage | null =>
  first === undefined
    ? null
    : {
        text: sanitiseLine(first.replace(/^.*\//, '')) + (others.length === 0 ? '' : ` (and ${others.length} more)`),
        kind: 'error',
      };

const AS_LEFT: StatusMessage = { text: 'as you left it; --fresh starts over', kind: 'info' };

/** Restores the dump's last view. The command line takes precedence; the marks stay. */
function leftView({ dump, fresh, list, follow }: ScreenOptions): SavedView | null {
  if (fresh || dump.paths.length === 0) return null;
  const last = loadLast(lastViewFile(dumpName(dump.paths)));
  if (last === null) return null;
  const asksOther = list.filter !== null || list.sort !== null;
  return understood({
    ...last,
    ...(asksOther ? { filter: null, sort: null } : {}),
    ...(asksOther || follow ? { place: null } : {}),
  });
}

/** Chosen columns are restored in every dump, so they alone need no message. */
const isSeen = ({ filter, sort, place, marks }: SavedView): boolean =>
  filter !== null || sort !== null || place !== null || Object.keys(marks).length > 0;

/** Undo must not go back before the list as opened. */
function listAsLeft(asked: ScreenOptions['list'], left: SavedView | null): ListState {
  const own = openedList(asked, loadColumns(columnsFile()));
  if (left === null) return own;
  const { filter, sort, columns } = left;
  const again = openedList({ filter: asked.filter ?? filter, sort: asked.sort ?? sort }, columns ?? own.choice.columns);
  return filter === null && sort === null ? again : { ...again, past: [own.choice] };
}

/** ms that cancelled runs may take to end. */
const CLOSE_MS = 10_000;

/** Wires keys → actions → state → screen. It decides nothing itself. */
class Program {
  readonly #options: ScreenOptions;
  readonly #quit: () => void;
  readonly #live: LiveRun;
  readonly #data: DumpData;
  readonly #clock: AgeClock;
  readonly #screen: Screen;
  readonly #ink: LazyInk;
  readonly #terminal: Terminal;
  readonly #keyboard: Keyboard;
  readonly #input: Input;
  readonly #background: BackgroundQuestion;
  readonly #history = new History(historyFile());
  readonly #runner: LazyRunner;
  readonly #prefetch: Prefetch;
  readonly #finder: Finder;
  #state: State;
  #theme: Theme;
  #follower: Follower | null = null;
  #idle: IdleReporter | null = null;
  #stopListening: () => void = () => {};
  /** The dump's last view, until its marks and its place are restored. */
  #left: SavedView | null = null;
  /** A frame with a rollout was painted, or no rollout exists. */
  #hasShown = false;
  /** The question that the terminal shows. */
  #shownQuestion: State['replay']['question'] = null;
  /** Pending copies. */
  #copies = 0;
  /** Notices of the dump already shown at the foot. */
  #noticed = 0;

  constructor(options: ScreenOptions, quit: () => void) {
    const { output, input, dump, env, replay } = options;
    this.#options = options;
    this.#quit = quit;
    this.#live = new LiveRun(dump, options.notify);
    this.#data = new DumpData(
      { dump, live: this.#live, keys: options.keymap, pages: new Pages(), tokenizer: options.tokenizer ?? null },
      {
        changed: () => this.#screen.invalidate(),
        rowsChanged: () => this.dispatch({ type: 'rows-changed' }),
        found: () => this.dispatch({ type: 'search-found' }),
        liveChanged: () => this.dispatch({ type: 'live-changed' }),
        kept: () => this.#runner.kept(),
      },
    );
    this.#clock = new AgeClock(
      () => this.#live.stats(this.#state.list.cursor?.file.stream ?? null),
      () => this.#timePassed(),
    );
    const left = leftView(options);
    this.#left = left;
    this.#state = {
      ...initialState(output.columns || 80, output.rows || 24),
      list: listAsLeft(options.list, left),
      hasDetails: left?.details !== false,
      message: problemMessage(options.problems) ?? (left !== null && isSeen(left) ? AS_LEFT : null),
      history: this.#history.load(),
      views: loadViews(viewsFile(dumpName(dump.paths))),
      replay: initialReplay(replay.start),
      labels: initialLabels(options.rater),
      follow: { mode: options.follow ? 'on' : 'off', at: null },
    };
    this.#theme = themeFor(env);
    this.#background = new BackgroundQuestion((question) => output.write(question), answerMsOf(env));
    const scene = (): Scene => ({
      state: this.#state,
      data: this.#data.known,
      theme: this.#theme,
      name: options.name,
      connection: options.connection?.status() ?? null,
    });
    this.#ink = new LazyInk(
      this.#theme,
      (value) => this.dispatch({ type: 'prompt-change', value }),
      () => this.#screen.invalidate('chrome'),
    );
    this.#screen = new Screen(
      {
        write: (bytes, written) =>
          output.write(bytes, () => {
            written();
            this.#painted();
          }),
      },
      {
        chrome: () => {
          this.#data.now = Date.now();
          const chrome = looked(this.#data, () => chromeOf(scene()));
          const { above, below } = this.#ink.draw(chrome, dump.isFilling);
          const gap = Math.max(0, this.#state.rows - above.length - below.length);
          return [...above, ...Array.from({ length: gap }, () => ''), ...below];
        },
        regions: () =>
          looked(this.#data, () => bodyPanes(scene())).map((region) => ({
            ...region,
            lines: () => looked(this.#data, region.lines),
          })),
        taken: () => {
          const { question } = this.#state.replay;
          return () => {
            this.#shownQuestion = question;
          };
        },
      },
      this.#state,
      isTested(env),
    );
    this.#keyboard = new Keyboard(
      input,
      (keys) => {
        this.#ink.pause();
        this.#screen.hurry();
        this.#input.press(keys);
      },
      (report) => this.#answered(report),
    );
    this.#input = new Input({
      data: this.#data,
      keymap: options.keymap,
      state: () => this.#state,
      isShown: (question) => this.#shownQuestion === question,
      dispatch: (action) => this.dispatch(action),
      type: (bytes) => this.#ink.type(bytes, () => looked(this.#data, () => chromeOf(scene()))),
    });
    this.#terminal = new Terminal((output as NodeJS.WriteStream & { fd: number }).fd, {
      entered: () => {
        this.#keyboard.start();
        this.#screen.setActive(true);
        this.#resize();
      },
      leaving: () => {
        this.#keepView();
        this.#clock.stop();
        this.#prefetch.rest();
        this.#screen.setActive(false);
        this.#keyboard.stop();
      },
      settled: () => new Promise((resolve) => output.write('', () => resolve())),
    });
    this.#runner = new LazyRunner({
      ...replay,
      dump,
      env,
      here: () => this.#state.list.cursor,
      whole: (place) => this.#data.wholeRecord(place),
      rows: () => this.#data.rows(this.#state),
      isKnown: (locator) => this.#state.replay.rollouts.has(locator),
      isAsking: () => this.#state.replay.question !== null,
      report: (report) => this.dispatch(report),
      say: (text, kind) => this.dispatch({ type: 'say', text: sanitiseLine(text), kind }),
      handOver: (use) => this.#terminal.handOver(use),
      lend: (use) => this.#terminal.lend(() => use({ input: input as unknown as NodeJS.ReadableStream, output })),
    });
    this.#finder = new Finder({
      data: this.#data,
      state: () => this.#state,
      report: (report) => this.dispatch(report),
    });
    this.#prefetch = new Prefetch({
      dump,
      data: this.#data,
      state: () => this.#state,
      freshChanged: () => this.#screen.invalidate('list'),
      readMs: readMsOf(env),
    });
  }

  start(): void {
    const { dump, input, output, env, poll } = this.#options;
    this.#terminal.start();
    output.on('resize', this.#resize);
    input.on('end', this.#end);
    dump.subscribe(() => {
      this.#data.changed();
      this.dispatch({ type: 'dump-changed' });
      this.#reopen(false);
      this.#showNotices();
      this.#judgeSteps();
    });
    this.#draw();
    // Once everything is indexed, the disk is watched.
    void dump.start().then(async () => {
      this.#reopen(true);
      this.#live.begin();
      this.#data.fresh.begin(dump.files);
      if (dump.paths.length === 0) return;
      const { Follower } = await import('../../../core/dump/follow.ts');
      if (!dump.isClosed) this.#follower = new Follower(dump, { poll });
    });
    this.#options.connection?.onChange(() => this.#screen.invalidate('chrome'));
    void this.#options
      .listen?.((request) => this.#point(request))
      .then(
        (stop) => {
          this.#stopListening = stop;
        },
        (error: Error) =>
          this.dispatch({ type: 'say', text: sanitiseLine(`--listen: ${error.message}`), kind: 'error' }),
      );
    if (isTested(env))
      this.#idle = new IdleReporter({
        isBusy: () => this.#isBusy(),
        received: () => this.#keyboard.received,
        report: (sequence) => output.write(sequence),
      });
  }

  /** Restores marks and place as soon as their files are indexed. */
  #reopen(isIndexed: boolean): void {
    const view = this.#left;
    if (view === null || this.#state.list.cursor === null) return;
    if (!isIndexed && !isAllThere(view, this.#state, this.#data)) return;
    this.#left = null;
    this.dispatch({ type: 'view-reopen', view, isMoved: this.#keyboard.pressed > 0 });
  }

  /** Runs on every exit. If the last view was not fully restored yet, it stays as it was. */
  #keepView(): void {
    const { paths } = this.#options.dump;
    if (paths.length === 0 || this.#left !== null || this.#state.list.cursor === null) return;
    saveLast(lastViewFile(dumpName(paths)), viewAtEnd(this.#state, this.#data));
  }

  #isBusy(): boolean {
    return (
      [this.#keyboard, this.#input, this.#screen, this.#finder, this.#runner].some((part) => part.isBusy) ||
      this.#copies > 0 ||
      this.#ink.isLoading ||
      this.#data.isBusy(this.#state)
    );
  }

  /** An unread file is missing from the list: show that at the foot if it is free, and on stderr at the end. */
  #showNotices(): void {
    const { notices } = this.#options.dump;
    const message = problemMessage(notices.slice(this.#noticed));
    this.#noticed = notices.length;
    if (message !== null && this.#state.message === null) this.dispatch({ type: 'say', ...message });
  }

  dispatch(action: Action): void {
    const before = this.#state;
    this.#data.now = Date.now();
    const { state, effects } = act(before, action, this.#data);
    this.#state = state;
    // A reader who moved elsewhere meanwhile is not pulled back.
    if (before.find !== null && !samePlace(before.list.cursor, state.list.cursor)) this.#find(null);
    this.#draw();
    for (const effect of effects) this.#perform(effect);
  }

  /** Silence, too, completes a step: nothing else would say so. */
  #timePassed(): void {
    if (this.#state.follow.mode === 'on') this.dispatch({ type: 'dump-changed' });
    else this.#screen.invalidate('chrome');
    this.#judgeSteps();
  }

  #judgeSteps(): void {
    for (const { text } of this.#live.judge()) this.dispatch({ type: 'alarm', text: sanitiseLine(text) });
  }

  #draw(): void {
    const { cursor } = this.#state.list;
    this.#data.look(this.#state);
    if (this.#hasShown) {
      this.#data.syntax.work();
      this.#prefetch.look();
      this.#runner.rest(cursor, () => this.#prefetch.visible());
    }
    this.#clock.arm();
    this.#screen.invalidate();
  }

  /** Start threads and Ink only once there is something to read: earlier, they would only delay it. */
  #painted(): void {
    if (this.#hasShown || (this.#state.list.cursor === null && this.#options.dump.progress().phase === 'index')) return;
    this.#hasShown = true;
    this.#ink.pause();
    this.#draw();
    // Somebody who typed ahead may quit before the answer, which the shell would then read.
    if (asksBackground(this.#options.env) && this.#keyboard.pressed === 0) this.#background.ask();
  }

  /** The terminal has said what its background is, or something else. */
  #answered(report: string): void {
    const isLight = this.#background.answer(report);
    if (isLight === null) return;
    this.#theme = themeFor(this.#options.env, isLight);
    this.#ink.setTheme(this.#theme);
    this.#screen.invalidate();
  }

  /** Runs an action after what it waits for has loaded, unless the user has moved on meanwhile. */
  async #load({ want, action }: Extract<Effect, { type: 'load' }>): Promise<void> {
    const { pressed } = this.#keyboard;
    await this.#data.bring(want);
    if (this.#keyboard.pressed === pressed && this.#state.list.cursor !== null) this.dispatch(action);
  }

  #find(job: FindJob | null): void {
    this.#finder.cancel();
    if (this.#state.find !== null) this.dispatch({ type: 'find-progress', progress: null });
    if (job !== null) void this.#finder.start(job);
  }

  #perform(effect: Effect): void {
    const { env } = this.#options;
    switch (effect.type) {
      case 'quit':
        this.#end();
        break;
      case 'suspend':
        this.#terminal.suspend();
        break;
      case 'load':
        void this.#load(effect);
        break;
      case 'repaint':
        this.#screen.repaint();
        break;
      case 'bell':
        this.#screen.bell();
        break;
      case 'mouse':
        this.#terminal.setMouse(effect.on);
        break;
      case 'find':
        this.#find(effect.job);
        break;
      case 'command':
        this.#input.command(effect.id);
        break;
      case 'run':
        void this.#runner.do(effect.job);
        break;
      case 'check-reward':
        this.#checkReward(effect);
        break;
      case 'reload':
        void this.#follower?.refreshAll();
        this.#reload();
        break;
      case 'reopen':
        this.#reload();
        break;
      case 'copy':
        void this.#copy(effect);
        break;
      case 'edit':
        this.#handOver(() => openInEditor(effect.text, effect.extension, env));
        break;
      case 'pipe':
        this.#handOver(() => pipeTo(effect.command, effect.text, effect.extension, env));
        break;
      case 'remember':
        this.#history.add(effect.prompt, effect.value);
        break;
      case 'remember-columns':
        saveColumns(columnsFile(), effect.columns);
        break;
      case 'remember-view': {
        const problem = saveView(viewsFile(dumpName(this.#options.dump.paths)), effect.name, effect.view);
        if (problem !== null) this.dispatch({ type: 'say', text: `the view is not kept: ${problem}`, kind: 'error' });
        break;
      }
      default:
        assertNever(effect);
    }
  }

  #reload(): void {
    this.#data.reload();
    this.#draw();
  }

  /** Shows the place that another program of this user points at, and reports which quotes are missing. */
  async #point(request: PointRequest): Promise<PointAnswer> {
    const { place, turn, search, broken } = await pointedAt(this.#options.dump, request);
    this.dispatch({ type: 'go', place, turn });
    if (search !== '') this.dispatch({ type: 'search', value: search });
    const [first] = broken;
    const text =
      first === undefined
        ? 'shown by another program of yours'
        : `shown by another program of yours; broken: ${broken.length} of ${plural(request.quotes.length, 'quote')}, not there exactly once: “${first.slice(0, 60)}”`;
    this.dispatch({ type: 'alarm', text: sanitiseLine(text) });
    return { opened: true, problem: '', broken };
  }

  /** Says `copied` only if something confirmed it. */
  async #copy({ text, words }: Extract<Effect, { type: 'copy' }>): Promise<void> {
    const { output, env } = this.#options;
    this.#copies++;
    try {
      const taker = await copyText(text, env, (sequence) => output.write(sequence));
      const said = taker === null ? `sent ${words} to the terminal's clipboard` : `copied ${words} to ${taker}`;
      this.dispatch({ type: 'say', text: said, kind: 'info' });
    } finally {
      this.#copies--;
    }
  }

  #checkReward({ choice, prompt, value, at }: Extract<Effect, { type: 'check-reward' }>): void {
    const message = rewardProblem(choice);
    if (message === null) this.dispatch({ type: 'reward-chosen', choice });
    else this.dispatch({ type: 'prompt-problem', prompt, value, problem: { message, at } });
  }

  /** Gives the terminal to another program until it ends; shows its failure. */
  #handOver(use: () => void): void {
    try {
      this.#terminal.handOver(use);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.dispatch({ type: 'say', text: sanitiseLine(problem), kind: 'error' });
    }
  }

  readonly #resize = (): void => {
    const { output } = this.#options;
    const columns = Math.max(1, output.columns || 80);
    const rows = Math.max(1, output.rows || 24);
    this.#screen.resize(columns, rows);
    this.dispatch({ type: 'resize', columns, rows });
    this.#screen.repaint();
  };

  readonly #end = (): void => {
    this.#input.stop();
    this.#idle?.stop();
    this.#stopListening();
    this.#prefetch.stop();
    this.#clock.stop();
    this.#terminal.stop();
    this.#options.output.off('resize', this.#resize);
    this.#ink.close();
    this.#data.close();
    this.#follower?.close();
    this.#finder.cancel();
    // Runs that are still ending keep the event loop alive, but not forever.
    const limit = setTimeout(this.#quit, CLOSE_MS);
    void this.#runner.close().finally(() => {
      clearTimeout(limit);
      this.#options.dump.close();
      this.#quit();
    });
  };
}

/** ms on screen after which a rollout counts as read. */
const READ_MS = 1500;

/** A test sees no durations unless it asks for them. */
const readMsOf = (env: ScreenOptions['env']): number | null =>
  env.ROLLOUT_VIEWER_READ_MS !== undefined ? Number(env.ROLLOUT_VIEWER_READ_MS) : isTested(env) ? null : READ_MS;

/** Under test, an answer is in time however busy the machine is, unless the test says how long it may take. */
const answerMsOf = (env: ScreenOptions['env']): number | undefined =>
  isTested(env) ? Number(env.ROLLOUT_VIEWER_ANSWER_MS ?? Number.POSITIVE_INFINITY) : undefined;

/** Under test, the program is strict with itself, and reports when it is idle. */
const isTested = (env: ScreenOptions['env']): boolean => env.ROLLOUT_VIEWER_TEST === '1';
