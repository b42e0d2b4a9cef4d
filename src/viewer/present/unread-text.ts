import type { Unread } from '../../core/rollout/unread.ts';
import { formatCount, plural } from '../../core/text/numbers.ts';

/** `messages[].source.data: 1,204 characters in 2 values` */
export function unreadText({ path, kind, size, count }: Unread): string {
  const amount = kind === 'numbers' ? plural(size, 'number') : plural(size, 'character');
  return `${path}: ${amount}${count === 1 ? '' : ` in ${formatCount(count)} values`}`;
}

/** Records this long are read in a thread, which does not compare them. */
export const UNKNOWN_UNREAD = 'unknown for a record this long; `show --json` lists it under `unread`';
