import { closeSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { Folder } from '../../core/files/folder.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { errorCode } from '../../core/text/thrown.ts';
import { LinesFile } from '../journal/lines.ts';

/** A line of a set's file. Nothing is changed or removed: the last line about a rollout counts, earlier ones are its history. */
const SetEntry = z.object({
  action: z.enum(['add', 'drop']),
  /** Absolute, and a locator as `show` takes it. */
  locator: z.string().min(1),
  /** A hash of the record's text when it was chosen. */
  source: z.string(),
  /** Why it was chosen, or dropped. */
  reason: z.string().nullable(),
  /** The filter that chose it; null if a person named it. */
  filter: z.string().nullable(),
  by: z.string(),
  at: z.string(),
  /** The version of the program that wrote the line. */
  version: z.string(),
});
export type SetEntry = z.infer<typeof SetEntry>;

/** Letters, digits, `-`, `_` and `.`, without a leading dot: a name is one file in one folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/;

export const isSetName = (name: string): boolean => NAME.test(name);

const ENDING = '.jsonl';

/** The folder of sets: in a shared journal, or in this user's state directory. */
export interface SetPlace {
  base: string;
  names: readonly string[];
}

/** @param journal `--journal DIR`; undefined = $XDG_STATE_HOME/rollout-viewer */
export const setPlace = (env: NodeJS.ProcessEnv, journal: string | undefined): SetPlace =>
  journal !== undefined
    ? { base: journal, names: ['sets'] }
    : {
        base: env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'),
        names: ['rollout-viewer', 'sets'],
      };

/** The names of the sets of a folder; none if it is not there. */
export function setNames({ base, names }: SetPlace): string[] {
  try {
    const folder = Folder.open(base, names, false);
    try {
      return folder
        .names()
        .filter((name) => name.endsWith(ENDING))
        .map((name) => name.slice(0, -ENDING.length))
        .filter(isSetName);
    } finally {
      folder.close();
    }
  } catch {
    return [];
  }
}

/** A named selection of rollouts. Several processes and people may write to its file at once. */
export class CuratedSet {
  readonly name: string;
  readonly #place: SetPlace;

  /** @throws TypeError for a name that cannot be a file name */
  constructor(name: string, place: SetPlace) {
    if (!isSetName(name)) throw new TypeError(`"${name}" is not a name of a set; use letters, digits, - _ and .`);
    this.name = name;
    this.#place = place;
  }

  get path(): string {
    return join(this.#place.base, ...this.#place.names, `${this.name}${ENDING}`);
  }

  /** @throws the system's error, or one that names the obstacle */
  append(entries: Iterable<SetEntry>): void {
    const folder = Folder.open(this.#place.base, this.#place.names, true);
    const file = new LinesFile((mode) => folder.openFile(`${this.name}${ENDING}`, mode));
    try {
      for (const entry of entries) file.append(entry);
    } finally {
      file.close();
      folder.close();
    }
  }

  /** Why its file cannot be read (it is a link, a directory, a pipe); null also if it does not exist yet. */
  get problem(): string | null {
    try {
      const folder = Folder.open(this.#place.base, this.#place.names, false);
      try {
        closeSync(folder.openFile(`${this.name}${ENDING}`, 'read'));
      } finally {
        folder.close();
      }
      return null;
    } catch (error) {
      return errorCode(error) === 'ENOENT' ? null : reasonOf(error);
    }
  }

  /** The rollouts in the set, in the order they were added; foreign lines are skipped. */
  members(): Map<string, SetEntry> {
    const members = new Map<string, SetEntry>();
    let folder: Folder;
    try {
      folder = Folder.open(this.#place.base, this.#place.names, false);
    } catch {
      return members;
    }
    const file = new LinesFile((mode) => folder.openFile(`${this.name}${ENDING}`, mode));
    try {
      for (const { value } of file.news()) {
        const { data } = SetEntry.safeParse(value);
        if (data === undefined) continue;
        if (data.action === 'drop') members.delete(data.locator);
        else members.set(data.locator, data);
      }
    } finally {
      file.close();
      folder.close();
    }
    return members;
  }
}
