/** What the list asks with one key, or a few: see update/menu.ts. */
export type MenuKind = 'sort' | 'columns' | 'mark' | 'go';

export interface ListMenu {
  kind: MenuKind;
  /** The entry that Enter takes. */
  cursor: number;
}
