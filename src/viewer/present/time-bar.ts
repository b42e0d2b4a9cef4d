import { itemAt } from '../../core/lists/at.ts';
import { type Stretch, TIME_KINDS, type TimeKind, type Times, timeByKind } from '../../core/rollout/times.ts';
import { secondsText } from '../../core/text/quantities.ts';
import type { Piece } from './line.ts';

/** A sign and a style for each kind, so that a bar is readable without colour. */
const SIGNS: Record<TimeKind | 'blank', Piece> = {
  model: ['trained', '█'],
  tool: ['number', '▒'],
  queue: ['warning', '░'],
  score: ['string', '▪'],
  setup: ['quiet', '·'],
  blank: ['quiet', ' '],
};

/** Each cell of the bar shows the kind that takes up most of it. */
export function timeBar(stretches: readonly Stretch[], wall: number, width: number): Piece[] {
  if (width <= 0 || !(wall > 0)) return [];
  const shares = Array.from({ length: width }, () => new Map<TimeKind | 'blank', number>());
  for (const { kind, start, end } of stretches) {
    const [from, to] = [(start / wall) * width, (end / wall) * width];
    for (let cell = Math.max(0, Math.floor(from)); cell < Math.min(width, Math.ceil(to)); cell++) {
      const part = Math.min(to, cell + 1) - Math.max(from, cell);
      const own = itemAt(shares, cell);
      own.set(kind ?? 'blank', (own.get(kind ?? 'blank') ?? 0) + part);
    }
  }
  const kinds = shares.map((own) => [...own].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'blank');
  // A stretch shorter than a cell is still visible.
  for (const { kind, start, end } of stretches) {
    if (kind === null) continue;
    const [from, to] = [Math.floor((start / wall) * width), Math.ceil((end / wall) * width)];
    const own = kinds.slice(Math.max(0, from), Math.max(from + 1, to));
    const middle = Math.min(width - 1, Math.floor(((start + end) / 2 / wall) * width));
    if (own.every((one) => one === 'blank')) kinds[middle] = kind;
  }
  const pieces: Piece[] = [];
  for (const kind of kinds) {
    const [style, sign] = SIGNS[kind];
    const last = pieces.at(-1);
    if (last?.[0] === style && last[1].endsWith(sign)) pieces[pieces.length - 1] = [style, last[1] + sign];
    else pieces.push([style, sign]);
  }
  return pieces;
}

/** `model 3.0 s █`, the longest first; unexplained time is labelled as such. */
export function timeLegend(times: Times): Piece[][] {
  const sums = timeByKind(times);
  return [...TIME_KINDS, 'blank' as const]
    .filter((kind) => sums[kind] > 0)
    .sort((a, b) => (a === 'blank' ? 1 : b === 'blank' ? -1 : sums[b] - sums[a]))
    .map((kind): Piece[] => {
      const [style, sign] = SIGNS[kind];
      const name = kind === 'blank' ? 'unexplained' : kind;
      return [
        ...(kind === 'blank' ? [] : ([[style, `${sign} `]] as Piece[])),
        ['quiet', `${name} ${secondsText(sums[kind])}`],
      ];
    });
}
