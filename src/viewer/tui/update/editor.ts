import type { EditorState } from '../state/editor.ts';
import type { State } from '../state/state.ts';
import { bufferOf, editorText } from './editor-buffer.ts';
import { editorKey } from './editor-keys.ts';
import { editorLayout } from './editor-layout.ts';
import { doing } from './question.ts';
import type { Result, SomeHandlers } from './result.ts';

const withEditor = (state: State, editor: EditorState | null): State => ({ ...state, editor });

export const editorHandlers = {
  'editor-open': (state, { subject, title, text }) =>
    withEditor(state, {
      subject,
      title,
      original: text,
      buffer: bufferOf(text),
      goal: null,
      past: [],
      future: [],
      lastKind: 'move',
      isLeaving: false,
      problem: null,
    }),

  'editor-key': (state, { key, text }, data) => {
    const { editor } = state;
    if (editor === null) return state;
    if (key === 'ctrl+s') return takeText(state, editor);
    if (['esc', 'ctrl+c', 'ctrl+g'].includes(key)) return leave(state, editor);
    const { rows, height } = editorLayout(editor, state.columns, data.geometry(state).bodyHeight - 1);
    return withEditor(state, editorKey(editor, key, text, rows, height));
  },

  'editor-problem': (state, { problem }) =>
    state.editor === null ? state : withEditor(state, { ...state.editor, problem }),

  'editor-close': (state) => withEditor(state, null),
} satisfies SomeHandlers;

/** Passes the text to the runner, which parses it; the editor stays open until that succeeds. */
function takeText(state: State, { subject, buffer, original }: EditorState): Result {
  const text = editorText(buffer);
  return text === original ? withEditor(state, null) : doing(state, { kind: 'edited', subject, text });
}

/** Discarding work takes two keys, never one. */
function leave(state: State, editor: EditorState): State {
  const isChanged = editorText(editor.buffer) !== editor.original;
  return withEditor(state, isChanged && !editor.isLeaving ? { ...editor, isLeaving: true } : null);
}
