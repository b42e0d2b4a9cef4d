import type { MenuKind } from './menu.ts';

export type ListAction = ChoiceAction | GroupAction | MarkAction | MenuAction;

/** What the list shows, and in which order. */
export type ChoiceAction =
  /** An expression as it is typed behind `&`: empty clears, a `!` before it inverts all of it, alone it inverts what is in force. */
  | { type: 'filter'; text: string }
  /** null: as the records lie on disk. */
  | { type: 'sort'; key: string | null; descending: boolean }
  | { type: 'sort-reverse' }
  /** null: those that the program shows by itself. */
  | { type: 'columns'; columns: readonly string[] | null }
  | { type: 'undo' }
  | { type: 'redo' }
  /** The list has other rows: it was filtered, sorted, or found more. */
  | { type: 'rows-changed' }
  /** Stops a filter or a sort that is under way: the list is as it was before. */
  | { type: 'filter-cancel' };

export type GroupAction = { type: 'group' } | { type: 'group-member'; by: number };

export type MarkAction =
  | { type: 'mark'; letter: string }
  | { type: 'mark-row' }
  | { type: 'mark-go'; letter: string }
  | { type: 'mark-next'; by: number };

export type MenuAction = { type: 'list-menu'; menu: MenuKind } | { type: 'menu-key'; key: string };
