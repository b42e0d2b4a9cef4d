import type { Block } from './block.ts';

/** Yielded before a slow step, so that keys can be handled first. */
export const PAUSE = 'pause';
export type PartOrPause<One> = One | typeof PAUSE;

/** Pausing work in the middle of a sequence of blocks. */
export function* paused<Result>(work: Generator<void, Result>): Generator<typeof PAUSE, Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    yield PAUSE;
  }
}

/** Blocks that are laid out together, such as those of a turn, and made on demand. */
export interface Section {
  /** The same for the same part of the same source, regardless of folds. */
  id: string;
  /**
   * Everything its blocks depend on besides its source; null if that cannot be determined. Sections with the same id, key and source are
   * laid out once.
   */
  key: string | null;
  source: object;
  /** Each time it is asked for its blocks it makes them anew: they need not be kept. Their ids begin with its own, and a dot. */
  isMadeAnew?: boolean;
  blocks(): Iterable<PartOrPause<Block>>;
}

/** Blocks of a section without natural boundaries, and UTF-16 units: enough to be worth checking the clock. */
const SHARE = 256;
const SHARE_UNITS = 65_536;

/** Sections for blocks that are not worth caching. A long block gets its own section, so that everything before it is available first. */
export function* inSections(blocks: Iterable<PartOrPause<Block> | null>): Generator<PartOrPause<Section> | null> {
  let share: Block[] = [];
  let units = 0;
  let at = 0;
  const section = (): Section => {
    const own = share;
    share = [];
    units = 0;
    return { id: `blocks ${at++}`, key: null, source: blocks, blocks: () => own };
  };
  for (const block of blocks) {
    if (block === PAUSE) {
      yield PAUSE;
      continue;
    }
    // More may arrive while this is being laid out; only a reader with nothing left has to wait.
    if (block === null) {
      yield share.length > 0 ? section() : null;
      continue;
    }
    if (share.length > 0 && (units + block.text.length > SHARE_UNITS || share.length === SHARE)) yield section();
    units += block.text.length;
    share.push(block);
  }
  if (share.length > 0) yield section();
}

/** Blocks one by one; null marks those still to come. */
export function* madeOf(sections: Iterable<PartOrPause<Section> | null>): Generator<PartOrPause<Block> | null> {
  for (const section of sections) {
    if (section === null || section === PAUSE) yield section;
    else yield* section.blocks();
  }
}

/** Blocks for callers that can wait for them. */
export function* unpaused(blocks: Iterable<PartOrPause<Block> | null>): Generator<Block> {
  for (const block of blocks) if (block !== null && block !== PAUSE) yield block;
}
