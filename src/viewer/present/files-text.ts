import type { FileSummary } from '../../analysis/files/rollout-files.ts';
import { textTable } from './text-table.ts';

/** The files of a rollout, one per line: status, lines added and removed, the turns that changed it. */
export function filesTable(files: readonly FileSummary[]): string[] {
  const rows = files.map(({ path, last: { change }, added, removed, changes }) => [
    path,
    change.deleted ? 'deleted' : change.status,
    added === null ? '?' : `+${added}`,
    removed === null ? '?' : `-${removed}`,
    [...new Set(changes.map(({ turn }) => `t${turn}`))].join(' ') || 'read',
    [(changes.at(-1) ?? change).why, unlessText(change.unless)].filter((part) => part !== '').join('; '),
  ]);
  return textTable(
    [['file', 'status', 'added', 'removed', 'changed in', 'how it is known'], ...rows],
    (column) => column === 2 || column === 3,
  );
}

/** `unless call 3, 5 changed it`; empty if no program ran since. */
function unlessText(calls: readonly number[]): string {
  if (calls.length === 0) return '';
  const named = calls.slice(0, 4).join(', ');
  return `unless call ${named}${calls.length > 4 ? ' …' : ''} changed it`;
}
