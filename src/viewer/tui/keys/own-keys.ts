import { nearestWord } from '../../../core/text/nearest.ts';
import type { Config } from '../../config/config.ts';
import type { PresetName } from '../../config/preset-names.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { panesOf } from './keymap.ts';
import { type Keys, PRESETS, startsWith, withKeys } from './presets.ts';

/** A preset with the user's own keys on top, and their problems. */
export function ownKeys(preset: PresetName, config: Config): { keys: Keys; problems: readonly string[] } {
  const problems: string[] = [];
  const own = new Map<Command, string[]>();
  for (const { id, at, keys } of config.keys) {
    const command = COMMANDS.find((one) => one.id === id);
    if (command === undefined) {
      problems.push(`${at}: no command is called ${id}${nearest(id)}`);
      continue;
    }
    const mine: string[] = [];
    for (const { sequence, at: where } of keys) {
      const problem = conflictOf(sequence, command, [...own, [command, mine]]);
      if (problem === null) mine.push(sequence);
      else problems.push(`${where}: ${problem}; give ${id} another key`);
    }
    own.set(command, mine);
  }
  const kept = COMMANDS.map((command) => {
    const theirs = PRESETS[preset][command.id] ?? [];
    return [command.id, own.get(command) ?? theirs.filter((key) => !isTaken(command, key, own))];
  });
  const keys: Keys = Object.fromEntries(kept);
  if (WAYS_OUT.some((id) => (keys[id] ?? []).length > 0)) return { keys, problems };
  problems.push(`without a key for ${WAYS_OUT.join(', ')} nothing would end the program; ^c stays`);
  return { keys: withKeys(keys, { cancel: ['ctrl+c'] }), problems };
}

const WAYS_OUT = ['quit', 'cancel', 'command'];

/** Why a key cannot be assigned to a command: another one has it, or one of the two would act before the other is complete. */
function conflictOf(
  sequence: string,
  command: Command,
  own: readonly (readonly [Command, readonly string[]])[],
): string | null {
  for (const [one, keys] of own) {
    if (one.when === command.when && one !== command && keys.includes(sequence))
      return `${sequence} is given to ${one.id} already`;
    if (!shares(one, command)) continue;
    const longer = keys.find((key) => key !== sequence && startsWith(key, sequence));
    if (longer !== undefined) return `${sequence} starts ${longer}, which belongs to ${one.id}`;
    const shorter = keys.find((key) => key !== sequence && startsWith(sequence, key));
    if (shorter !== undefined) return `${shorter}, which starts ${sequence}, belongs to ${one.id}`;
  }
  return null;
}

/**
 * The user assigns the key, or a prefix of it, to another command. A command for one pane leaves the other panes to one for several, but
 * not the longer sequences that its key begins: a key either acts or waits, everywhere.
 */
const isTaken = (command: Command, key: string, own: ReadonlyMap<Command, readonly string[]>): boolean =>
  [...own].some(([one, keys]) =>
    keys.some((taken) =>
      taken === key
        ? one.when === undefined
          ? shares(one, command)
          : one.when === command.when
        : shares(one, command) && (startsWith(key, taken) || startsWith(taken, key)),
    ),
  );

const shares = (a: Command, b: Command): boolean => panesOf(a).some((pane) => panesOf(b).includes(pane));

/** `, perhaps turn.next`: the command whose id is spelt most similarly. */
function nearest(id: string): string {
  const ids = COMMANDS.map((command) => command.id);
  const near = nearestWord(id, ids, () => Math.max(2, id.length / 3));
  return near !== null ? `, perhaps ${near}` : '; ? lists them, : completes their names';
}
