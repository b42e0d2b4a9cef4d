import { finished } from '../../core/async/finished.ts';
import type { RecordedAction } from '../actions/action.ts';
import { fileDiff } from './file-states.ts';
import { FollowedFiles } from './followed-files.ts';
import { filesAt, type RolloutFiles } from './rollout-files.ts';

/** A file that at least one of two rollouts wrote after the calls that both begin with, unless both ends are certain and equal. */
export interface ComparedFile {
  path: string;
  /** only_a, only_b: only this one wrote it; unsure: what the record shows leaves it open. */
  outcome: 'only_a' | 'only_b' | 'differs' | 'unsure';
  /** From a to b; for a file that only one of them wrote, its change. Null if it is not certain. */
  diff: string | null;
  /** Calls of each side that ran programs whose effects on this file the record does not show. */
  unless: { a: number[]; b: number[] };
}

interface SideEnd {
  /** Null if the record does not show it. */
  text: string | null | undefined;
  /** The same before the side wrote the file. */
  base: string | null | undefined;
  isUnknown: boolean;
  wrote: boolean;
  unless: number[];
}

/** The files in which two rollouts differ at their ends, as far as their records show. */
export const comparedFiles = (a: RolloutFiles, b: RolloutFiles): ComparedFile[] => finished(comparingFiles(a, b));

/** The same with pauses. */
export function* comparingFiles(a: RolloutFiles, b: RolloutFiles): Generator<void, ComparedFile[]> {
  const paths = [...new Set([...a.states, ...b.states].map(({ change }) => change.path))];
  if (paths.length === 0) return [];
  const shared = yield* sharedCalls(a, b);
  const [endsA, endsB] = [yield* endsOf(a, shared, paths), yield* endsOf(b, shared, paths)];
  return paths.flatMap((path) => {
    const [one, two] = [endsA(path), endsB(path)];
    const compared = comparedEnds(path, one, two);
    return compared === null ? [] : [{ path, ...compared, unless: { a: one.unless, b: two.unless } }];
  });
}

/** Null if no side wrote it, or both ends are certain and equal. */
function comparedEnds(path: string, a: SideEnd, b: SideEnd): Pick<ComparedFile, 'outcome' | 'diff'> | null {
  if (!a.wrote && !b.wrote) return null;
  const isKnown = a.text !== undefined && b.text !== undefined;
  if (a.wrote && b.wrote) {
    if (!isKnown) return { outcome: 'unsure', diff: null };
    const diff = fileDiff(path, a.text ?? null, b.text ?? null);
    return a.text === b.text ? null : { outcome: 'differs', diff };
  }
  const [writer, outcome] = a.wrote ? ([a, 'only_a'] as const) : ([b, 'only_b'] as const);
  if (writer.isUnknown) return { outcome: 'unsure', diff: null };
  const { base, text } = writer;
  if (base === undefined || text === undefined) return { outcome, diff: null };
  return base === text ? null : { outcome, diff: fileDiff(path, base, text) };
}

/** The number of calls that both begin with, with the same results. */
function* sharedCalls(a: RolloutFiles, b: RolloutFiles): Generator<void, number> {
  const keyOf = (one: RecordedAction | undefined): string | undefined =>
    one === undefined ? undefined : JSON.stringify([one.action, one.result]);
  let at = 0;
  while (at < a.actions.length && keyOf(a.actions[at]) === keyOf(b.actions[at])) {
    at++;
    yield;
  }
  return at;
}

/** A side's knowledge of a file at its end, and whether it wrote it after its first `shared` calls. */
function* endsOf(
  files: RolloutFiles,
  shared: number,
  paths: readonly string[],
): Generator<void, (path: string) => SideEnd> {
  const { actions, workdir, states } = files;
  const watched = yield* FollowedFiles.following(actions, workdir?.path ?? null, { paths, from: shared });
  const ends = new Map(filesAt(files, null).map((file) => [file.path, file]));
  const first = actions[shared]?.call ?? Number.POSITIVE_INFINITY;
  return (path) => {
    const end = ends.get(path);
    const untouched = watched.untouched(path);
    const before = states.findLast(({ change }) => change.path === path && change.call < first)?.file;
    const isBase = before?.status === 'certain';
    // A view of another content than the known one.
    const isForeign = states.some(
      ({ change }) => change.path === path && change.call >= first && change.why.includes('contradicts'),
    );
    const isCertain = end?.last.file.status === 'certain';
    return {
      text: isCertain ? end.last.file.text : undefined,
      base: isBase ? before.text : before === undefined ? end?.base : undefined,
      isUnknown: isForeign || end === undefined || end.last.file.status === 'unknown',
      wrote: isForeign || untouched === null,
      unless: untouched ?? end?.last.change.unless ?? [],
    };
  };
}
