import type { Block } from '../../src/viewer/present/transcript/block.ts';
import { madeOf, unpaused } from '../../src/viewer/present/transcript/section.ts';

/** The blocks of whole sections. */
export const blocksOf = (sections: Parameters<typeof madeOf>[0]): Generator<Block> => unpaused(madeOf(sections));
