import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile, DumpRecord } from '../../../core/dump/dump-file.ts';
import type { DisplayState } from './display.ts';
import type { State } from './state.ts';

/** Something that the store does not hold yet, identified by the query for it. */
export type Want =
  | { kind: 'record'; place: Place }
  | { kind: 'rows'; state: State }
  | { kind: 'layout'; state: State }
  | { kind: 'details'; state: State }
  | { kind: 'page'; state: State }
  | { kind: 'search'; record: DumpRecord; display: DisplayState; value: string }
  | { kind: 'groups'; file: DumpFile };
