import { renderPieces } from '../../present/line.ts';
import { cellWidth } from '../../text/graphemes.ts';
import { PROMPTS } from '../update/prompt-kinds.ts';
import type { View } from './view.ts';

/** Below what is typed: what is wrong and where, else completions, else what may be typed. */
export const promptInfoView: View = ({ state, data, theme }, width) => {
  const { prompt } = state;
  if (prompt === null) return [];
  const kind = PROMPTS[prompt.id];
  if (prompt.error !== null) {
    const { message, at } = prompt.error;
    const column = cellWidth(kind.sign) + cellWidth(prompt.value.slice(0, at));
    // The sign stands below the character; the words go before it where there is no room behind.
    const room = cellWidth(message) + 2;
    if (column + 1 + room <= width)
      return [
        renderPieces(
          theme,
          [
            ['plain', ' '.repeat(column)],
            ['error', `^ ${message}`],
          ],
          width,
        ),
      ];
    const gap = column < width ? column - room : 0;
    const pieces = gap >= 0 ? `${' '.repeat(gap)}${message} ` : `${message} `;
    return [renderPieces(theme, [['error', column < width && gap >= 0 ? `${pieces} ^` : message]], width)];
  }
  if (prompt.choice >= 0) {
    const from = Math.max(0, prompt.choice - 3);
    return [
      renderPieces(
        theme,
        [
          ['plain', ' '],
          ...prompt.choices
            .slice(from, from + 40)
            .map((choice, i) => [from + i === prompt.choice ? 'accent' : 'quiet', `${lastWord(choice)}  `] as const),
        ],
        width,
      ),
    ];
  }
  return [renderPieces(theme, [['quiet', ` ${kind.hint(prompt.value, state, data)}`]], width)];
};

const lastWord = (value: string): string => /\S*\s*$/.exec(value)![0].trim() || value;
