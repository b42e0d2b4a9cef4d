import { layWhole } from '../../../analysis/facts/fact-rows.ts';
import { type KeptLookup, NOTHING_KEPT } from '../../../analysis/query/kept.ts';
import { compileQuery } from '../../../analysis/query/query.ts';
import { Subject } from '../../../analysis/query/subject.ts';
import { type FoundTurn, hitsByTurn } from '../../../analysis/report/hits.ts';
import { type Searched, searchDump } from '../../../analysis/search/search-thread.ts';
import type { Dump } from '../../../core/dump/dump.ts';
import { filterText } from '../state/list.ts';
import type { PageState, SubjectOf } from '../state/page.ts';
import type { State } from '../state/state.ts';

export interface FoundHits {
  turns: readonly FoundTurn[];
  hits: number;
  rollouts: number;
  /** Rollouts searched, and the total. */
  looked: number;
  total: number;
  /** Rollouts too large for any thread's memory. */
  lost: number;
  isDone: boolean;
  /** No more are listed. */
  isFull: boolean;
}

type HitsSubject = SubjectOf<'hits'>;

/** Most turns listed; nobody reads more, and memory is finite. */
const MOST_TURNS = 100_000;
/** Most hits reported for one rollout; the rest are only counted, for its last reported turn. */
const MOST_IN_ROLLOUT = 200;
/** Characters around a hit; a line shows as many as fit. */
const CONTEXT = 120;
/** ms between two frames. */
const SHOW_MS = 100;

interface Search {
  subject: HitsSubject;
  filter: string;
  found: { -readonly [key in keyof FoundHits]: FoundHits[key] } & { turns: FoundTurn[] };
  isWanted: boolean;
}

/** The search through all rollouts of the list: it continues as long as its page is shown, or is below something opened from it. */
export class Hits {
  readonly #dump: Dump;
  readonly #changed: () => void;
  readonly #kept: () => Promise<KeptLookup>;
  #search: Search | null = null;

  constructor(dump: Dump, changed: () => void, kept: () => Promise<KeptLookup> = async () => () => NOTHING_KEPT) {
    this.#dump = dump;
    this.#changed = changed;
    this.#kept = kept;
  }

  get isBusy(): boolean {
    return this.#search !== null && !this.#search.found.isDone;
  }

  of(subject: HitsSubject, { list }: State): FoundHits {
    const filter = list.choice.filter === null ? '' : filterText(list.choice.filter);
    if (this.#search?.subject !== subject || this.#search.filter !== filter) {
      this.close();
      const found = { turns: [], hits: 0, rollouts: 0, looked: 0, total: 0, lost: 0, isDone: false, isFull: false };
      this.#search = { subject, filter, found, isWanted: true };
      void this.#run(this.#search);
    }
    return this.#search.found;
  }

  /** Stops a search whose page is gone. */
  look({ page }: State): void {
    if (this.#search === null) return;
    for (let at: PageState | null = page; at !== null; at = at.below) if (at.subject === this.#search.subject) return;
    this.close();
  }

  close(): void {
    if (this.#search !== null) this.#search.isWanted = false;
    this.#search = null;
  }

  async #run(search: Search): Promise<void> {
    const { subject, filter, found } = search;
    const { pattern, roles, field } = subject;
    let shown = performance.now();
    try {
      const query = filter === '' ? null : compileQuery(filter);
      const kept = query?.asksKept === true ? await this.#kept() : undefined;
      if (query?.asksGroups === true || query?.asksSignals === true) await this.#dump.whenLooked();
      if (query !== null) await layWhole(this.#dump, query);
      const wanted = { pattern, roles, field, context: CONTEXT, most: MOST_IN_ROLLOUT };
      for await (const part of searchDump(this.#dump, wanted)) {
        if (!search.isWanted || found.isFull) return;
        found.total = this.#dump.files.reduce((sum, file) => sum + file.count, 0);
        found.looked += part.count;
        if (part.isLost) found.lost += part.count;
        for (const { place, count, hits } of hitsOf(part)) {
          if (query !== null && !query.accepts(Subject.of(place, kept))) continue;
          found.rollouts++;
          found.hits += count;
          found.turns.push(...hitsByTurn(place, count, hits));
        }
        found.isFull = found.turns.length >= MOST_TURNS;
        if (performance.now() - shown < SHOW_MS) continue;
        shown = performance.now();
        this.#changed();
      }
    } finally {
      found.isDone = true;
      this.#changed();
    }
  }
}

const hitsOf = ({ file, found }: Searched) =>
  found.map(({ record, count, hits }) => ({ place: { file, record }, count, hits }));
