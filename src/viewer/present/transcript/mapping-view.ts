import type { Mapping } from '../../../core/dump/mapping.ts';
import { UNKNOWN_UNREAD, unreadText } from '../unread-text.ts';
import type { Block } from './block.ts';
import { table } from './table-view.ts';

/** Shows which key became what, for a person who doubts it. */
export function mappingBlocks(mapping: Mapping | null): Iterable<Block> {
  if (mapping === null) return table([{ name: 'format', value: 'none knows this record' }]);
  const { format, basis, places, unread } = mapping;
  return table([
    { name: 'format', value: format, from: basis },
    ...places.map(([name, value]) => ({ name, value })),
    ...(unread?.map(unreadText) ?? [UNKNOWN_UNREAD]).map((value) => ({ name: 'not shown', value })),
  ]);
}
