import { type FactRows, readFactRows } from '../../../analysis/facts/fact-rows.ts';
import { type KeptLookup, NOTHING_KEPT } from '../../../analysis/query/kept.ts';
import { compileQuery } from '../../../analysis/query/query.ts';
import type { Dump } from '../../../core/dump/dump.ts';
import { filterText } from '../state/list.ts';
import type { State } from '../state/state.ts';

interface FactRequest {
  key: string;
  facts: FactRows | null;
  /** Share of the rollouts read; null once all are. */
  share: number | null;
}

/** The facts of the rollouts that pass the list's filter, for pages that cover all of them. Read when a page first needs them. */
export class KnownFacts {
  readonly #dump: Dump;
  readonly #changed: () => void;
  readonly #kept: () => Promise<KeptLookup>;
  #asked: FactRequest | null = null;
  #shown: FactRows | null = null;
  #isReading = false;

  /** @param kept results kept beside the dump, for a filter that needs them */
  constructor(dump: Dump, changed: () => void, kept: () => Promise<KeptLookup> = async () => () => NOTHING_KEPT) {
    this.#dump = dump;
    this.#kept = kept;
    this.#changed = changed;
  }

  get isBusy(): boolean {
    return this.#isReading;
  }

  /** The current facts, or the previous ones while more rollouts are being read. */
  of({ list }: State): FactRows | null {
    const { filter } = list.choice;
    const text = filter === null ? '' : filterText(filter);
    const print = this.#dump.files.map(({ version }) => version).join(' ');
    const key = `${text}\0${print}`;
    if (!this.#isReading && this.#asked?.key !== key && this.#dump.progress().phase !== 'index') {
      // Rows of another filter must not be shown for this one.
      if (this.#asked?.key.split('\0')[0] !== text) this.#shown = null;
      void this.#read(key, text);
    }
    return this.#shown;
  }

  /** `reading 83 %`; '' once everything is read. */
  get note(): string {
    const share = this.#asked?.share ?? null;
    return share === null ? '' : `reading ${Math.floor(share * 100)} %`;
  }

  async #read(key: string, text: string): Promise<void> {
    this.#isReading = true;
    const asked: FactRequest = { key, facts: null, share: 0 };
    this.#asked = asked;
    try {
      const query = text === '' ? null : compileQuery(text);
      const kept = query?.asksKept === true ? await this.#kept() : undefined;
      const progress = (done: number, total: number): void => {
        const share = total === 0 ? 1 : done / total;
        if (Math.floor(share * 100) === Math.floor((asked.share ?? 0) * 100)) return;
        asked.share = share;
        this.#changed();
      };
      this.#shown = await readFactRows(this.#dump, query, progress, kept);
    } finally {
      asked.share = null;
      this.#isReading = false;
      this.#changed();
    }
  }
}
