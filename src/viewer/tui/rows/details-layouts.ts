import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { LONG_RECORD } from '../../../core/dump/long-record.ts';
import { Layout } from '../../present/transcript/layout.ts';
import { inSections } from '../../present/transcript/section.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import type { GroupLookup } from './data.ts';
import { groupWords } from './group-words.ts';
import { shownSections } from './shown-sections.ts';

/** The details beside the transcript, laid out once for each record and dropped with it. */
export class DetailsLayouts {
  readonly #dump: Dump;
  readonly #groups: GroupLookup;
  readonly #byRecord = new WeakMap<DumpRecord, { key: string; layout: Layout }>();

  constructor(dump: Dump, groups: GroupLookup) {
    this.#dump = dump;
    this.#groups = groups;
  }

  of(state: State, place: Place, record: DumpRecord, width: number): Layout {
    const known = this.peek(state, place, record, width);
    if (known !== undefined) return known;
    const beside = groupWords(state, this.#groups, place, 'details');
    const display = { ...state.display, view: 'details' as const };
    // Only the view of its own shows details of a long record: here they would delay a key.
    const isShown = record.rollout !== null && record.bytes <= LONG_RECORD;
    const layout = new Layout(
      isShown ? shownSections(record, display, opened.folds, beside, null) : inSections([]),
      width,
    );
    this.#byRecord.set(record, { key: detailsKey(state, this.#groups, place, width), layout });
    return layout;
  }

  /** The layout if it was already made. */
  peek(state: State, place: Place, record: DumpRecord, width: number): Layout | undefined {
    const known = this.#byRecord.get(record);
    return known?.key === detailsKey(state, this.#groups, place, width) ? known.layout : undefined;
  }

  /** Lays out one of these records; false if nothing is left to do. */
  warm(state: State, places: readonly Place[], width: number): boolean {
    for (const place of places) {
      if (place.file.index.length(place.record) > LONG_RECORD) continue;
      const record = this.#dump.read(place);
      if (this.peek(state, place, record, width) !== undefined) continue;
      this.of(state, place, record, width);
      return true;
    }
    return false;
  }
}

const detailsKey = (state: State, groups: GroupLookup, place: Place, width: number): string => {
  const { group, groupFrom, advantage, labels } = groupWords(state, groups, place, 'details');
  return [width, group, groupFrom, advantage, ...labels].join('\0');
};
