import type { Place } from '../../../core/dump/dump.ts';
import { labelText } from '../../present/label-text.ts';
import type { ViewName } from '../state/display.ts';
import type { State } from '../state/state.ts';
import type { GroupLookup } from './data.ts';
import { groupOf } from './group-of.ts';

export interface GroupWords {
  /** The record's group, in words. */
  group: string;
  /** How it is known, or the reason for its absence. */
  groupFrom: string;
  advantage: number | null;
  /** Labels of people for the record. */
  labels: readonly string[];
}

/** The words of a view about a record's group and labels; groups may become known while the record is open. */
export function groupWords(state: State, groups: GroupLookup, place: Place, view: ViewName): GroupWords {
  const { parts, from, advantage } = usesGroup(view) ? groupOf(groups, place) : NO_GROUP;
  const labels = (state.labels.rollouts.get(place.file.locator(place.record)) ?? []).map(labelText);
  const showsGroup = view === 'details';
  return { labels, group: showsGroup ? parts.join(', ') : '', groupFrom: showsGroup ? from : '', advantage };
}

const NO_GROUP = { parts: [], from: '', advantage: null };
const usesGroup = (view: ViewName): boolean => view === 'details' || view === 'chat';
