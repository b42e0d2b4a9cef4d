import { stretchesOf, type Times } from '../../../core/rollout/times.ts';
import { secondsText } from '../../../core/text/quantities.ts';
import { sanitise } from '../../../core/text/sanitise.ts';
import type { Piece } from '../line.ts';
import { timeBar, timeLegend } from '../time-bar.ts';
import type { Block, Range } from './block.ts';

const BAR = 32;

/** The strip above the first turn: where the time went, and how much is unexplained. */
export function timeBlocks(times: Times): Block[] {
  const head: Piece[] = [['quiet', `time ${secondsText(times.wall)}  `]];
  const bar = times.spans.length === 0 ? [] : timeBar(stretchesOf(times), times.wall, BAR);
  const legend = timeLegend(times).flatMap((pieces): Piece[] => [['plain', '  '], ...pieces]);
  const blocks = [styledBlock('time', [...head, ...bar, ...legend])];
  if (times.doubt !== null) blocks.push(styledBlock('time.doubt', [['warning', sanitise(times.doubt)]]));
  return blocks;
}

/** One line of pieces as a block. */
function styledBlock(id: string, pieces: readonly Piece[]): Block {
  const ranges: Range[] = [];
  let text = '';
  for (const [style, piece] of pieces) {
    if (style !== 'plain') ranges.push({ start: text.length, end: text.length + piece.length, style });
    text += piece;
  }
  return { id, turn: null, text, style: 'plain', trained: false, indent: 0, ranges };
}
