import type { DumpFile, DumpRecord } from '../core/dump/dump-file.ts';
import { shownAdvantages } from '../core/rollout/advantage.ts';
import { groupKeyOf } from '../core/rollout/group-key.ts';
import { groupOfRecord } from './group-of-record.ts';
import { Groups } from './groups.ts';

interface GroupPlace {
  /** null if it has no group. */
  key: string | null;
  /** Relative to the others of its group; null if unknown. */
  advantage: number | null;
}

/**
 * The groups of records requested one after another. The first of a file is found without parsing the others; if more
 * of it are requested, the file is read once.
 */
export class GroupPlaces {
  readonly #asked = new Set<DumpFile>();
  #whole: { file: DumpFile; groups: Groups; scores: (number | null)[] } | null = null;

  of(row: DumpRecord): GroupPlace {
    const { file, rollout, record } = row;
    if (rollout === null) return { key: null, advantage: null };
    if (!this.#asked.has(file)) {
      this.#asked.add(file);
      const { key, members } = groupOfRecord(row);
      const advantages = shownAdvantages(members.map(({ score }) => score));
      return { key, advantage: advantages[members.findIndex((one) => one.record === record)] ?? null };
    }
    const { groups, scores } = this.#wholeOf(file);
    const members = groups.membersOf(record);
    const advantages = shownAdvantages(members.map((member) => scores[member]));
    return { key: groups.keyOf(record), advantage: advantages[members.indexOf(record)] ?? null };
  }

  #wholeOf(file: DumpFile) {
    if (this.#whole?.file === file) return this.#whole;
    const rollouts = Array.from({ length: file.count }, (_, record) => {
      const { rollout } = file.read(record);
      return rollout === null ? null : { key: groupKeyOf(rollout), score: rollout.score };
    });
    const groups = new Groups(
      rollouts.map((one) => one?.key ?? null),
      (record) => file.stepOf(record),
    );
    this.#whole = { file, groups, scores: rollouts.map((one) => one?.score ?? null) };
    return this.#whole;
  }
}
