import { FORMATS } from '../formats/registry.ts';
import { type Unread, unreadOf } from '../rollout/unread.ts';
import type { DumpRecord } from './dump-file.ts';

/** Which record key became what, and the source of the format's description. */
export interface Mapping {
  format: string;
  basis: string;
  places: readonly (readonly [word: string, place: string])[];
  /** Content of the record that the rollout does not show; null if the record is long and was read in a thread. */
  unread: readonly Unread[] | null;
}

/** null if no format recognises the record. */
export function mappingOf({ rollout, json }: Pick<DumpRecord, 'rollout' | 'json'>): Mapping | null {
  if (rollout === null) return null;
  const format = FORMATS.find(({ name }) => name === rollout.format);
  const basis =
    format === undefined
      ? 'your own map'
      : format.basis === 'documentation'
        ? 'from documentation: no real file was at hand'
        : 'built from files of its writer';
  const places = Object.entries(format?.mapping ?? {});
  return { format: rollout.format, basis, places, unread: json === undefined ? null : unreadOf(json, rollout) };
}
