import { type Piece, renderEdges } from './line.ts';
import { formatCount } from './numbers.ts';
import { scoreText } from './quantities.ts';
import type { Theme } from './theme.ts';

export interface RecordHead {
  /** Sanitised. */
  locator: string;
  sample: number;
  samples: number;
  score: number | null | undefined;
  /** What is known of its group, in words; '' where nothing is. */
  group: string;
  /** What happened to it on disk since it was read; '' for nothing. */
  fate: string;
}

/** The line above a transcript: which rollout this is. */
export function renderRecordHead(head: RecordHead, theme: Theme, width: number): string {
  const left: Piece[] = [
    ['plain', '  '],
    ['heading', head.locator],
  ];
  // What became of it on disk matters more than its place there.
  if (head.fate !== '') left.push(['warning', `  ${head.fate}`]);
  else left.push(['quiet', `  sample ${formatCount(head.sample)}/${formatCount(head.samples)}`]);
  if (head.fate === '' && head.group !== '') left.push(['quiet', `  ${head.group}`]);
  return renderEdges(
    theme,
    left,
    [
      ['quiet', 'score '],
      ['strong', scoreText(head.score)],
      ['plain', ' '],
    ],
    width,
  );
}
