import { posix } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { RecordedAction } from '../actions/action.ts';
import { seenResult } from '../actions/seen-result.ts';
import { noAction } from '../actions/tools/not-programs.ts';
import { contentHash, type FileStatus, type KnownFile, rangesOf, UNKNOWN } from './known-file.ts';
import { inDir } from './shell-effects.ts';
import { afterView, type View } from './views.ts';

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
export const FAILED =
  /<tool_use_error>|^\s*(?:ERROR\b|Error\b|Failed\b)|No replacement was performed|Invalid `path`|Cannot overwrite|did not appear verbatim|does not exist|No such file|not been read yet|has been modified since|not found in file|is not unique|Found \d+ matches|failed to (?:exactly )?match|Permission denied|syntax error\(s\)|Invalid patch|No changes to make|are (?:exactly )?the same|permission to use|was rejected|doesn't want to/;

const NO_ACTION: RecordedAction = {
  call: 0,
  turn: 0,
  name: '',
  action: noAction(''),
  result: null,
  resultTurn: null,
};

/** The known content of each file, and each state that it had, in the order of the calls. */
export class FileStates {
  readonly states: FileState[] = [];
  /** The call that is followed now. */
  action: RecordedAction = NO_ACTION;
  /** The directory of relative paths. */
  dir: string | null;
  readonly #files = new Map<string, KnownFile>();
  readonly #unless = new Map<string, number[]>();
  /** Files of interest only if they change. */
  readonly #watched = new Map<string, KnownFile>();
  /** Names that may be those of one file or folder. */
  #links: string[][] = [];

  /** @param root the directory in which the rollout begins; null = not known */
  constructor(readonly root: string | null) {
    this.dir = root;
  }

  /** All paths, with what is known of them now. */
  get files(): ReadonlyMap<string, KnownFile> {
    return this.#files;
  }

  /** The paths at this moment: what is set while they are walked is not among them. */
  paths(): string[] {
    return [...this.#files.keys()];
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  at(path: string): KnownFile {
    return this.#files.get(path) ?? UNKNOWN;
  }

  /** If nothing else settles it, a relative path is the only known file that ends in it. */
  path(path: string, dir: string | null = this.dir): string {
    const full = inDir(dir, path);
    if (posix.isAbsolute(full)) return full;
    const ends = [...this.#files.keys()].filter((one) => one.endsWith(`/${full}`));
    return ends.length === 1 ? (ends[0] ?? '') : full;
  }

  /** Whether a tool did what was asked. If its result was not recorded, the file becomes unknown. */
  happened(path: string): boolean {
    const { result } = this.action;
    if (result === null) {
      this.set(path, UNKNOWN, 'the result of this call is not recorded');
      return false;
    }
    if (!FAILED.test(result.slice(0, 400))) return true;
    this.note(path, 'failed: no change');
    return false;
  }

  /** Adds a row for a file that the call leaves unchanged. */
  note(path: string, why: string): void {
    if (this.#files.has(path)) this.set(path, this.at(path), why);
  }

  set(path: string, file: KnownFile, why: string, isRead = false): void {
    const before = this.#files.get(path) ?? UNKNOWN;
    if (isRead && before === this.#watched.get(path)) return;
    const { call, turn } = this.action;
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

  see(path: string, view: View, isWhole: boolean): void {
    const { file, contradicts } = afterView(this.at(path), view, isWhole);
    const why = contradicts
      ? 'the view contradicts what was known: somebody else changed it'
      : file.status === 'certain'
        ? 'it was known'
        : isWhole
          ? 'the whole file, by a view that hides line ends'
          : 'lines shown';
    this.set(path, file, why, true);
  }

  /** A program ran whose effects on known files are not recorded. */
  ranProgram(): void {
    for (const [path, { status }] of this.#files)
      if (status === 'certain') this.#unless.set(path, [...(this.#unless.get(path) ?? []), this.action.call]);
  }

  /** From now on these files, and those known, have a content that is like no other. */
  watch(paths: readonly string[]): void {
    for (const path of [...paths, ...this.paths()]) {
      const file: KnownFile = { status: 'certain', text: `\0${path}`, lines: new Map(), isWhole: true };
      this.#watched.set(path, file);
      this.#files.set(path, file);
    }
    this.#unless.clear();
  }

  /** The calls that ran programs since; null if the file was changed, or could have been, by what the record shows. */
  untouched(path: string): number[] | null {
    return this.#files.get(path) === this.#watched.get(path) ? (this.#unless.get(path) ?? []) : null;
  }

  /** From now on these may be names of one file. */
  addNames(names: string[]): void {
    this.#links.push(names);
  }

  /** These names are no longer those of a file with others. */
  unlink(...paths: string[]): void {
    this.#links = this.#links.filter((names) => !paths.some((path) => names.includes(path)));
  }

  /** A file that changed by one of its names did so by all. */
  #changeLinked(path: string): void {
    for (const names of this.#links)
      for (const name of names) {
        if (path !== name && !path.startsWith(`${name}/`)) continue;
        for (const other of names) {
          const same = `${other}${path.slice(name.length)}`;
          if (same !== path && this.#files.has(same) && this.at(same).status !== 'unknown')
            this.set(same, UNKNOWN, 'it may be another name of a file that changed');
        }
      }
  }

  /** The answer says that the file did not exist before. */
  #isCreated(): boolean {
    const { action } = this.action;
    return action.kind !== 'shell' && /created successfully|^A /m.test(seenResult(this.action.result ?? '').output);
  }
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
