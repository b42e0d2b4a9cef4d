import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { Rollout, Turn } from '../../../core/rollout/rollout.ts';
import { plural } from '../../../core/text/numbers.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { type DiffLine, type DiffWord, diffTexts } from '../../../replay/diff.ts';
import { escaped } from './page.ts';

/** Two rollouts side by side, turn by turn, with differences marked by line and by word. */
export function comparisonArticle(left: DumpRecord, right: DumpRecord, id: string): string {
  const head = `<article id="${id}"><h2>${escaped(left.locator)} against ${escaped(right.locator)}</h2>`;
  const [a, b] = [left.rollout, right.rollout];
  if (a === null || b === null)
    return `${head}<ul class="findings"><li class="error">${escaped((a === null ? left.error : right.error) ?? 'no rollout')}</li></ul></article>\n`;
  const same = sharedTurns(a, b);
  const rows = [];
  for (let index = same; index < Math.max(a.turns.length, b.turns.length); index++)
    rows.push(pair(a.turns[index], b.turns[index], `${id}t${index}`));
  const facts = `<div class="sides"><p>${sideHead(left, a)}</p><p>${sideHead(right, b)}</p></div>`;
  return `${head}${facts}<p class="at">${sameText(same)}</p>${rows.join('')}</article>\n`;
}

const sameText = (same: number): string =>
  same === 0
    ? 'They differ from the first turn on.'
    : same === 1
      ? 'The first turn is the same.'
      : `The first ${plural(same, 'turn')} are the same.`;

const sideHead = ({ locator }: DumpRecord, { score, turns }: Rollout): string =>
  `<b>${escaped(locator)}</b><br>score ${escaped(scoreText(score))}, ${plural(turns.length, 'turn')}`;

function sharedTurns(a: Rollout, b: Rollout): number {
  let same = 0;
  while (isSameTurn(a.turns[same], b.turns[same])) same++;
  return same;
}

const isSameTurn = (a: Turn | undefined, b: Turn | undefined): boolean =>
  a !== undefined && a.role === b?.role && a.text === b.text;

function pair(a: Turn | undefined, b: Turn | undefined, id: string): string {
  const lines = diffTexts(a?.text ?? '', b?.text ?? '') ?? [{ op: 'same' as const, text: a?.text ?? '' }];
  return `<div class="sides" id="${id}">${side(a, lines, 'removed')}${side(b, lines, 'added')}</div>\n`;
}

/** One side: the common lines and those of this side. */
function side(turn: Turn | undefined, lines: readonly DiffLine[], own: 'removed' | 'added'): string {
  if (turn === undefined) return '<section class="turn"><h3><span class="at">no such turn</span></h3></section>';
  const kind = turn.trained === null ? 'unknown' : turn.trained ? 'trained' : 'masked';
  const text = lines.flatMap((line) => lineHtml(line, own)).join('\n');
  return `<section class="turn ${kind}"><h3><span>t${turn.index} ${escaped(turn.role)}</span></h3><pre class="prose">${text}</pre></section>`;
}

function lineHtml(line: DiffLine, own: 'removed' | 'added'): string[] {
  if (line.op === 'skipped') return [`<i>… ${plural(line.lines, 'line')} the same …</i>`];
  if (line.op === 'left_out') return [`<i>… ${plural(line[own], 'line')} left out …</i>`];
  if (line.op === 'same') return [escaped(line.text)];
  if (line.op !== own) return [];
  const tag = own === 'removed' ? 'del' : 'ins';
  const words: readonly DiffWord[] = line.words ?? [{ op: 'changed', text: line.text }];
  return [words.map(({ op, text }) => (op === 'same' ? escaped(text) : `<${tag}>${escaped(text)}</${tag}>`)).join('')];
}
