/** How a record is shown; the choice stays from sample to sample. */
export const VIEWS = ['chat', 'raw', 'json', 'fields', 'details'] as const;
export type ViewName = (typeof VIEWS)[number];

export interface DisplayState {
  view: ViewName;
  wrap: boolean;
  /** Cells scrolled away at the left while wrap is off. */
  left: number;
  /** Fields that the table leaves out. */
  hidden: readonly string[];
}

export const firstDisplay: DisplayState = { view: 'chat', wrap: true, left: 0, hidden: [] };

export type DisplayAction =
  | { type: 'view-next'; by: number }
  | { type: 'wrap' }
  | { type: 'sideways'; by: number }
  | { type: 'field-hide' }
  | { type: 'field-show-all' };
