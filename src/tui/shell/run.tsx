import { type Instance, render } from 'ink';
import type { Condition } from '../../analysis/condition.ts';
import { LiveRun } from '../../analysis/live-run.ts';
import { loadColumns, saveColumns } from '../../config/columns.ts';
import { History } from '../../config/history.ts';
import { columnsFile, historyFile } from '../../config/places.ts';
import type { Dump } from '../../dump/dump.ts';
import { Follower } from '../../dump/follow.ts';
import { styled, themeFor } from '../../present/theme.ts';
import { rewardProblem } from '../../replay/reward-choice.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { Keymap } from '../keys/keymap.ts';
import { DumpData } from '../rows/data.ts';
import type { Geometry } from '../rows/geometry.ts';
import { openInEditor, pipeTo } from '../runner/external-program.ts';
import { Finder } from '../runner/finder.ts';
import { LazyRunner } from '../runner/lazy-runner.ts';
import type { ReplaySettings } from '../runner/settings.ts';
import { Keyboard } from '../screen/keyboard.ts';
import { osc52 } from '../screen/osc52.ts';
import { Screen } from '../screen/screen.ts';
import { Terminal } from '../screen/terminal.ts';
import type { Action } from '../state/action.ts';
import type { Effect } from '../state/effect.ts';
import type { FindJob } from '../state/find.ts';
import { type FilterChoice, openedList, type SortChoice } from '../state/list.ts';
import type { PromptState } from '../state/prompt.ts';
import { initialReplay } from '../state/replay.ts';
import { samePlace } from '../state/rows.ts';
import { initialState, type State, type StatusMessage } from '../state/state.ts';
import { PROMPTS } from '../update/prompt-kinds.ts';
import { update } from '../update/update.ts';
import { editorView } from '../views/editor.ts';
import { footerView } from '../views/footer.ts';
import { helpView } from '../views/help.ts';
import { listView } from '../views/list.ts';
import { promptInfoView } from '../views/prompt-info.ts';
import { topView } from '../views/top.ts';
import { transcriptView } from '../views/transcript.ts';
import type { Scene, View } from '../views/view.ts';
import { AgeClock } from './age-clock.ts';
import { App } from './app.tsx';
import { Input } from './input.ts';
import { Prefetch } from './prefetch.ts';

export interface ScreenOptions {
  dump: Dump;
  /** What was opened, sanitised. */
  name: string;
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  env: Record<string, string | undefined>;
  /** Seconds between polls; by itself only where the file system sends no events. */
  poll?: number | undefined;
  /** What the list shows at first. */
  list: { filter: FilterChoice | null; sort: SortChoice | null };
  /** Goes to the newest step by itself from the start. */
  follow: boolean;
  /** What is told of a step with a bell. */
  notify: readonly Condition[];
  replay: ReplaySettings;
  keymap: Keymap;
  /** What is wrong with the user's settings, a line each. */
  problems: readonly string[];
}

/** Opens the screen and stays until the user quits. The terminal is then as it was. */
export function run(options: ScreenOptions): Promise<void> {
  return new Promise((resolve) => new Program(options, resolve).start());
}

/** The first mistake of the settings, or file that is not read; all of them are told again when the screen is gone. */
const problemMessage = ([first, ...others]: readonly string[]): StatusMessage | null =>
  first === undefined
    ? null
    : {
        text: sanitiseLine(first.replace(/^.*\//, '')) + (others.length === 0 ? '' : ` (and ${others.length} more)`),
        kind: 'error',
      };

/** Wires keys → actions → state → screen. It decides nothing itself. */
class Program {
  readonly #options: ScreenOptions;
  readonly #quit: () => void;
  readonly #live: LiveRun;
  readonly #data: DumpData;
  readonly #clock: AgeClock;
  readonly #screen: Screen;
  readonly #terminal: Terminal;
  readonly #keyboard: Keyboard;
  readonly #input: Input;
  #state: State;
  #ink: Instance | null = null;
  /** The layout that Ink was given last. */
  #geometry: Geometry | null = null;
  /** What covers list and transcript. */
  #overlay: 'help' | 'editor' | null = null;
  #prompt: PromptState | null = null;
  readonly #history = new History(historyFile());
  readonly #runner: LazyRunner;
  readonly #prefetch: Prefetch;
  readonly #finder: Finder;
  #follower: Follower | null = null;
  /** Notices of the dump that were told at the foot. */
  #told = 0;

  constructor(options: ScreenOptions, quit: () => void) {
    const { output, input, dump } = options;
    this.#options = options;
    this.#quit = quit;
    this.#live = new LiveRun(dump, options.notify);
    this.#data = new DumpData(
      { dump, live: this.#live, keys: options.keymap },
      {
        changed: () => this.#screen.invalidate(),
        rowsChanged: () => this.dispatch({ type: 'rows-changed' }),
        found: () => this.dispatch({ type: 'search-found' }),
      },
    );
    this.#clock = new AgeClock(
      () => this.#live.stats(this.#state.list.cursor?.file.stream ?? null),
      () => this.#screen.invalidate('top'),
    );
    const { replay } = options;
    this.#state = {
      ...initialState(output.columns || 80, output.rows || 24),
      list: openedList(options.list, loadColumns(columnsFile())),
      message: problemMessage(options.problems),
      history: this.#history.load(),
      replay: initialReplay(replay.start),
      follow: { mode: options.follow ? 'on' : 'off', at: null },
    };
    this.#screen = new Screen(output, this.#state.columns, this.#state.rows);
    this.#keyboard = new Keyboard(input, (keys) => this.#input.press(keys));
    this.#input = new Input({
      data: this.#data,
      keymap: options.keymap,
      state: () => this.#state,
      dispatch: (action) => this.dispatch(action),
      pendingChanged: () => this.#screen.invalidate(),
    });
    this.#terminal = new Terminal((output as NodeJS.WriteStream & { fd: number }).fd, {
      entered: () => {
        this.#keyboard.start();
        this.#screen.setActive(true);
        this.#resize();
      },
      leaving: () => {
        this.#clock.stop();
        this.#prefetch.rest();
        this.#screen.setActive(false);
        this.#keyboard.stop();
      },
    });
    this.#runner = new LazyRunner({
      ...replay,
      dump,
      env: options.env,
      here: () => this.#state.list.cursor,
      rows: () => this.#data.rows(this.#state),
      isAsking: () => this.#state.replay.question !== null,
      isKnown: (locator) => this.#state.replay.rollouts.has(locator),
      report: (report) => this.dispatch(report),
      say: (text, kind) => this.dispatch({ type: 'say', text: sanitiseLine(text), kind }),
      handOver: (use) => this.#terminal.handOver(use),
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
    });
    this.#provideViews();
  }

  start(): void {
    const { dump, input, output } = this.#options;
    this.#terminal.start();
    output.on('resize', this.#resize);
    input.on('end', this.#end);
    dump.subscribe(() => {
      this.#data.changed();
      this.dispatch({ type: 'dump-changed' });
      this.#tellNotices();
      for (const { text } of this.#live.judge()) this.dispatch({ type: 'alarm', text: sanitiseLine(text) });
    });
    this.#draw();
    // Once all is indexed the disk is followed.
    void dump.start().then(() => {
      this.#live.begin();
      this.#data.fresh.begin(dump.files);
      if (!dump.isClosed && dump.paths.length > 0) this.#follower = new Follower(dump, { poll: this.#options.poll });
    });
  }

  /** A file that is not read is missed in the list: the foot says so where it is free, and stderr at the end. */
  #tellNotices(): void {
    const { notices } = this.#options.dump;
    const message = problemMessage(notices.slice(this.#told));
    this.#told = notices.length;
    if (message !== null && this.#state.message === null) this.dispatch({ type: 'say', ...message });
  }

  dispatch(action: Action): void {
    const before = this.#state;
    const { state, effects } = update(before, action, this.#data);
    this.#state = state;
    // Who went elsewhere meanwhile is not called back.
    if (before.find !== null && !samePlace(before.list.cursor, state.list.cursor)) this.#find(null);
    this.#draw();
    for (const effect of effects) this.#perform(effect);
  }

  #provideViews(): void {
    const theme = themeFor(this.#options.env);
    const scene = (): Scene => ({
      state: this.#state,
      data: this.#data,
      theme,
      name: this.#options.name,
      pending: this.#input.pending,
    });
    const views: Record<string, View> = {
      top: topView,
      list: listView,
      transcript: transcriptView,
      help: helpView,
      editor: editorView,
      footer: footerView,
      'prompt-info': promptInfoView,
      divider: (_scene, _width, height) => Array.from({ length: height }, () => styled(theme, 'quiet', '│')),
    };
    for (const [id, view] of Object.entries(views)) {
      this.#screen.provide(id, (width, height) => view(scene(), width, height));
    }
  }

  /** Ink is asked only when the layout is another one; all else is painted. */
  #draw(): void {
    this.#data.open(this.#state.list.cursor);
    const { columns, rows, help, editor, prompt } = this.#state;
    const overlay = editor !== null ? 'editor' : help !== null ? 'help' : null;
    const geometry = this.#data.geometry(this.#state);
    const isTyped = prompt?.value !== this.#prompt?.value || prompt?.seed !== this.#prompt?.seed;
    if (geometry !== this.#geometry || overlay !== this.#overlay || isTyped) {
      this.#geometry = geometry;
      this.#overlay = overlay;
      this.#prompt = prompt;
      const app = (
        <App
          screen={this.#screen}
          columns={columns}
          rows={rows}
          geometry={geometry}
          overlay={overlay}
          prompt={prompt === null ? null : { ...prompt, sign: PROMPTS[prompt.id].sign }}
          onType={this.#type}
        />
      );
      if (this.#ink === null) {
        this.#ink = render(app, {
          stdout: this.#screen as unknown as NodeJS.WriteStream,
          stdin: this.#input.stdin,
          debug: true,
          patchConsole: false,
          exitOnCtrlC: false,
        });
      } else this.#ink.rerender(app);
    }
    this.#prefetch.look();
    this.#runner.rest(this.#state.list.cursor, () => this.#prefetch.visible());
    this.#clock.arm();
    this.#screen.invalidate();
  }

  #find(job: FindJob | null): void {
    this.#finder.cancel();
    if (this.#state.find !== null) this.dispatch({ type: 'find-progress', progress: null });
    if (job !== null) void this.#finder.start(job);
  }

  readonly #type = (value: string): void => this.dispatch({ type: 'prompt-change', value });

  /** Every effect has an entry: the compiler asks for it. */
  readonly #performers: { [Type in Effect['type']]: (effect: Extract<Effect, { type: Type }>) => void } = {
    quit: () => this.#end(),
    suspend: () => this.#terminal.suspend(),
    repaint: () => this.#screen.repaint(),
    bell: () => this.#screen.bell(),
    mouse: ({ on }) => this.#terminal.setMouse(on),
    find: ({ job }) => this.#find(job),
    command: ({ id }) => this.#input.command(id),
    run: ({ job }) => void this.#runner.do(job),
    'check-reward': (effect) => this.#checkReward(effect),
    reload: () => {
      void this.#follower?.refreshAll();
      this.#reload();
    },
    reopen: () => this.#reload(),
    copy: ({ text }) => this.#options.output.write(osc52(text, this.#options.env)),
    edit: ({ text, extension }) => this.#handOver(() => openInEditor(text, extension, process.env)),
    pipe: ({ command, text, extension }) => this.#handOver(() => pipeTo(command, text, extension, process.env)),
    remember: ({ prompt, value }) => this.#history.add(prompt, value),
    'remember-columns': ({ columns }) => saveColumns(columnsFile(), columns),
  };

  #perform(effect: Effect): void {
    const perform = this.#performers[effect.type] as (effect: Effect) => void;
    perform(effect);
  }

  #reload(): void {
    this.#data.reload();
    this.#draw();
  }

  #checkReward({ choice, prompt, value, at }: Extract<Effect, { type: 'check-reward' }>): void {
    const message = rewardProblem(choice);
    if (message === null) this.dispatch({ type: 'reward-chosen', choice });
    else this.dispatch({ type: 'prompt-problem', prompt, value, problem: { message, at } });
  }

  /** Another program has the terminal until it ends; a failure of it is shown. */
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
    this.#prefetch.stop();
    this.#clock.stop();
    this.#terminal.stop();
    this.#options.output.off('resize', this.#resize);
    this.#ink?.unmount();
    this.#data.close();
    this.#follower?.close();
    this.#finder.cancel();
    void this.#runner.close().finally(() => {
      this.#options.dump.close();
      this.#quit();
    });
  };
}
