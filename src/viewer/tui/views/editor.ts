import { itemAt } from '../../../core/lists/at.ts';
import { fitRight } from '../../../core/text/fit.ts';
import type { Edges, Piece } from '../../present/line.ts';
import { styled, type Theme } from '../../present/theme.ts';
import type { EditorState } from '../state/editor.ts';
import { editorText } from '../update/editor-buffer.ts';
import { editorLayout } from '../update/editor-layout.ts';
import { charactersOf, type EditorRow, shown } from '../update/editor-rows.ts';
import type { PaneView } from './scene.ts';

/** The text of the editor, over the whole body: code needs the width. */
export const editorView: PaneView = ({ state, theme }, width, height) => {
  const { editor } = state;
  if (editor === null) return [];
  const { rows, gutter, top, cursor, height: room } = editorLayout(editor, width, height);
  const lines: string[] = [];
  for (let at = top; at < Math.min(rows.length, top + room); at++) {
    const row = itemAt(rows, at);
    const number = row.start === 0 ? fitRight(String(row.line + 1), gutter - 1) : ' '.repeat(gutter - 1);
    const text = rowText(editor, row, theme, at === cursor.row);
    lines.push(`${styled(theme, 'quiet', number)} ${text}`);
  }
  return lines;
};

/** The line above the text: what is being edited, and where the cursor is. */
export function editorTitle({ title, original, buffer }: EditorState): Edges {
  const isChanged = editorText(buffer) !== original;
  return {
    left: [
      ['plain', ' '],
      ['heading', title],
      ['warning', isChanged ? '  changed' : ''],
    ],
    right: [['quiet', `line ${buffer.row + 1} of ${buffer.lines.length} `]],
  };
}

/** Nothing depends on colour alone: the cursor is in reverse video. */
function rowText({ buffer }: EditorState, { line, start, end }: EditorRow, theme: Theme, hasCursor: boolean): string {
  const text = itemAt(buffer.lines, line).slice(start, end);
  let out = '';
  let plain = '';
  for (const { text: character, start: at } of charactersOf(text)) {
    if (!hasCursor || start + at !== buffer.column) {
      plain += shown(character);
      continue;
    }
    out = plain + styled(theme, 'current', shown(character));
    plain = '';
  }
  if (hasCursor && buffer.column === end && out === '') return plain + styled(theme, 'current', ' ');
  return out + plain;
}

/** Its keys, or its message, at the foot of the screen. */
export function editorFooter({ problem, isLeaving }: EditorState): Piece[] {
  if (problem !== null) return [['error', ` ${problem}`]];
  if (isLeaving) return [['warning', ' Esc once more throws the changes away; ^s applies them']];
  return KEYS.flatMap(([key, word]): Piece[] => [
    ['accent', ` ${key}`],
    ['quiet', ` ${word} `],
  ]);
}

const KEYS = [
  ['^s', 'apply'],
  ['Esc', 'leave'],
  ['^_', 'undo'],
  ['^y', 'redo'],
  ['^k', 'to the end'],
  ['^w', 'word'],
] as const;
