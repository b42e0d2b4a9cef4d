import { posix } from 'node:path';
import { applyPatch, createTwoFilesPatch, parsePatch, type StructuredPatch } from 'diff';
import type { EditorAction, RecordedAction } from '../actions/action.ts';
import { type SeenResult, seenResult } from '../actions/seen-result.ts';
import { codeEffects, loopEffects } from './code-effects.ts';
import { applyChunks, type PatchOperation, readCodexPatch } from './codex-patch.ts';
import { anyFile, type FileEffect } from './file-effect.ts';
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
import { inDir, type ShellStep, shellEffects } from './shell-effects.ts';
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

/** Claude Code did not run a command, or not to its end. */
const REFUSED = /<tool_use_error>|timed out|doesn't want to|was rejected|interrupted|permission to use/i;

/** Tracks the files of a rollout through its recorded calls, without running anything. */
export class FollowedFiles {
  readonly states: FileState[] = [];
  readonly #files = new Map<string, KnownFile>();
  /** The contents that undo_edit restores. */
  readonly #undo = new Map<string, KnownFile[]>();
  readonly #unless = new Map<string, number[]>();
  #dir: string | null;
  /** The directory of the shell is not known any more. */
  #isLost = false;
  /** Names of functions and aliases of the shell. */
  readonly #defined = new Set<string>();
  /** Names that may be those of one file or folder. */
  #links: string[][] = [];
  /** Whether the shell keeps its directory between calls; null = the record does not say. */
  readonly #keepsDir: boolean | null;
  readonly #root: string | null;
  readonly #trims: boolean;
  readonly #commands: readonly string[];
  #open: string | null = null;
  #action: RecordedAction = NO_ACTION;

  /** @param workdir base of relative paths; null = they stay relative */
  constructor(actions: readonly RecordedAction[], workdir: string | null) {
    this.#root = workdir;
    this.#dir = workdir;
    this.#keepsDir = keepsDirectory(actions);
    const plain = actions.flatMap(({ action, result }) =>
      action.kind === 'shell' && result !== null ? [seenResult(result)] : [],
    );
    this.#trims = !plain.some(({ output, isExact }) => isExact && output.endsWith('\n'));
    this.#commands = actions.flatMap(({ action }) => (action.kind === 'shell' ? [action.command] : []));
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
    if (!isRead && (file !== before || file.status === 'unknown')) this.#changeLinked(path);
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

  /** A file that changed by one of its names did so by all. */
  #changeLinked(path: string): void {
    for (const names of this.#links)
      for (const name of names) {
        if (path !== name && !path.startsWith(`${name}/`)) continue;
        for (const other of names) {
          const same = `${other}${path.slice(name.length)}`;
          if (same !== path && this.#files.has(same) && this.#at(same).status !== 'unknown')
            this.#set(same, UNKNOWN, 'it may be another name of a file that changed');
        }
      }
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
    const { name } = this.#action;
    const start = workdir === null ? (this.#keepsDir === false ? this.#root : this.#dir) : inDir(this.#root, workdir);
    const wasLost = this.#isLost;
    if (workdir !== null || this.#keepsDir === false) this.#isLost = false;
    this.#dir = start;
    const { steps, isAlone, isOneList, defines, words } = shellEffects(command);
    const seen = result === null ? null : seenResult(result);
    // Claude Code tells the status of a failure alone.
    const exit = seen === null ? null : (seen.exit ?? (name === 'Bash' && !REFUSED.test(seen.output) ? 0 : null));
    const hasErrors = seen === null || SHELL_FAILED.test(seen.output) || CUT.test(seen.output);
    const end: ShellEnd = { seen, exit, hasErrors, isAlone: isAlone && (exit !== null || isOneList || !hasErrors) };
    if (words.some((word) => this.#defined.has(word))) {
      this.#effect(anyFile('a function or an alias of an earlier call runs'), 'maybe', end);
      this.#effect({ kind: 'cd', to: null }, 'maybe', end);
    }
    let before: Happened = 'maybe';
    for (const step of steps) {
      before = happenedOf(step, before, end);
      for (const effect of step.effects) this.#effect(effect, before, end);
    }
    if (this.#keepsDir !== false && workdir === null) for (const one of defines) this.#defined.add(one);
    this.#leave(start, wasLost, end);
  }

  /** The directory in which the next command begins. */
  #leave(start: string | null, wasLost: boolean, { seen, exit }: ShellEnd): void {
    const told = /\[Current working directory: (\/[^\]\n]*)\]|Shell cwd was reset to (\/\S+)/.exec(
      this.#action.result ?? '',
    );
    const dir = told?.[1] ?? told?.[2];
    if (dir !== undefined) {
      this.#dir = posix.normalize(dir);
      this.#isLost = false;
      return;
    }
    // A shell of this kind goes where a successful command ended.
    if (this.#action.name === 'Bash' && exit !== 0 && seen !== null) {
      this.#dir = start;
      this.#isLost = wasLost;
    }
    // Nothing says whether this agent's shell keeps its directory.
    if (this.#keepsDir === null && this.#dir !== start) this.#isLost = true;
  }

  #effect(effect: FileEffect, happened: Happened, end: ShellEnd): void {
    const { call } = this.#action;
    switch (effect.kind) {
      case 'show':
        if (end.seen !== null && (end.exit ?? (end.hasErrors ? 1 : 0)) === 0)
          for (const path of this.#placed(effect.path, false)) this.#shown(path, effect, end.seen);
        return;
      case 'cd':
        this.#goTo(effect.to, happened);
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
      case 'below': {
        const dir = effect.dir === null || this.#isLost ? null : this.#path(effect.dir).replace(/\/$/, '');
        for (const path of this.#files.keys())
          if (dir === null || dir === '.' || path.startsWith(`${dir}/`)) this.#set(path, UNKNOWN, effect.why);
        return;
      }
      case 'script':
        this.#script(effect, end);
        return;
      case 'unified-patch': {
        const { seen, exit } = end;
        if (this.#isLost) {
          this.#effect(anyFile('a patch whose directory is not known'), 'maybe', end);
          return;
        }
        const failed = seen === null ? null : exit === null ? end.hasErrors : exit !== 0;
        this.#unifiedPatch(effect, happened === 'maybe' && failed === false ? null : (seen?.output ?? null), failed);
        return;
      }
      case 'codex-patch':
        if (this.#isLost) this.#effect({ kind: 'named', text: effect.text }, happened, end);
        else this.#codexPatch(effect.text, this.#dir);
        return;
      default:
        this.#direct(effect, happened);
    }
  }

  #goTo(to: string | null, happened: Happened): void {
    if (happened === 'no') return;
    if (happened === 'maybe' || to === null || (this.#isLost && !posix.isAbsolute(to))) {
      this.#isLost = true;
      return;
    }
    if (!posix.isAbsolute(to) && this.#dir === null) {
      this.#isLost = to !== '.';
      return;
    }
    this.#dir = inDir(this.#dir, to);
    this.#isLost = false;
  }

  /** The paths that a word may mean. Where the directory is lost, it may be any known file of that name. */
  #placed(path: string, canChange = true): string[] {
    if (!this.#isLost || posix.isAbsolute(path)) return [this.#path(path)];
    if (!canChange) return [];
    const base = posix.basename(path);
    return [...this.#files.keys()].filter((one) => posix.basename(one) === base || one.includes(`/${base}/`));
  }

  #direct(effect: DirectEffect, happened: Happened): void {
    const { call } = this.#action;
    if (happened === 'no' && !(effect.kind === 'touch' && !effect.needsFile)) return;
    const isSure = happened === 'did' && effect.kind !== 'touch' && !this.#isLost;
    if (!isSure) {
      const why =
        effect.kind === 'touch' ? 'a command wrote it' : 'it is not recorded whether this command ran and succeeded';
      for (const path of pathsOf(effect).flatMap((one) => this.#placed(one))) {
        this.#set(path, UNKNOWN, why);
        for (const one of this.#files.keys()) if (one.startsWith(`${path}/`)) this.#set(one, UNKNOWN, why);
      }
      return;
    }
    const [path = '', to = ''] = pathsOf(effect).map((one) => this.#path(one));
    switch (effect.kind) {
      case 'write': {
        const before = this.#at(path);
        if (!effect.appends) this.#set(path, certainFile(effect.text, call, before), 'written whole');
        else if (before.status === 'certain')
          this.#set(path, certainFile((before.text ?? '') + effect.text, call, before), 'appended to known content');
        else this.#set(path, partialFile(before.lines), 'an append whose place is not shown');
        return;
      }
      case 'delete':
        for (const one of this.#files.keys()) if (one.startsWith(`${path}/`)) this.#set(one, GONE, 'deleted');
        if (!effect.recursive || this.#files.has(path)) this.#set(path, GONE, 'deleted');
        this.#links = this.#links.filter((names) => !names.includes(path));
        return;
      case 'link':
        this.#link(effect, path, to);
        return;
      case 'copy':
      case 'move':
        this.#carry(effect, path, to);
        return;
      default:
        return;
    }
  }

  #carry(
    { kind, from: named, to: asked }: Extract<FileEffect, { kind: 'copy' | 'move' }>,
    from: string,
    to: string,
  ): void {
    const isMove = kind === 'move';
    const inside = posix.join(to, posix.basename(from));
    const below = [...this.#files.keys()].filter((path) => path.startsWith(`${from}/`));
    const isFolder =
      /(?:^|\/)\.{0,2}$/.test(asked) ||
      to === this.#root ||
      [...this.#files.keys()].some((path) => path.startsWith(`${to}/`));
    // An unseen name without an extension may be a folder's.
    const mayBeFolder =
      !isFolder &&
      !this.#files.has(to) &&
      !/\.\w+$/.test(to) &&
      (/\.\w+$/.test(from) || this.#isFolderName(posix.basename(to)));
    if (below.length > 0 || /(?:^|\/)\.{0,2}$/.test(named)) {
      for (const path of below) if (isMove) this.#set(path, GONE, 'moved away');
      for (const path of [...this.#files.keys()])
        if (path.startsWith(`${to}/`) && !path.startsWith(`${from}/`))
          this.#set(path, UNKNOWN, 'a folder was put there');
      return;
    }
    const file = this.#at(from);
    const known = file.status === 'unknown' || (file.status === 'certain' && file.text === null) ? UNKNOWN : file;
    const why =
      known === UNKNOWN
        ? 'a copy of a file that is not known'
        : isMove
          ? 'moved, content known'
          : 'copied, content known';
    const target = isFolder ? inside : to;
    if (mayBeFolder) {
      this.#set(to, UNKNOWN, 'it may be a folder, into which the file went');
      if (this.#files.has(inside)) this.#set(inside, UNKNOWN, 'a file may have been put there');
    } else if (target !== from) this.#set(target, known, why);
    if (isMove) this.#links = this.#links.filter((names) => !names.includes(target) && !names.includes(from));
    if (isMove && target !== from) this.#set(from, GONE, 'moved away');
  }

  /** Whether a command of the rollout, whenever it ran, has a path through a folder of this name. */
  #isFolderName(name: string): boolean {
    return this.#commands.some((command) => command.includes(`${name}/`) || command.includes(`cd ${name}`));
  }

  #link({ from }: Extract<FileEffect, { kind: 'link' }>, source: string, to: string): void {
    const inside = posix.join(to, posix.basename(source));
    const fromThere = inDir(posix.dirname(to), from);
    this.#set(to, UNKNOWN, 'a link');
    this.#links.push([to, inside, source, fromThere]);
  }

  /** What a script does, by its text as it is known now. */
  #script(effect: Extract<FileEffect, { kind: 'script' }>, end: ShellEnd): void {
    const { language, args } = effect;
    const [path] = this.#placed(effect.path, false);
    const file = path === undefined ? UNKNOWN : this.#at(path);
    const text = [...file.lines.values()].map((line) => line.text).join('\n');
    const isShell = language === 'shell' || /^#!.*\b(?:ba|da|z|k)?sh\b/.test(text) || /\.sh$/.test(effect.path);
    const what = `${effect.path} ${args}`.trim();
    const isWhole = file.status === 'certain' && file.text !== null;
    if (text !== '')
      for (const one of isShell ? loopEffects(text) : codeEffects(text, args, what)) this.#effect(one, 'maybe', end);
    if (!isWhole) this.#effect({ kind: 'named', text: args }, 'maybe', end);
    this.#effect({ kind: 'runs', what }, 'maybe', end);
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

type DirectEffect = Extract<FileEffect, { kind: 'write' | 'copy' | 'move' | 'delete' | 'link' | 'touch' }>;

/** How a command ended. */
interface ShellEnd {
  seen: SeenResult | null;
  exit: number | null;
  /** The output has an error of the shell or of a file tool, or is not whole. */
  hasErrors: boolean;
  isAlone: boolean;
}

/** Whether a part of a command ran and succeeded. */
type Happened = 'did' | 'no' | 'maybe';

function happenedOf(
  { effects, runs, isProven, isLoud }: ShellStep,
  before: Happened,
  { seen, exit, hasErrors, isAlone }: ShellEnd,
): Happened {
  if (seen === null) return 'maybe';
  if (isProven && exit === 0) return 'did';
  const failed = exit === null ? hasErrors : exit !== 0;
  // Of several files, some may have changed before the one that failed.
  if (isAlone && isProven) return !failed ? 'did' : effects.length === 1 ? 'no' : 'maybe';
  const ran = runs === 'always' || (runs === 'after' && before === 'did');
  return ran && isLoud && !hasErrors ? 'did' : 'maybe';
}

/** The files that an effect changes. */
function pathsOf(effect: DirectEffect): string[] {
  switch (effect.kind) {
    case 'copy':
    case 'move':
    case 'link':
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
/** Tools whose shell keeps its directory between calls, and those that begin anew each time. */
const KEEPS_DIR = /^(?:Bash|execute_bash|run|cd|pwd|ls)$/;
const BEGINS_ANEW = /^(?:shell|shell_command|local_shell|exec_command|container\.exec)$/;

function keepsDirectory(actions: readonly RecordedAction[]): boolean | null {
  if (actions.some(({ name }) => KEEPS_DIR.test(name))) return true;
  const isNew = actions.some(
    ({ name, action, result }) =>
      BEGINS_ANEW.test(name) ||
      (action.kind === 'shell' && action.workdir !== null) ||
      /^<returncode>/.test(result ?? ''),
  );
  return isNew ? false : null;
}

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
