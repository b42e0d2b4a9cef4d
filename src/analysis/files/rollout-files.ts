import { finished } from '../../core/async/finished.ts';
import type { JsonValue } from '../../core/json/value.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import type { RecordedAction } from '../actions/action.ts';
import { findingActions, type ToolUse } from '../actions/recorded-actions.ts';
import { type FoundDirectory, workdirOf } from '../actions/workdir.ts';
import { type FileState, fileDiff, type TouchedFile } from './file-states.ts';
import { FollowedFiles } from './followed-files.ts';
import type { KnownFile } from './known-file.ts';

export interface RolloutFiles {
  actions: RecordedAction[];
  workdir: FoundDirectory | null;
  /** A row for each call and file, in call order. */
  states: readonly FileState[];
}

export interface FilesOptions {
  /** The directory in which commands begin; by default the record's. */
  workdir?: string | undefined;
  tools?: Readonly<Record<string, ToolUse>> | undefined;
}

/**
 * The files of a rollout after each call, from its record alone. @param json the record itself, for parts that its
 * format drops
 */
export const rolloutFiles = (...given: Parameters<typeof followingFiles>): RolloutFiles =>
  finished(followingFiles(...given));

/** The same with pauses. */
export function* followingFiles(
  rollout: Rollout,
  json: JsonValue | undefined,
  { workdir, tools }: FilesOptions = {},
): Generator<void, RolloutFiles> {
  const actions = yield* findingActions(rollout, tools);
  const found: FoundDirectory | null =
    workdir === undefined ? workdirOf(rollout, actions, json) : { path: workdir, how: 'recorded', why: '--workdir' };
  const { states } = yield* FollowedFiles.following(actions, found?.path ?? null);
  return { actions, workdir: found, states };
}

/** One file over a whole rollout, or up to a turn. */
export interface FileSummary {
  path: string;
  last: FileState;
  /** The first certain content that predates the rollout's own changes, if any. */
  base: string | null | undefined;
  added: number | null;
  removed: number | null;
  changes: TouchedFile[];
}

/** The files known after a turn, or after all turns if it is null. In order of appearance. */
export function filesAt({ states }: Pick<RolloutFiles, 'states'>, turn: number | null): FileSummary[] {
  const byPath = new Map<string, FileState[]>();
  for (const state of states) {
    if (turn !== null && state.change.turn > turn) continue;
    const list = byPath.get(state.change.path);
    if (list === undefined) byPath.set(state.change.path, [state]);
    else list.push(state);
  }
  return [...byPath].flatMap(([path, list]) => {
    const last = list.at(-1);
    if (last === undefined) return [];
    const changes = list.map(({ change }) => change).filter(({ changed }) => changed);
    const base = baseOf(list);
    const diff = base === undefined || last.file.status !== 'certain' ? null : fileDiff(path, base, last.file.text);
    const count = (sign: RegExp) => (diff === null ? null : (diff.match(sign)?.length ?? 0));
    return [{ path, last, base, added: count(/^\+(?!\+\+ )/gm), removed: count(/^-(?!-- )/gm), changes }];
  });
}

/** The content before the rollout changed it: null = no file, which is assumed if its first mention writes it whole. */
function baseOf(states: readonly FileState[]): string | null | undefined {
  const [first] = states;
  if (first === undefined) return undefined;
  const { change, file } = first;
  if (change.diff?.startsWith('--- /dev/null') === true || (change.why === 'moved, content known' && change.changed))
    return null;
  // Nobody saw the file before it was written whole.
  if (change.why === 'written whole' && change.status === 'certain') return null;
  const isOlder = file.status === 'certain' && [...file.lines.values()].every(({ by }) => by === null);
  return isOlder && !change.deleted ? file.text : undefined;
}

/**
 * One patch with the whole change of each file that is certain at both ends, and the paths of those that are not.
 * @param root names are relative to it, so that `git apply` works there
 */
export function patchOf(files: readonly FileSummary[], root: string | null): { patch: string; missing: string[] } {
  let patch = '';
  const missing: string[] = [];
  for (const { path, base, last, changes } of files) {
    if (changes.length === 0) continue;
    if (base === undefined || last.file.status !== 'certain') missing.push(path);
    else if (base !== last.file.text) {
      const name = root !== null && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path.replace(/^\//, '');
      patch += `diff --git a/${name} b/${name}\n${fileDiff(name, base, last.file.text)}`;
    }
  }
  return { patch, missing };
}

/** The known lines of a file with the call that wrote each. */
export const blameOf = (file: KnownFile): { line: number; text: string; by: number | null }[] =>
  [...file.lines].sort(([a], [b]) => a - b).map(([line, { text, by }]) => ({ line, text, by }));
