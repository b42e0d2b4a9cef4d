import { type ComparedFile, comparingFiles } from '../../../analysis/files/compared-files.ts';
import type { FileState } from '../../../analysis/files/file-states.ts';
import { followingFiles, type RolloutFiles } from '../../../analysis/files/rollout-files.ts';
import { finished } from '../../../core/async/finished.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';

const followed = new WeakMap<Rollout, RolloutFiles>();

/** The files of a record, followed once for all of its pages. */
export const filesOf = (record: DumpRecord): RolloutFiles | null => finished(findingFiles(record));

function* findingFiles({ rollout, json }: DumpRecord): Generator<void, RolloutFiles | null> {
  if (rollout === null) return null;
  const known = followed.get(rollout) ?? (yield* followingFiles(rollout, json));
  followed.set(rollout, known);
  return known;
}

const compared = new WeakMap<RolloutFiles, { other: RolloutFiles; files: ComparedFile[] }>();

/** The files in which two records differ, compared once for all frames. */
export function* comparingFilesOf(a: DumpRecord, b: DumpRecord): Generator<void, ComparedFile[]> {
  const [one, other] = [yield* findingFiles(a), yield* findingFiles(b)];
  if (one === null || other === null) return [];
  const known = compared.get(one);
  const files = known?.other === other ? known.files : yield* comparingFiles(one, other);
  compared.set(one, { other, files });
  return files;
}

/** The changes that calls made. */
export const fileChanges = ({ states }: RolloutFiles): readonly FileState[] =>
  states.filter(({ change }) => change.changed);

/** The row of the first change in a turn or after it. */
export const changeAt = (files: RolloutFiles, turn: number): number => {
  const at = fileChanges(files).findIndex(({ change }) => change.turn >= turn);
  return at === -1 ? Math.max(0, fileChanges(files).length - 1) : at;
};
