import { type FactRows, readFactRows } from '../../../analysis/facts/fact-rows.ts';
import { compileQuery } from '../../../analysis/query/query.ts';
import type { Dump } from '../../../core/dump/dump.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { filterText } from '../state/list.ts';
import type { State } from '../state/state.ts';

/** Another run beside the open one. */
export interface OtherRun {
  /** null while they are being read, and if there is a problem. */
  facts: FactRows | null;
  /** Share of its rollouts that is known. */
  share: number;
  problem: string | null;
}

interface OpenedRun {
  key: string;
  dump: Dump | null;
  run: OtherRun;
}

/** The run being compared with the open one: its rollouts are read the same way, through the same filter. */
export class OtherRuns {
  readonly #dump: Dump;
  readonly #changed: () => void;
  #open: OpenedRun | null = null;

  constructor(dump: Dump, changed: () => void) {
    this.#dump = dump;
    this.#changed = changed;
  }

  get isBusy(): boolean {
    return this.#open !== null && this.#open.run.facts === null && this.#open.run.problem === null;
  }

  of(path: string, { list }: State): OtherRun {
    const filter = list.choice.filter === null ? '' : filterText(list.choice.filter);
    const key = `${path}\0${filter}`;
    if (this.#open?.key !== key) {
      this.close();
      this.#open = { key, dump: null, run: { facts: null, share: 0, problem: null } };
      void this.#read(this.#open, path, filter);
    }
    return this.#open.run;
  }

  close(): void {
    this.#open?.dump?.close();
    this.#open = null;
  }

  async #read(open: OpenedRun, path: string, filter: string): Promise<void> {
    const { run } = open;
    try {
      const query = filter === '' ? null : compileQuery(filter);
      if (query?.asksKept === true) throw new Error('a filter for labels or results has none of another run');
      const dump = this.#dump.beside(path);
      open.dump = dump;
      const facts = await readFactRows(dump, query, (done, total) => {
        const share = total === 0 ? 1 : done / total;
        const isNews = Math.floor(share * 100) !== Math.floor(run.share * 100);
        run.share = share;
        if (isNews) this.#changed();
      });
      if (facts.length === 0)
        run.problem = dump.notices[0] ?? (query === null ? 'no rollouts' : 'the filter leaves none of its rollouts');
      else run.facts = facts;
    } catch (error) {
      run.problem = errorMessage(error);
    }
    this.#changed();
  }
}
