import { cellWidth } from '../../../core/text/graphemes.ts';
import type { Piece } from '../../present/line.ts';
import { PROMPTS } from '../update/prompt-kinds.ts';
import type { Scene } from './scene.ts';

/** The line below a prompt: what is wrong and where, else completions, else what may be typed. */
export function promptInfo({ state, data }: Scene, width: number): Piece[] {
  const { prompt } = state;
  if (prompt === null) return [];
  const { sign, hint } = PROMPTS[prompt.id];
  if (prompt.error !== null) {
    const { message, at } = prompt.error;
    const column = cellWidth(sign) + cellWidth(prompt.value.slice(0, at));
    // The mark is below the character; the message goes before it if there is no room after it.
    const room = cellWidth(message) + 2;
    if (column + 1 + room <= width)
      return [
        ['plain', ' '.repeat(column)],
        ['error', `^ ${message}`],
      ];
    const gap = column < width ? column - room : -1;
    return [['error', gap < 0 ? message : `${' '.repeat(gap)}${message}  ^`]];
  }
  if (prompt.choice >= 0) {
    const from = Math.max(0, prompt.choice - 3);
    const start = sharedStart(prompt.choices);
    return [
      ['plain', ' '],
      ...prompt.choices
        .slice(from, from + 40)
        .map(
          (choice, i) =>
            [from + i === prompt.choice ? 'accent' : 'quiet', `${choice.slice(start).trim() || choice}  `] as const,
        ),
    ];
  }
  return [['quiet', ` ${hint(prompt.value, state, data)}`]];
}

/** The length of the words that all choices begin with. */
function sharedStart(choices: readonly string[]): number {
  const [first = ''] = choices;
  let shared = first.lastIndexOf(' ') + 1;
  while (shared > 0 && !choices.every((choice) => choice.startsWith(first.slice(0, shared))))
    shared = first.lastIndexOf(' ', shared - 2) + 1;
  return shared;
}
