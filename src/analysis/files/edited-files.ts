import type { EditorAction } from '../actions/action.ts';
import { FAILED, type FileStates } from './file-states.ts';
import {
  certainFile,
  GONE,
  type KnownFile,
  type KnownLine,
  partialFile,
  tabsExpanded,
  UNKNOWN,
  universalNewlines,
} from './known-file.ts';
import { editedPartly, withHunk } from './text-edits.ts';
import { afterView, CUT, readView } from './views.ts';

/** Follows the tools that edit and show files. */
export class EditedFiles {
  readonly #states: FileStates;
  /** The contents that undo_edit restores. */
  readonly #undo = new Map<string, KnownFile[]>();
  #open: string | null = null;

  constructor(states: FileStates) {
    this.#states = states;
  }

  edit(
    path: string,
    edits: readonly { old: string; new: string; all: boolean }[],
    tool: 'claude' | EditorAction['flavour'],
  ): void {
    if (!this.#states.happened(path)) return;
    const { call, result } = this.#states.action;
    const before = this.#states.at(path);
    const view = readView(result ?? '');
    if (before.status === 'certain') {
      const text =
        before.text === null
          ? edits[0]?.old === ''
            ? (edits[0]?.new ?? '')
            : null
          : editedText(before.text, edits, tool);
      if (text !== null) {
        const after = certainFile(text, call, before);
        const seen = afterView(after, view, false);
        if (!seen.contradicts) {
          this.#states.set(path, after, 'an edit of known content');
          return;
        }
        this.#states.set(path, seen.file, 'the answer contradicts what was known: somebody else changed it');
        return;
      }
      const lines = new Map([...view.lines].map(([number, text]): [number, KnownLine] => [number, { text, by: null }]));
      this.#states.set(path, partialFile(lines), 'an edit that does not fit what was known: somebody else changed it');
      return;
    }
    const old =
      tool === 'swe-agent'
        ? edits.map((edit) => ({ ...edit, old: tabsExpanded(edit.old), new: tabsExpanded(edit.new) }))
        : edits;
    this.#states.set(path, editedPartly(before, old, call, view), 'an edit of a file that is known in part');
  }

  read(path: string, isWhole: boolean): void {
    const { result } = this.#states.action;
    if (result === null) return;
    const view = readView(result);
    if (view.lines.size === 0) {
      if (/does not exist|No such file/.test(result)) {
        if (this.#states.has(path) && this.#states.at(path).text !== null)
          this.#states.set(path, GONE, 'it is not there');
        else this.#states.note(path, 'failed: no change');
      }
      return;
    }
    this.#states.see(path, view, isWhole && !CUT.test(result.slice(-400)) && view.lines.has(1));
  }

  editor(action: EditorAction): void {
    const path = this.#states.path(action.path);
    const { call, result } = this.#states.action;
    const stack = this.#undo.get(path) ?? [];
    this.#undo.set(path, stack);
    switch (action.command) {
      case 'view':
        this.read(path, action.viewRange === null);
        return;
      case 'create':
        if (!this.#states.happened(path)) return;
        this.#states.set(path, certainFile(action.fileText ?? '', call, this.#states.at(path)), 'written whole');
        stack.push(this.#states.at(path));
        return;
      case 'str_replace':
      case 'insert': {
        const before = this.#states.at(path);
        const seen = this.#states.states.length;
        if (action.command === 'insert') this.#insert(path, action);
        else this.edit(path, [{ old: action.old ?? '', new: action.new ?? '', all: false }], action.flavour);
        const last = this.#states.states.at(-1)?.change;
        if (this.#states.states.length > seen && last?.changed === true) stack.push(asTextMode(before, action.flavour));
        return;
      }
      case 'undo_edit': {
        if (!this.#states.happened(path)) return;
        const before = stack.pop() ?? UNKNOWN;
        const { file } = afterView(before, readView(result ?? ''), !CUT.test((result ?? '').slice(-400)));
        this.#states.set(path, file, 'undone');
        return;
      }
      default:
        return;
    }
  }

  #insert(path: string, { insertLine, new: text, flavour }: EditorAction): void {
    if (!this.#states.happened(path)) return;
    const { call, result } = this.#states.action;
    const before = this.#states.at(path);
    const view = readView(result ?? '');
    const at = insertLine ?? 0;
    if (before.status === 'certain' && before.text !== null) {
      const lines = readAs(before.text, flavour).split('\n');
      lines.splice(at, 0, ...readAs(text ?? '', flavour).split('\n'));
      const after = certainFile(lines.join('\n'), call, before);
      const seen = afterView(after, view, false);
      this.#states.set(
        path,
        seen.contradicts ? seen.file : after,
        seen.contradicts ? 'the answer contradicts what was known' : 'an edit of known content',
      );
      return;
    }
    const put = (text ?? '')
      .split('\n')
      .map((one) => ({ text: flavour === 'swe-agent' ? tabsExpanded(one) : one, by: call }));
    const placed = withHunk(before, at + 1, 0, put);
    this.#states.set(path, editedPartly(placed, [], call, view), 'an edit of a file that is known in part');
  }

  window(verb: string, words: readonly string[], text: string | null): void {
    const { call, result } = this.#states.action;
    const head = /^\[File: (.+) \((\d+) lines total\)\]/m.exec(result ?? '');
    if (head !== null) this.#open = head[1] ?? '';
    const path = this.#open === null ? null : this.#states.path(this.#open);
    if (path === null || result === null) return;
    if (verb === 'create') {
      // Older versions of the tool leave the file empty, later ones write a newline.
      this.#states.set(path, certainFile(head?.[2] === '0' ? '' : '\n', call), 'written whole');
      return;
    }
    const [from = 0, to = from] = (words[0] ?? '').split(':').map(Number);
    const view = readView(result);
    if (verb === 'edit' && text !== null) {
      if (!/File updated/.test(result)) {
        this.#states.note(path, 'failed: no change');
        return;
      }
      const put = text.split('\n').map((line) => ({ text: line, by: call }));
      const placed = withHunk(this.#states.at(path), from, to - from + 1, put);
      this.#states.set(path, editedPartly(placed, [], call, view), 'an edit of a file that is known in part');
      return;
    }
    if (view.lines.size > 0)
      this.#states.see(path, { ...view, endsEmpty: false }, view.lines.size === Number(head?.[2]));
  }

  blocks(blocks: readonly { path: string; search: string; replace: string }[]): void {
    const { result, call } = this.#states.action;
    for (const { path: written, search, replace } of blocks) {
      const path = this.#states.path(written, this.#states.root);
      if (result === null) {
        this.#states.set(path, UNKNOWN, 'the result of this call is not recorded');
        continue;
      }
      if (FAILED.test(result) || /failed to match/.test(result)) {
        if (blocks.length === 1) this.#states.note(path, 'failed: no change');
        else this.#states.set(path, UNKNOWN, 'one of the blocks failed');
        continue;
      }
      const before = this.#states.at(path);
      if (search === '' && (before.status !== 'certain' || before.text === null)) {
        this.#states.set(
          path,
          before.status === 'unknown'
            ? certainFile(replace, call)
            : before.text === null && before.status === 'certain'
              ? certainFile(replace, call)
              : editedPartly(before, [], call, null),
          'written whole',
        );
        continue;
      }
      const at = before.text === null ? -1 : lineIndexOf(before.text, search);
      if (before.text !== null && at !== -1)
        this.#states.set(
          path,
          certainFile(before.text.slice(0, at) + replace + before.text.slice(at + search.length), call, before),
          'an edit of known content',
        );
      else {
        const base = before.status === 'certain' ? UNKNOWN : before;
        this.#states.set(
          path,
          editedPartly(base, [{ old: search, new: replace, all: false }], call, null),
          'an edit of a file that is known in part',
        );
      }
    }
  }
}

/** The text after an edit; null if the tool would have refused it. */
function editedText(
  before: string,
  edits: readonly { old: string; new: string; all: boolean }[],
  tool: 'claude' | EditorAction['flavour'],
): string | null {
  const isCrlf = tool === 'claude' && before.includes('\r\n');
  let text = tool === 'claude' ? before.replaceAll('\r\n', '\n') : readAs(before, tool);
  for (const edit of edits) {
    const [old, put] = tool === 'swe-agent' ? [tabsExpanded(edit.old), tabsExpanded(edit.new)] : [edit.old, edit.new];
    const at = text.indexOf(old);
    if (old === '' || at === -1 || (!edit.all && text.indexOf(old, at + 1) !== -1)) return null;
    text = edit.all ? text.split(old).join(put) : text.slice(0, at) + put + text.slice(at + old.length);
  }
  return isCrlf ? text.replaceAll('\n', '\r\n') : text;
}

/** The text as an editor in Python reads it. */
function readAs(text: string, flavour: EditorAction['flavour']): string {
  const plain = universalNewlines(text);
  return flavour === 'swe-agent' ? tabsExpanded(plain) : plain;
}

const asTextMode = (file: KnownFile, flavour: EditorAction['flavour']): KnownFile =>
  file.status !== 'certain' || file.text === null ? file : { ...file, text: readAs(file.text, flavour) };

/** The line offsets at which lines occur in a text, as whole lines first; -1 if they do not. */
function lineIndexOf(text: string, lines: string): number {
  for (let at = text.indexOf(lines); at !== -1; at = text.indexOf(lines, at + 1))
    if (at === 0 || text[at - 1] === '\n') return at;
  const at = text.indexOf(lines);
  // The answer says that it was found, so the only place that fits is meant.
  return text.indexOf(lines, at + 1) === -1 ? at : -1;
}
