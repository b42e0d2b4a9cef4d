import { formatCount, plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { expandTabs } from '../../../core/text/wrap.ts';
import type { DiffLine, DiffWord } from '../../../replay/index.ts';
import { leftOutText } from '../replay-text.ts';
import type { Style } from '../theme.ts';
import type { Block, Range } from '../transcript/block.ts';

/** Lines of a comparison beyond this limit are counted, not shown. */
const MAX_LINES = 200;

const SIGN = { same: ' ', removed: '-', added: '+' } as const;
const STYLE: Record<keyof typeof SIGN, Style> = { same: 'quiet', removed: 'quiet', added: 'plain' };
/** The words that differ; the sign identifies the side for readers who see no colour. */
const WORD_STYLE = { removed: 'error', added: 'accent' } as const;

const clean = (text: string): string => expandTabs(sanitiseLine(text));

/** Recorded against new, one block per line: `-` recorded, `+` new, with the differing words marked. */
export function diffBlocks(id: string, turn: number, diff: readonly DiffLine[], indent: number): Block[] {
  const base = { turn, trained: false, indent } as const;
  const lines = withoutLastNewline(diff);
  const blocks = lines.slice(0, MAX_LINES).map((line, i): Block => {
    const own = `${id}.${i}`;
    if (line.op === 'skipped') {
      return { ...base, id: own, text: `⋯ ${plural(line.lines, 'equal line')}`, style: 'quiet' };
    }
    if (line.op === 'left_out') return { ...base, id: own, text: `⋯ ${leftOutText(line)}`, style: 'quiet' };
    const words = line.op === 'same' ? undefined : line.words;
    const { text, ranges } = marked(line.op, line.text, words);
    return { ...base, id: own, text, style: STYLE[line.op], ...(ranges.length > 0 && { ranges }) };
  });
  const more = lines.length - MAX_LINES;
  if (more > 0) blocks.push({ ...base, id: `${id}.more`, text: `⋯ ${formatCount(more)} more lines`, style: 'quiet' });
  return blocks;
}

/** A template strips the last newline of a result; that is not a difference worth showing. */
function withoutLastNewline(diff: readonly DiffLine[]): readonly DiffLine[] {
  const last = diff.at(-1);
  const isNewline = diff.length > 1 && last?.op === 'added' && last.text === '';
  return isNewline ? diff.slice(0, -1) : diff;
}

function marked(
  op: keyof typeof SIGN,
  line: string,
  words: readonly DiffWord[] | undefined,
): { text: string; ranges: Range[] } {
  const sign = `${SIGN[op]} `;
  if (op === 'same') return { text: sign + clean(line), ranges: [] };
  const style = WORD_STYLE[op];
  // A line without a counterpart is entirely new or removed.
  const parts = words ?? [{ op: 'changed' as const, text: line }];
  let text = sign;
  const ranges: Range[] = [{ start: 0, end: 1, style }];
  for (const part of parts) {
    const shown = clean(part.text);
    if (part.op === 'changed' && shown.trim() !== '')
      ranges.push({ start: text.length, end: text.length + shown.length, style });
    text += shown;
  }
  return { text, ranges };
}
