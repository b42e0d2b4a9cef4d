import type { RunStats } from '../../analysis/live-run.ts';
import type { QueueState } from '../../core/dump/under-way.ts';
import { truncate } from '../../core/text/fit.ts';
import { formatCount, formatPercent, plural, sparkline } from '../../core/text/numbers.ts';
import { meanText } from '../../core/text/quantities.ts';
import { ageText, durationText } from './age.ts';
import { type Edges, type Piece, piecesWidth } from './line.ts';

export interface TopLine {
  /** The opened paths, sanitised. */
  name: string;
  run: RunStats;
  follow: 'off' | 'on' | 'paused';
  /** The work in progress and how far it is, if that is known; null if there is none. */
  progress: { text: string; share: number | null } | null;
  /** The connection to the machine with the files; null if everything is local. Sanitised. */
  connection?: string | null;
  /** Still looking for the first records, so it is unknown whether there are any. */
  isReading: boolean;
  /** The workers that make the rollouts of a followed run; null if it makes them itself. */
  queue?: QueueState | null;
  /** The sandbox in which calls run again, if known; sanitised. */
  sandbox: string | null;
}

/** A part of the line that is shown whole or not at all. */
interface LinePart {
  pieces: Piece[];
  /** Parts of the highest rank are dropped first if the line is narrow. */
  rank: number;
  side: 'left' | 'right';
}

/** Cells of the curve: as many as fit, but not just a few. */
const SPARK = 16;
const SMALLEST_SPARK = 6;
const SPARK_RANK = 5.5;
/** Most cells for a server's address. */
const MOST_SANDBOX = 24;
/** Most cells for the connection state. */
const MOST_CONNECTION = 48;

/** The first line: what is open, an overview of the run, and the reading progress. */
export function topLine(line: TopLine, width: number): Edges {
  const name: Piece[] = [
    ['plain', ' '],
    ['heading', truncate(line.name, Math.max(12, width >> 2))],
  ];
  const parts = partsOf(line);
  let kept = parts;
  const room = width - piecesWidth(name) - 1;
  while (cells(kept) > room && kept.length > 0) {
    const worst = kept.reduce((worst, part) => (part.rank >= worst.rank ? part : worst));
    kept = kept.filter((part) => part !== worst);
  }
  const spare = room - cells(kept);
  const left = kept
    .filter(({ side }) => side === 'left')
    .flatMap((part) => (part.rank === SPARK_RANK ? curvePieces(line.run, SMALLEST_SPARK + spare) : part.pieces));
  const right = kept.filter(({ side }) => side === 'right').flatMap(({ pieces }) => pieces);
  return { left: [...name, ...left], right: right.length === 0 ? [] : [...right, ['plain', ' ']] };
}

/** The width of the parts, including the cells that separate the edges. */
const cells = (parts: readonly LinePart[]): number => parts.reduce((sum, { pieces }) => sum + piecesWidth(pieces), 2);

/** In order of importance, which is their rank; those at the right edge change by themselves. */
function partsOf({ run, follow, progress, connection = null, queue = null, sandbox, isReading }: TopLine): LinePart[] {
  const left = (rank: number, ...pieces: Piece[]): LinePart => ({ pieces, rank, side: 'left' });
  const right = (rank: number, ...pieces: Piece[]): LinePart => ({ pieces, rank, side: 'right' });
  const parts: LinePart[] = [];
  if (connection !== null) parts.push(left(-1, ['plain', '  '], ['warning', truncate(connection, MOST_CONNECTION)]));
  const status = isReading ? (['quiet', 'reading …'] as Piece) : statusPiece(run);
  if (status !== null) parts.push(left(0, ['plain', '  '], status));
  if (queue !== null) parts.push(left(0.5, ['plain', '  '], ...queuePieces(queue)));
  if (follow === 'on') parts.push(left(1, ['plain', '  '], ['accent', 'following']));
  if (follow === 'paused') parts.push(left(1, ['plain', '  '], ['warning', 'follow paused']));
  const numbered = run.steps > 0 || run.files === 0 ? [plural(run.steps, 'step')] : [];
  const counts = [...numbered, ...(run.files > 0 ? [plural(run.files, 'file')] : [])];
  parts.push(left(3, ['quiet', `  ${counts.join(' + ')}`]));
  parts.push(left(5, ['quiet', ` · ${plural(run.rollouts, 'rollout')}`]));
  const mean = run.last.at(-1)?.mean ?? null;
  if (mean !== null)
    parts.push(left(4, ['quiet', run.validation ? '  val score ' : '  score '], ['plain', meanText(mean)]));
  if (mean !== null && run.last.length > 1) parts.push(left(SPARK_RANK, sparkOf(run, SMALLEST_SPARK)));
  if (run.failed > 0) parts.push(left(2.5, ['plain', '  '], ['warning', `${formatCount(run.failed)} failed`]));
  if (run.unscored > 0) parts.push(left(6.5, ['plain', '  '], ['warning', `${formatCount(run.unscored)} unscored`]));
  if (run.notFinite > 0) parts.push(left(6, ['plain', '  '], ['warning', `${formatCount(run.notFinite)} NaN`]));
  if (run.toolErrorRate !== null)
    parts.push(left(8, ['plain', `  ${formatPercent(run.toolErrorRate)}`], ['quiet', ' had tool errors']));
  // It is a lower bound, and a bound of 0 says nothing.
  if (run.truncationRate !== null && run.truncationRate > 0)
    parts.push(left(9, ['quiet', '  cut off ≥ '], ['plain', formatPercent(run.truncationRate)]));
  // The place where code runs matters more than the counts.
  if (sandbox !== null) parts.push(right(4.5, ['quiet', truncate(sandbox, MOST_SANDBOX)], ['plain', '  ']));
  if (run.perMinute !== null) parts.push(right(7, ['quiet', rateText(run.perMinute)], ['plain', '  ']));
  const isAgeShown = run.status === 'quiet' || run.age === null;
  if (run.age !== null && !isAgeShown) parts.push(right(2, ['quiet', ageText(run.age)]));
  if (progress !== null) parts.push(right(1.5, ['plain', isAgeShown ? '' : '  '], ['quiet', progressText(progress)]));
  return parts;
}

/** Missing workers matter most. */
function queuePieces({ workers, active, waiting, failed, isAway, perMinute }: QueueState): Piece[] {
  if (isAway) return [['warning', 'the Redis is away']];
  if (workers === 0) return [['warning', `no worker, ${formatCount(waiting)} waiting`]];
  const counts = [plural(workers, 'worker'), `${formatCount(active)} in flight`, `${formatCount(waiting)} waiting`];
  return [
    ['plain', [...counts, `${formatCount(perMinute)}/min`].join(' · ')],
    ...(failed > 0 ? ([['warning', ` · ${formatCount(failed)} given up`]] as Piece[]) : []),
  ];
}

function statusPiece({ status, age }: RunStats): Piece | null {
  if (status === 'live') return ['accent', '● live'];
  if (status === 'quiet') return ['warning', `quiet ${durationText(age ?? 0)}`];
  if (status === 'away') return ['warning', 'gone from disk'];
  if (status === 'ended') return ['quiet', 'the stream has ended'];
  return status === 'waiting' ? ['quiet', 'nothing there yet'] : null;
}

/** The curve, with its lowest and highest mean after it if they fit. */
function curvePieces(run: RunStats, room: number): Piece[] {
  const means = run.last.flatMap(({ mean }) => (mean !== null && Number.isFinite(mean) ? [mean] : []));
  const range = ` ${meanText(Math.min(...means))} to ${meanText(Math.max(...means))}`;
  const isRangeShown = means.length > 1 && room >= SPARK + range.length;
  return [sparkOf(run, room), ...(isRangeShown ? [['quiet', range] as Piece] : [])];
}

/** The means of the last steps; a step without a score is a gap. */
const sparkOf = ({ last }: RunStats, room: number): Piece => [
  'accent',
  ` ${sparkline(
    last.map(({ mean }) => mean ?? Number.NaN),
    Math.min(SPARK, room),
  )}`,
];

const rateText = (perMinute: number): string =>
  perMinute < 1
    ? `${formatCount(Math.max(1, Math.round(perMinute * 60)))}/h`
    : `${formatCount(Math.round(perMinute))}/min`;

const CELLS = 8;

function progressText({ text, share }: NonNullable<TopLine['progress']>): string {
  if (share === null) return `${text} …`;
  const full = Math.round(Math.min(1, Math.max(0, share)) * CELLS);
  return `${text} ${'▓'.repeat(full)}${'░'.repeat(CELLS - full)} ${formatPercent(share)}`;
}
