import { posix } from 'node:path';
import type { FileEffect } from './file-effect.ts';
import type { FileStates } from './file-states.ts';
import { GONE, UNKNOWN } from './known-file.ts';
import { inDir } from './shell-effects.ts';

/** Follows files to other names. */
export class MovedFiles {
  readonly #states: FileStates;
  readonly #commands: readonly string[];

  /** @param commands all commands of the rollout, whenever they ran */
  constructor(states: FileStates, commands: readonly string[]) {
    this.#states = states;
    this.#commands = commands;
  }

  carry(
    { kind, from: named, to: asked }: Extract<FileEffect, { kind: 'copy' | 'move' }>,
    from: string,
    to: string,
  ): void {
    const isMove = kind === 'move';
    const inside = posix.join(to, posix.basename(from));
    const below = [...this.#states.paths()].filter((path) => path.startsWith(`${from}/`));
    const isFolder =
      /(?:^|\/)\.{0,2}$/.test(asked) ||
      to === this.#states.root ||
      [...this.#states.paths()].some((path) => path.startsWith(`${to}/`));
    // An unseen name without an extension may be a folder's.
    const mayBeFolder =
      !isFolder &&
      !this.#states.has(to) &&
      !/\.\w+$/.test(to) &&
      (/\.\w+$/.test(from) || this.#isFolderName(posix.basename(to)));
    if (below.length > 0 || /(?:^|\/)\.{0,2}$/.test(named)) {
      for (const path of below) if (isMove) this.#states.set(path, GONE, 'moved away');
      for (const path of [...this.#states.paths()])
        if (path.startsWith(`${to}/`) && !path.startsWith(`${from}/`))
          this.#states.set(path, UNKNOWN, 'a folder was put there');
      return;
    }
    const file = this.#states.at(from);
    const known = file.status === 'unknown' || (file.status === 'certain' && file.text === null) ? UNKNOWN : file;
    const why =
      known === UNKNOWN
        ? 'a copy of a file that is not known'
        : isMove
          ? 'moved, content known'
          : 'copied, content known';
    const target = isFolder ? inside : to;
    if (mayBeFolder) {
      this.#states.set(to, UNKNOWN, 'it may be a folder, into which the file went');
      if (this.#states.has(inside)) this.#states.set(inside, UNKNOWN, 'a file may have been put there');
    } else if (target !== from) this.#states.set(target, known, why);
    if (isMove) this.#states.unlink(target, from);
    if (isMove && target !== from) this.#states.set(from, GONE, 'moved away');
  }

  link({ from }: Extract<FileEffect, { kind: 'link' }>, source: string, to: string): void {
    const inside = posix.join(to, posix.basename(source));
    const fromThere = inDir(posix.dirname(to), from);
    this.#states.set(to, UNKNOWN, 'a link');
    this.#states.addNames([to, inside, source, fromThere]);
  }

  /** Whether a command of the rollout, whenever it ran, has a path through a folder of this name. */
  #isFolderName(name: string): boolean {
    return this.#commands.some((command) => command.includes(`${name}/`) || command.includes(`cd ${name}`));
  }
}
