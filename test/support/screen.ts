import { LiveRun } from '../../src/analysis/live-run.ts';
import { Dump, type Place } from '../../src/core/dump/dump.ts';
import { MONO } from '../../src/viewer/present/theme.ts';
import { Keymap } from '../../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../../src/viewer/tui/pages/pages.ts';
import { DumpData } from '../../src/viewer/tui/rows/dump-data.ts';
import { act } from '../../src/viewer/tui/shell/act.ts';
import { Input } from '../../src/viewer/tui/shell/input.ts';
import type { Action } from '../../src/viewer/tui/state/action.ts';
import type { Effect } from '../../src/viewer/tui/state/effect.ts';
import { initialState, type State } from '../../src/viewer/tui/state/state.ts';
import { listView } from '../../src/viewer/tui/views/list.ts';
import { type DumpFiles, writeDump } from './dump.ts';

/** The screen without a terminal: a dump, a state, and what update makes of actions. */
export class TestScreen {
  readonly data: DumpData;
  readonly dump: Dump;
  state: State;
  /** The work that the last actions asked for. */
  effects: readonly Effect[] = [];
  readonly #remove: () => void;
  readonly #keys = new Keymap();

  private constructor(dump: Dump, remove: () => void, columns: number, rows: number) {
    const ignore = (): void => {};
    this.dump = dump;
    this.#remove = remove;
    this.data = new DumpData(
      { dump, live: new LiveRun(dump, []), keys: this.#keys, pages: new Pages() },
      { changed: ignore, rowsChanged: ignore, found: ignore },
    );
    this.state = initialState(columns, rows);
  }

  /** Opens a dump that is indexed, with its groups; the cursor is where the program would put it. */
  static async open(files: DumpFiles, columns = 160, rows = 30): Promise<TestScreen> {
    const { dir, remove } = writeDump(files);
    return TestScreen.over(Dump.open([dir]), remove, columns, rows);
  }

  /** Opens a dump that lies on the disk. */
  static async over(dump: Dump, remove = (): void => {}, columns = 160, rows = 30): Promise<TestScreen> {
    for (const file of dump.files) await dump.index(file);
    const screen = new TestScreen(dump, remove, columns, rows);
    screen.data.changed();
    screen.do({ type: 'dump-changed' });
    return screen;
  }

  do(...actions: readonly Action[]): this {
    this.effects = [];
    for (const action of actions) {
      const { state, effects } = act(this.state, action, this.data);
      this.state = state;
      this.effects = [...this.effects, ...effects];
      this.data.open(state.list.cursor);
    }
    return this;
  }

  /** Presses keys by their names: `J`, `enter`, `ctrl+d`. */
  press(...names: readonly string[]): this {
    const input = new Input({
      data: this.data,
      keymap: this.#keys,
      state: () => this.state,
      isShown: () => true,
      dispatch: (action) => this.do(action),
      type: async () => {},
    });
    input.press(names.map((name) => ({ name, text: name.length === 1 ? name : '', raw: name })));
    input.stop();
    return this;
  }

  /** Enters a filter, and waits for its list. */
  filter(text: string): Promise<this> {
    this.do(
      { type: 'prompt-open', prompt: 'filter' },
      { type: 'prompt-change', value: text },
      { type: 'prompt-submit' },
    );
    return this.settled();
  }

  /** The pane of the list, without colours. */
  get list(): string[] {
    const { listWidth } = this.data.geometry(this.state);
    const scene = { state: this.state, data: this.data, theme: MONO, name: '' };
    return listView(scene, listWidth, this.state.rows - 2).map((line) => line.replace(/\x1b\[[\d;]*m/g, ''));
  }

  /** The rows of the list as `step sample`. */
  get listed(): string[] {
    const rows = this.data.rows(this.state);
    return Array.from({ length: rows.length }, (_, index) => {
      const place = rows.at(index);
      return place === null ? '–' : `${place.file.stepOf(place.record)} ${place.record + 1}`;
    });
  }

  /** The rollout under the cursor, as `1.jsonl:5`. */
  get selected(): string | null {
    const { cursor } = this.state.list;
    return cursor && `${cursor.file.stem}.jsonl:${cursor.record + 1}`;
  }

  get message(): string | null {
    return this.state.message?.text ?? null;
  }

  place(file: number, record: number): Place {
    return { file: this.dump.files[file]!, record };
  }

  /** Waits until a list that is being made is whole. */
  async settled(): Promise<this> {
    this.data.rows(this.state);
    while (this.data.filterProgress(this.state)?.isBusy) await new Promise((resolve) => setTimeout(resolve, 2));
    return this.do({ type: 'rows-changed' });
  }

  /** Waits until a search of the open record has ended. */
  async searched(): Promise<this> {
    while (this.data.searches.isBusy) await new Promise((resolve) => setTimeout(resolve, 2));
    return this.do({ type: 'search-found' });
  }

  /** Waits until the groups of all steps are known. */
  async grouped(): Promise<this> {
    for (const file of this.dump.files) this.data.groups.groups(file);
    while (this.data.groups.isBusy) await new Promise((resolve) => setTimeout(resolve, 2));
    return this;
  }

  close(): void {
    this.data.close();
    this.dump.close();
    this.#remove();
  }
}
