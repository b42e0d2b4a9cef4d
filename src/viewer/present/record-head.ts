import type { Finding } from '../../core/rollout/finding.ts';
import { truncateStart } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { formatCount } from '../../core/text/numbers.ts';
import { scoreText } from '../../core/text/quantities.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { type Piece, renderEdges, renderPieces } from './line.ts';
import { FOCUSED } from './list.ts';
import type { Theme } from './theme.ts';

export interface RecordHead {
  /** Sanitised. */
  locator: string;
  sample: number;
  samples: number;
  score: number | null | undefined;
  /** Facts about its group, the most useful first. */
  group: readonly string[];
  /** The transcript has the keyboard focus and is beside another pane. */
  isFocused: boolean;
  /** How it changed on disk since it was read; '' if it did not. */
  diskChange: string;
}

/** The line above a transcript that identifies the rollout. Parts that do not fit are dropped whole, the least informative first. */
export function renderRecordHead(head: RecordHead, theme: Theme, width: number): string {
  const score: Piece[] = [
    ['quiet', 'score '],
    ['strong', scoreText(head.score)],
    ['plain', ' '],
  ];
  const scoreWidth = score.reduce((sum, [, text]) => sum + cellWidth(text), 0);
  const locator = truncateStart(head.locator, Math.max(8, width - scoreWidth - 3));
  const left: Piece[] = [
    ['accent', head.isFocused ? `${FOCUSED} ` : '  '],
    ['heading', locator],
  ];
  // A change on disk matters more than the location there.
  const parts: Piece[] =
    head.diskChange === ''
      ? [
          ['quiet', `sample ${formatCount(head.sample)}/${formatCount(head.samples)}`],
          ...head.group.map((part): Piece => ['quiet', part]),
        ]
      : [['warning', head.diskChange]];
  let room = width - scoreWidth - cellWidth(locator) - 4;
  for (const [style, text] of parts) {
    room -= cellWidth(text) + 2;
    if (room < 0) break;
    left.push([style, `  ${text}`]);
  }
  return renderEdges(theme, left, score, width);
}

/** The line below it with findings about the record as a whole; '' if absent. */
export function renderHeadFindings(findings: readonly Finding[], theme: Theme, width: number): string {
  const whole = findings.filter(({ turn }) => turn === null);
  const pieces = whole.flatMap(({ severity, message }, i): Piece[] => {
    const text = sanitiseLine(message);
    // The text after a colon is an explanation and is dropped first if room is short.
    const said = cellWidth(text) + 2 <= width ? text : text.split(': ', 1)[0];
    return [
      ['plain', i === 0 ? ' ' : '  '],
      [severity === 'error' ? 'error' : 'warning', `!${said}`],
    ];
  });
  return renderPieces(theme, pieces, width);
}
