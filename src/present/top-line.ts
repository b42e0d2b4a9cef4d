import { type Piece, piecesWidth, renderEdges } from './line.ts';
import { formatPercent, plural, sparkline } from './numbers.ts';
import type { Theme } from './theme.ts';

export interface TopLine {
  /** What was opened, sanitised. */
  name: string;
  steps: number;
  rollouts: number;
  /** Means of the steps of the stream that the cursor is in, in their order; NaN where a step has no score. */
  means: readonly number[];
  /** The place of the cursor's step in `means`. */
  here: number;
  /** What is being done, and how far it is; null when all is known. */
  progress: { text: string; share: number } | null;
  /** Where calls run again, as far as it is known; sanitised. */
  sandbox: string | null;
}

const SPARK = 16;

/** The first line: what is open, how it goes, and how far the reading is. */
export function renderTopLine(line: TopLine, theme: Theme, width: number): string {
  const left: Piece[] = [
    ['plain', ' '],
    ['heading', line.name],
    ['quiet', `  ${plural(line.steps, 'step')} · ${plural(line.rollouts, 'rollout')}`],
  ];
  const mean = line.means[line.here];
  if (mean !== undefined && Number.isFinite(mean)) {
    left.push(['quiet', '  mean score '], ['plain', mean.toFixed(2)]);
    const spark: Piece = ['accent', ` ${sparkline(line.means.slice(0, line.here + 1), SPARK)}`];
    if (line.means.length > 1 && piecesWidth([...left, spark]) + 20 <= width) left.push(spark);
  }
  const { progress, sandbox } = line;
  const right: Piece[] = [];
  if (sandbox !== null) right.push(['quiet', `${sandbox} `]);
  if (progress !== null) right.push(['quiet', `${right.length > 0 ? ' ' : ''}${progressText(progress)} `]);
  return renderEdges(theme, left, right, width);
}

const CELLS = 8;

function progressText({ text, share }: { text: string; share: number }): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * CELLS);
  return `${text} ${'▓'.repeat(full)}${'░'.repeat(CELLS - full)} ${formatPercent(share)}`;
}
