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

/** Blocks of a section where there is no natural one: enough to be worth a look at the clock. */
const SHARE = 256;

/** Blocks that follow from nothing that is worth remembering. */
export function* inSections(blocks: Iterable<Block>): Generator<Section> {
  const rest = blocks[Symbol.iterator]();
  for (let at = 0; ; at += SHARE) {
    const share: Block[] = [];
    while (share.length < SHARE) {
      const next = rest.next();
      if (next.done === true) break;
      share.push(next.value);
    }
    if (share.length > 0) yield { id: `blocks ${at}`, key: null, source: blocks, blocks: () => share };
    if (share.length < SHARE) return;
  }
}

export function* blocksOf(sections: Iterable<Section>): Generator<Block> {
  for (const section of sections) yield* section.blocks();
}
