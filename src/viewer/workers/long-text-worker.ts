import { parentPort } from 'node:worker_threads';
import { collectGarbage } from '../../core/async/collected.ts';
import { isHeavy, recordText } from '../../core/dump/long-record.ts';
import type { Block } from '../present/transcript/block.ts';
import type { LongTextAnswer, LongTextPlace, LongTextRequest } from '../present/transcript/long-text.ts';
import { textBlocks } from '../present/transcript/text-view.ts';
import { ALL_OPEN } from '../present/transcript/turn-blocks.ts';

/** UTF-16 units, and blocks, sent to the main thread at once: it takes a few ms to receive them. */
const PIECE = 300_000;
const BLOCKS = 1000;

let rest: Iterator<Block> = [][Symbol.iterator]();
/** Kept for the next fold or view. */
let last: { place: LongTextPlace; raw: string } | null = null;

parentPort?.on('message', ({ id, request }: { id: number; request: LongTextRequest }) => {
  if ('open' in request) {
    const { folds, ...view } = request.open;
    rest = textBlocks(placeText(request.open), { ...view, folds: folds ?? ALL_OPEN })[Symbol.iterator]();
  }
  parentPort?.postMessage({ id, answer: piece() });
});

function placeText(place: LongTextPlace): string {
  const { path, offset, length } = place;
  const isLast = last?.place.path === path && last.place.offset === offset && last.place.length === length;
  if (!isLast) {
    last = { place, raw: recordText(place) };
    if (isHeavy(place)) collectGarbage();
  }
  return last!.raw;
}

function piece(): LongTextAnswer {
  const blocks: Block[] = [];
  for (let units = 0; units < PIECE && blocks.length < BLOCKS; ) {
    const next = rest.next();
    if (next.done === true) return { blocks, isLast: true };
    blocks.push(next.value);
    units += next.value.text.length;
  }
  return { blocks, isLast: false };
}
