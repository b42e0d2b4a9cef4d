import { posix } from 'node:path';
import { applyPatch, createTwoFilesPatch, parsePatch, type StructuredPatch } from 'diff';
import type { EditorAction, RecordedAction } from '../actions/action.ts';
import { seenResult } from '../actions/seen-result.ts';
import { applyChunks, type PatchOperation, readCodexPatch } from './codex-patch.ts';
import {
  certainFile,
  contentHash,
  type FileStatus,
  GONE,
  type KnownFile,
  type KnownLine,
  linesOf,
  partialFile,
  rangesOf,
  tabsExpanded,
  UNKNOWN,
  universalNewlines,
} from './known-file.ts';
import { type FileEffect, inDir, shellEffects } from './shell-effects.ts';
import { editedPartly, withHunk } from './text-edits.ts';
import { afterView, readView, type View } from './views.ts';

/** The effect of a call on a file, and the state of the file afterwards. */
export interface TouchedFile {
  turn: number;
  call: number;
  path: string;
  status: FileStatus;
  /** The file does not exist. */
  deleted: boolean;
  sha256: string | null;
  /** The known line ranges of a partial file. */
  lines: [number, number][] | null;
  /** null if the content before or after is not certain. */
  diff: string | null;
  changed: boolean;
  why: string;
  /** Calls since the content was last seen that ran programs with unrecorded effects. */
  unless: number[];
}

/** A file after each call that touched it. */
export interface FileState {
  change: TouchedFile;
  file: KnownFile;
}

/** A text that a tool writes when it did nothing. */
const FAILED =
  /<tool_use_error>|^\s*(?:ERROR\b|Error\b|Failed\b)|No replacement was performed|Invalid `path`|Cannot overwrite|did not appear verbatim|does not exist|No such file|not been read yet|has been modified since|not found in file|is not unique|Found \d+ matches|failed to (?:exactly )?match|Permission denied|syntax error\(s\)|Invalid patch|No changes to make|are (?:exactly )?the same|permission to use|was rejected|doesn't want to/;
const CUT =
  /\[…\]|\.\.\.\(truncated\)|truncated|output_head|omitted|elided|<response clipped>|characters? (?:left out|removed)/;

/** Tracks the files of a rollout through its recorded calls, without running anything. */
export class FollowedFiles {
  readonly states: FileState[] = [];
  readonly #files = new Map<string, KnownFile>();
  /** The contents that undo_edit restores. */
  readonly #undo = new Map<string, KnownFile[]>();
  readonly #unless = new Map<string, number[]>();
  #dir: string | null;
  readonly #keepsDir: boolean;
  readonly #root: string | null;
  readonly #trims: boolean;
  #open: string | null = null;
  #action: RecordedAction = NO_ACTION;

  /** @param workdir base of relative paths; null = they stay relative */
  constructor(actions: readonly RecordedAction[], workdir: string | null) {
    this.#root = workdir;
    this.#dir = workdir;
    this.#keepsDir = actions.some(({ name }) => KEEPS_DIR.test(name));
    const plain = actions.flatMap(({ action, result }) =>
      action.kind === 'shell' && result !== null ? [seenResult(result)] : [],
    );
    this.#trims = !plain.some(({ output, isExact }) => isExact && output.endsWith('\n'));
    for (const action of actions) this.#follow(action);
  }

  /** All paths, with what is known of them at the end. */
  get files(): ReadonlyMap<string, KnownFile> {
    return this.#files;
  }

  #follow(recorded: RecordedAction): void {
    this.#action = recorded;
    const { action, result } = recorded;
    switch (action.kind) {
      case 'shell':
        if (!action.isInput) this.#shell(action.command, action.workdir, result);
        return;
      case 'write': {
        const path = this.#path(action.path);
        if (this.#happened(path))
          this.#set(path, certainFile(action.content, recorded.call, this.#at(path)), 'written whole');
        return;
      }
      case 'edit':
        this.#edit(this.#path(action.path), action.edits, 'claude');
        return;
      case 'read':
        this.#read(this.#path(action.path), action.offset === null && action.limit === null);
        return;
      case 'editor':
        this.#editor(action);
        return;
      case 'window':
        this.#window(action.verb, action.words, action.text);
        return;
      case 'patch':
        this.#codexPatch(action.text, action.workdir ?? this.#root);
        return;
      case 'blocks':
        this.#blocks(action.blocks);
        return;
      default:
        return;
    }
  }

  #at(path: string): KnownFile {
    return this.#files.get(path) ?? UNKNOWN;
  }

  /** If nothing else settles it, a relative path is the only known file that ends in it. */
  #path(path: string, dir: string | null = this.#dir): string {
    const full = inDir(dir, path);
    if (posix.isAbsolute(full)) return full;
    const ends = [...this.#files.keys()].filter((one) => one.endsWith(`/${full}`));
    return ends.length === 1 ? (ends[0] ?? '') : full;
  }

  /** Whether a tool did what was asked. If its result was not recorded, the file becomes unknown. */
  #happened(path: string): boolean {
    const { result } = this.#action;
    if (result === null) {
      this.#set(path, UNKNOWN, 'the result of this call is not recorded');
      return false;
    }
    if (!FAILED.test(result.slice(0, 400))) return true;
    this.#note(path, 'failed: no change');
    return false;
  }

  /** Adds a row for a file that the call leaves unchanged. */
  #note(path: string, why: string): void {
    if (this.#files.has(path)) this.#set(path, this.#at(path), why);
  }

  #set(path: string, file: KnownFile, why: string, isRead = false): void {
    const before = this.#files.get(path) ?? UNKNOWN;
    const { call, turn } = this.#action;
    this.#files.set(path, file);
    if (file !== before) this.#unless.delete(path);
    const isCertain = before.status === 'certain' && file.status === 'certain';
    const isNew =
      file.status === 'certain' &&
      before.status !== 'certain' &&
      why === 'written whole' &&
      !this.states.some(({ change }) => change.path === path && change.status !== 'unknown');
    this.states.push({
      file,
      change: {
        turn,
        call,
        path,
        status: file.status,
        deleted: file.status === 'certain' && file.text === null,
        sha256: contentHash(file),
        lines: file.status === 'partial' ? rangesOf(file) : null,
        diff: isCertain
          ? fileDiff(path, before.text, file.text)
          : isNew && this.#isCreated()
            ? fileDiff(path, null, file.text)
            : null,
        changed: !isRead && (isCertain ? before.text !== file.text : file !== before),
        why,
        unless: this.#unless.get(path) ?? [],
      },
    });
  }

  /** The answer says that the file did not exist before. */
  #isCreated(): boolean {
    const { action } = this.#action;
    return action.kind !== 'shell' && /created successfully|^A /m.test(seenResult(this.#action.result ?? '').output);
  }

  #edit(
    path: string,
    edits: readonly { old: string; new: string; all: boolean }[],
    tool: 'claude' | EditorAction['flavour'],
  ): void {
    if (!this.#happened(path)) return;
    const { call, result } = this.#action;
    const before = this.#at(path);
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
          this.#set(path, after, 'an edit of known content');
          return;
        }
        this.#set(path, seen.file, 'the answer contradicts what was known: somebody else changed it');
        return;
      }
      const lines = new Map([...view.lines].map(([number, text]): [number, KnownLine] => [number, { text, by: null }]));
      this.#set(path, partialFile(lines), 'an edit that does not fit what was known: somebody else changed it');
      return;
    }
    const old =
      tool === 'swe-agent'
        ? edits.map((edit) => ({ ...edit, old: tabsExpanded(edit.old), new: tabsExpanded(edit.new) }))
        : edits;
    this.#set(path, editedPartly(before, old, call, view), 'an edit of a file that is known in part');
  }

  #read(path: string, isWhole: boolean): void {
    const { result } = this.#action;
    if (result === null) return;
    const view = readView(result);
    if (view.lines.size === 0) {
      if (/does not exist|No such file/.test(result)) {
        if (this.#files.has(path) && this.#at(path).text !== null) this.#set(path, GONE, 'it is not there');
        else this.#note(path, 'failed: no change');
      }
      return;
    }
    this.#see(path, view, isWhole && !CUT.test(result.slice(-400)) && view.lines.has(1));
  }

  #see(path: string, view: View, isWhole: boolean): void {
    const { file, contradicts } = afterView(this.#at(path), view, isWhole);
    const why = contradicts
      ? 'the view contradicts what was known: somebody else changed it'
      : file.status === 'certain'
        ? 'it was known'
        : isWhole
          ? 'the whole file, by a view that hides line ends'
          : 'lines shown';
    this.#set(path, file, why, true);
  }

  #editor(action: EditorAction): void {
    const path = this.#path(action.path);
    const { call, result } = this.#action;
    const stack = this.#undo.get(path) ?? [];
    this.#undo.set(path, stack);
    switch (action.command) {
      case 'view':
        this.#read(path, action.viewRange === null);
        return;
      case 'create':
        if (!this.#happened(path)) return;
        this.#set(path, certainFile(action.fileText ?? '', call, this.#at(path)), 'written whole');
        stack.push(this.#at(path));
        return;
      case 'str_replace':
      case 'insert': {
        const before = this.#at(path);
        const seen = this.states.length;
        if (action.command === 'insert') this.#insert(path, action);
        else this.#edit(path, [{ old: action.old ?? '', new: action.new ?? '', all: false }], action.flavour);
        const last = this.states.at(-1)?.change;
        if (this.states.length > seen && last?.changed === true) stack.push(asTextMode(before, action.flavour));
        return;
      }
      case 'undo_edit': {
        if (!this.#happened(path)) return;
        const before = stack.pop() ?? UNKNOWN;
        const { file } = afterView(before, readView(result ?? ''), !CUT.test((result ?? '').slice(-400)));
        this.#set(path, file, 'undone');
        return;
      }
      default:
        return;
    }
  }

  #insert(path: string, { insertLine, new: text, flavour }: EditorAction): void {
    if (!this.#happened(path)) return;
    const { call, result } = this.#action;
    const before = this.#at(path);
    const view = readView(result ?? '');
    const at = insertLine ?? 0;
    if (before.status === 'certain' && before.text !== null) {
      const lines = readAs(before.text, flavour).split('\n');
      lines.splice(at, 0, ...readAs(text ?? '', flavour).split('\n'));
      const after = certainFile(lines.join('\n'), call, before);
      const seen = afterView(after, view, false);
      this.#set(
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
    this.#set(path, editedPartly(placed, [], call, view), 'an edit of a file that is known in part');
  }

  #window(verb: string, words: readonly string[], text: string | null): void {
    const { call, result } = this.#action;
    const head = /^\[File: (.+) \((\d+) lines total\)\]/m.exec(result ?? '');
    if (head !== null) this.#open = head[1] ?? '';
    const path = this.#open === null ? null : this.#path(this.#open);
    if (path === null || result === null) return;
    if (verb === 'create') {
      // Older versions of the tool leave the file empty, later ones write a newline.
      this.#set(path, certainFile(head?.[2] === '0' ? '' : '\n', call), 'written whole');
      return;
    }
    const [from = 0, to = from] = (words[0] ?? '').split(':').map(Number);
    const view = readView(result);
    if (verb === 'edit' && text !== null) {
      if (!/File updated/.test(result)) {
        this.#note(path, 'failed: no change');
        return;
      }
      const put = text.split('\n').map((line) => ({ text: line, by: call }));
      const placed = withHunk(this.#at(path), from, to - from + 1, put);
      this.#set(path, editedPartly(placed, [], call, view), 'an edit of a file that is known in part');
      return;
    }
    if (view.lines.size > 0) this.#see(path, { ...view, endsEmpty: false }, view.lines.size === Number(head?.[2]));
  }

  #codexPatch(text: string, workdir: string | null): void {
    const { result, call } = this.#action;
    const operations = readCodexPatch(text);
    if (typeof operations === 'string') return;
    const paths = operations.map(({ path }) => this.#path(path, workdir));
    if (result === null) {
      for (const path of paths) this.#set(path, UNKNOWN, 'the result of this call is not recorded');
      return;
    }
    const seen = seenResult(result);
    const failed = seen.exit === null ? !/Success|Done|^$/.test(seen.output) : seen.exit !== 0;
    let stop = operations.length;
    if (failed) {
      stop = operations.findIndex(({ path }) => seen.output.includes(path));
      if (stop === -1) {
        if (!/Invalid patch/.test(seen.output))
          for (const path of paths) this.#set(path, UNKNOWN, 'the patch failed somewhere');
        return;
      }
    }
    for (const [i, operation] of operations.entries()) {
      const path = paths[i] ?? '';
      if (i >= stop) this.#note(path, 'failed: no change');
      else this.#codexOperation(operation, path, workdir, call);
    }
  }

  #codexOperation(operation: PatchOperation, path: string, workdir: string | null, call: number): void {
    if (operation.kind === 'delete') {
      this.#set(path, GONE, 'deleted');
      return;
    }
    const before = this.#at(path);
    if (operation.kind === 'add') {
      this.#set(path, certainFile(operation.text, call, before), 'written whole');
      return;
    }
    const to = operation.moveTo === null ? path : this.#path(operation.moveTo, workdir);
    let after: KnownFile;
    const applied =
      before.status === 'certain' && before.text !== null ? applyChunks(before.text, operation.chunks) : null;
    if (applied !== null && 'text' in applied) after = certainFile(applied.text, call, before);
    else
      after = editedPartly(
        before.status === 'certain' ? UNKNOWN : before,
        operation.chunks.map(({ old, new: put }) => ({ old: old.join('\n'), new: put.join('\n'), all: false })),
        call,
        null,
      );
    const why = after.status === 'certain' ? 'an edit of known content' : 'an edit of a file that is known in part';
    if (to === path) {
      this.#set(path, after, why);
      return;
    }
    this.#set(path, GONE, 'moved away');
    this.#set(to, after, why);
  }

  #blocks(blocks: readonly { path: string; search: string; replace: string }[]): void {
    const { result, call } = this.#action;
    for (const { path: written, search, replace } of blocks) {
      const path = this.#path(written, this.#root);
      if (result === null) {
        this.#set(path, UNKNOWN, 'the result of this call is not recorded');
        continue;
      }
      if (FAILED.test(result) || /failed to match/.test(result)) {
        if (blocks.length === 1) this.#note(path, 'failed: no change');
        else this.#set(path, UNKNOWN, 'one of the blocks failed');
        continue;
      }
      const before = this.#at(path);
      if (search === '' && (before.status !== 'certain' || before.text === null)) {
        this.#set(
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
        this.#set(
          path,
          certainFile(before.text.slice(0, at) + replace + before.text.slice(at + search.length), call, before),
          'an edit of known content',
        );
      else {
        const base = before.status === 'certain' ? UNKNOWN : before;
        this.#set(
          path,
          editedPartly(base, [{ old: search, new: replace, all: false }], call, null),
          'an edit of a file that is known in part',
        );
      }
    }
  }

  #shell(command: string, workdir: string | null, result: string | null): void {
    const start = workdir === null ? (this.#keepsDir ? this.#dir : this.#root) : inDir(this.#root, workdir);
    const { effects, isAlone, isUnderstood, dir } = shellEffects(command, start);
    const seen = result === null ? null : seenResult(result);
    const failed = seen === null ? null : seen.exit === null ? SHELL_FAILED.test(seen.output) : seen.exit !== 0;
    // A recorded status of 0 covers only the last command.
    const isSure = failed === false && (isAlone || seen?.exit === 0);
    for (const effect of effects) this.#effect(effect, { seen, failed, isSure, isAlone, isUnderstood });
    if (this.#keepsDir && failed !== true) this.#dir = dir;
  }

  #effect(
    effect: FileEffect,
    run: {
      seen: ReturnType<typeof seenResult> | null;
      failed: boolean | null;
      isSure: boolean;
      isAlone: boolean;
      isUnderstood: boolean;
    },
  ): void {
    const { call } = this.#action;
    const { seen, failed, isSure, isAlone } = run;
    switch (effect.kind) {
      case 'show':
        if (failed === false && seen !== null) this.#shown(this.#path(effect.path), effect, seen);
        return;
      case 'runs': {
        for (const [path, { status }] of this.#files)
          if (status === 'certain') this.#unless.set(path, [...(this.#unless.get(path) ?? []), call]);
        return;
      }
      case 'named':
        for (const path of this.#named(effect.text))
          this.#set(path, UNKNOWN, 'a command that names it could have changed it');
        return;
      case 'below':
        for (const path of this.#files.keys())
          if (effect.dir === null || path.startsWith(`${effect.dir}/`)) this.#set(path, UNKNOWN, effect.why);
        return;
      case 'unified-patch':
        this.#unifiedPatch(effect, seen?.output ?? null, failed);
        return;
      case 'codex-patch':
        this.#codexPatch(effect.text, this.#root);
        return;
      default:
        break;
    }
    // A single command that failed did nothing.
    if (failed === true && isAlone && effect.kind !== 'touch') return;
    if (failed === true && isAlone && /can't read|No such file|cannot|not found/.test(seen?.output ?? '')) return;
    const paths = pathsOf(effect).map((path) => this.#path(path));
    if (!isSure || effect.kind === 'touch') {
      for (const path of paths)
        this.#set(
          path,
          UNKNOWN,
          effect.kind === 'touch' ? 'a command wrote it' : 'it is not recorded whether all commands succeeded',
        );
      return;
    }
    if (effect.kind === 'write') {
      const [path = ''] = paths;
      const before = this.#at(path);
      if (!effect.appends) {
        this.#set(path, certainFile(effect.text, call, before), 'written whole');
        return;
      }
      if (before.status === 'certain')
        this.#set(path, certainFile((before.text ?? '') + effect.text, call, before), 'appended to known content');
      else this.#set(path, partialFile(before.lines), 'an append whose place is not shown');
      return;
    }
    if (effect.kind === 'delete') {
      for (const path of this.#files.keys()) if (path.startsWith(`${paths[0]}/`)) this.#set(path, GONE, 'deleted');
      const isFolder = effect.recursive && !this.#files.has(paths[0] ?? '');
      if (!isFolder) this.#set(paths[0] ?? '', GONE, 'deleted');
      return;
    }
    const from = this.#at(this.#path(effect.from));
    let to = this.#path(effect.to);
    if ([...this.#files.keys()].some((path) => path.startsWith(`${to}/`)))
      to = posix.join(to, posix.basename(effect.from));
    if (from.status === 'unknown' || (from.status === 'certain' && from.text === null))
      this.#set(to, UNKNOWN, 'a copy of a file that is not known');
    else this.#set(to, from, effect.kind === 'move' ? 'moved, content known' : 'copied, content known');
    if (effect.kind === 'move') this.#set(this.#path(effect.from), GONE, 'moved away');
  }

  #shown(
    path: string,
    { from, to, isNumbered }: Extract<FileEffect, { kind: 'show' }>,
    seen: ReturnType<typeof seenResult>,
  ): void {
    const { output } = seen;
    if (CUT.test(output) && output.length > 1500) return;
    const isWhole = from === 1 && to === null;
    if (isNumbered) {
      this.#see(path, { ...readView(output), endsEmpty: false }, isWhole);
      return;
    }
    const isExact = seen.isExact && !this.#hidesEnds() && !output.includes('\ufffd');
    const before = this.#at(path);
    if (isWhole && isExact) {
      if (before.status === 'certain' && before.text === output) {
        this.#set(path, before, 'it was known', true);
        return;
      }
      const why =
        before.status === 'certain'
          ? 'the whole file, printed, contradicts what was known'
          : 'the whole file, printed as it is';
      this.#set(path, certainFile(output, null, before), why, true);
      return;
    }
    const texts = linesOf(output);
    const lines = new Map(texts.map((text, i) => [from + i, text] as const));
    this.#see(path, { lines, endsEmpty: false }, isWhole);
  }

  /** Whether results may lack a final newline, or carriage returns, that the program printed. */
  #hidesEnds(): boolean {
    const { name, action, result } = this.#action;
    if (HIDES_ENDS.test(name) || (action.kind === 'shell' && this.#isLine())) return true;
    return this.#trims && !/^\{|^Exit code|^<returncode>/.test(result ?? '');
  }

  /** The first word of a line of SWE-agent's shell names it. */
  #isLine(): boolean {
    const { name, action } = this.#action;
    return action.kind === 'shell' && name !== 'bash' && action.command.startsWith(name);
  }

  #named(text: string): string[] {
    const patterns = (text.match(/[\w./@+*?[\]-]*[*?][\w./@+*?[\]-]*/g) ?? []).map(
      (glob) =>
        new RegExp(
          `(?:^|/)${glob
            .replace(/[.+^${}()|\\]/g, '\\$&')
            .replaceAll('*', '[^/]*')
            .replaceAll('?', '[^/]')}$`.replace(/\[(?![^\]]*\])/g, '\\['),
        ),
    );
    return [...this.#files.keys()].filter((path) => {
      const base = posix.basename(path);
      const at = text.indexOf(base);
      const isNamed =
        at !== -1 && new RegExp(`(?<![\\w.-])${base.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`).test(text);
      return isNamed || patterns.some((pattern) => pattern.test(path));
    });
  }

  #unifiedPatch(
    { dir, strip, text }: Extract<FileEffect, { kind: 'unified-patch' }>,
    output: string | null,
    failed: boolean | null,
  ): void {
    let patches: StructuredPatch[];
    try {
      patches = parsePatch(text);
    } catch {
      return;
    }
    for (const patch of patches) {
      const name = (one: string | undefined) => {
        const plain = (one ?? '').replace(/\t.*$/, '').trim();
        return plain === '/dev/null' ? null : plain.split('/').slice(strip).join('/');
      };
      const [old, put] = [name(patch.oldFileName), name(patch.newFileName)];
      const target = put ?? old;
      if (target === null || target === '') continue;
      const path = this.#path(target, dir.startsWith('/') ? dir : this.#dir);
      if (output === null) this.#set(path, UNKNOWN, 'the result of this call is not recorded');
      else this.#patchOne(path, patch, { isNew: old === null, isGone: put === null }, output, failed);
    }
  }

  #patchOne(
    path: string,
    patch: StructuredPatch,
    { isNew, isGone }: { isNew: boolean; isGone: boolean },
    output: string,
    failed: boolean | null,
  ): void {
    const { call } = this.#action;
    const part = output.slice(Math.max(0, output.indexOf(posix.basename(path))));
    const isFailed =
      failed === true || /FAILED|ignored|can't find file|malformed|does not apply|Only garbage/.test(output);
    if (isFailed) {
      const [, bad, all] = /(\d+) out of (\d+) hunks? (?:FAILED|ignored)/.exec(part) ?? [];
      const isNone =
        (bad !== undefined && bad === all) || /can't find file|does not apply|malformed|Only garbage/.test(output);
      if (isNone) this.#note(path, 'failed: no change');
      else this.#set(path, UNKNOWN, 'only a part of the patch was applied');
      return;
    }
    if (isGone) {
      this.#set(path, GONE, 'deleted');
      return;
    }
    const before = this.#at(path);
    if (isNew) {
      const text = applyPatch('', patch, { autoConvertLineEndings: false });
      this.#set(path, text === false ? UNKNOWN : certainFile(text, call, before), 'written whole');
      return;
    }
    if (before.status === 'certain' && before.text !== null) {
      const text = applyPatch(before.text, patch, {
        autoConvertLineEndings: false,
        fuzzFactor: /fuzz/.test(part) ? 2 : 0,
      });
      if (text !== false) {
        this.#set(path, certainFile(text, call, before), 'an edit of known content');
        return;
      }
    }
    if (/offset|fuzz/.test(part)) {
      this.#set(path, partialFile(new Map()), 'a patch whose place is not shown');
      return;
    }
    let file = before.status === 'certain' ? UNKNOWN : before;
    for (const hunk of patch.hunks) {
      const put = hunk.lines.filter((line) => /^[ +]/.test(line) || line === '');
      const lines = put.map((line, i): KnownLine => {
        const text = line.slice(1);
        const known = line.startsWith('+') ? undefined : file.lines.get(hunk.newStart + i);
        return known !== undefined && known.text === text ? known : { text, by: line.startsWith('+') ? call : null };
      });
      file = withHunk(file, hunk.newStart, hunk.oldLines, lines);
    }
    this.#set(path, file, 'an edit of a file that is known in part');
  }
}

type DirectEffect = Exclude<
  FileEffect,
  { kind: 'show' | 'runs' | 'named' | 'below' | 'unified-patch' | 'codex-patch' }
>;

/** The files that an effect changes. */
function pathsOf(effect: DirectEffect): string[] {
  switch (effect.kind) {
    case 'copy':
      return [effect.to];
    case 'move':
      return [effect.from, effect.to];
    default:
      return [effect.path];
  }
}

const NO_ACTION: RecordedAction = {
  call: 0,
  turn: 0,
  name: '',
  action: { kind: 'none', reason: '' },
  result: null,
  resultTurn: null,
};
/** Tools whose shell keeps its directory between calls. */
const KEEPS_DIR = /^(?:Bash|execute_bash|run|cd|pwd|ls)$/;
/** Tools that strip blank space from a program's output. */
const HIDES_ENDS = /^(?:Bash|execute_bash|run)$/;
const SHELL_FAILED =
  /^(?:\/\S*\/)?(?:bash|sh|cat|tee|mv|cp|rm|sed|patch|touch|mkdir|ls|head|tail|nl)(?:: line \d+)?: |No such file or directory|Permission denied|^fatal: /m;

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

/** A unified diff of two contents; null = no such file. Empty if they are equal. */
export function fileDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const name = path.replace(/^\//, '');
  const whole = createTwoFilesPatch(
    before === null ? '/dev/null' : `a/${name}`,
    after === null ? '/dev/null' : `b/${name}`,
    before ?? '',
    after ?? '',
    undefined,
    undefined,
    { context: 3 },
  );
  return whole.slice(whole.indexOf('--- '));
}
