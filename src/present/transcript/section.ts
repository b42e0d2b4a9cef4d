import type { Block } from './block.ts';

/** Blocks that are laid out together, such as those of a turn, and are made when they are needed. */
export interface Section {
  /** The same for the same part of the same source, whatever is folded. */
  id: string;
  /** All that its blocks follow from beside its source; null where that cannot be told. A section with the same three is laid out once. */
  key: string | null;
  source: object;
  blocks(): readonly Block[];
}

/** Blocks of a section where there is no natural one, and UTF-16 units: enough to be worth a look at the clock. */
const SHARE = 256;
const SHARE_UNITS = 65_536;

/** Blocks that follow from nothing that is worth remembering. A long one is alone: what stands before it is there first. */
export function* inSections(blocks: Iterable<Block | null>): Generator<Section | null> {
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
    if (block === null || units + block.text.length > SHARE_UNITS || share.length === SHARE) {
      if (share.length > 0) yield section();
    }
    if (block === null) yield null;
    else {
      units += block.text.length;
      share.push(block);
    }
  }
  if (share.length > 0) yield section();
}

export function* blocksOf(sections: Iterable<Section | null>): Generator<Block> {
  for (const section of sections) if (section !== null) yield* section.blocks();
}
