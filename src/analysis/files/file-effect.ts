/** The effects of a part of a command on files, as far as its text shows. Paths are as the command has them. */
export type FileEffect =
  | { kind: 'write'; path: string; text: string; appends: boolean }
  | { kind: 'copy' | 'move'; from: string; to: string }
  | { kind: 'delete'; path: string; recursive: boolean }
  /** Two names of one file or folder from now on. */
  | { kind: 'link'; from: string; to: string }
  /** The output is this file, or its lines `from` to `to`. */
  | { kind: 'show'; path: string; from: number; to: number | null; isNumbered: boolean }
  | { kind: 'unified-patch'; dir: string; strip: number; text: string }
  | { kind: 'codex-patch'; text: string }
  /** The shell goes to another directory; null = the text does not say which. */
  | { kind: 'cd'; to: string | null }
  /** The file changes in a way that the text does not show. */
  | { kind: 'touch'; path: string; needsFile: boolean }
  /** Files that the text names, by part of their names or by a pattern, may change. */
  | { kind: 'named'; text: string }
  /** Any file below a directory may change. */
  | { kind: 'below'; dir: string | null; why: string }
  /** A script of this path runs: what it does is in its text, if that is known. `args` are its words. */
  | { kind: 'script'; path: string; language: ScriptLanguage; args: string }
  /** A program takes in a module or package whose path, without an extension, ends like this; '' = one beside it. */
  | { kind: 'module'; path: string; members: readonly string[] }
  /** A program ran whose effects the record does not show. */
  | { kind: 'runs'; what: string };

type ScriptLanguage = 'shell' | 'other';

export const touchOf = (path: string): FileEffect => ({ kind: 'touch', path, needsFile: false });
export const anyFile = (why: string): FileEffect => ({ kind: 'below', dir: null, why });

/** An effect on the files that it names and no others. */
export type DirectEffect = Extract<FileEffect, { kind: 'write' | 'copy' | 'move' | 'delete' | 'link' | 'touch' }>;

/** The files that an effect changes. */
export function pathsOf(effect: DirectEffect): string[] {
  switch (effect.kind) {
    case 'copy':
    case 'move':
    case 'link':
      return [effect.from, effect.to];
    default:
      return [effect.path];
  }
}
