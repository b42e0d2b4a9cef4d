import { UsageError } from '../../core/dump/paths.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import type { OwnUse } from '../../engine/common/own-use.ts';
import { OwnCode } from '../../engine/own/own-code.ts';
import type { ReplayTools } from '../../replay/index.ts';
import { askPerson, canAsk } from './allow-cost.ts';
import { say } from './output.ts';
import type { OwnFlags } from './own-flags.ts';

export const ownCodeOf = ({ python, pythonPath }: OwnFlags): OwnCode => new OwnCode({ python, pythonPath });

/** Asks permission for the user's own classes that the tool file names, and starts them. @throws UsageError */
export async function openTools(tools: ReplayTools, isAllowed: boolean, signal?: AbortSignal): Promise<void> {
  await allowOwn(tools.ownUses, isAllowed);
  await tools.start(signal).catch((error: Error) => {
    throw new UsageError(error.message);
  });
}

/** Classes named in a file run with the user's rights, so ask once; typing one on the command line is consent. @throws UsageError */
export async function allowOwn(uses: readonly OwnUse[], isAllowed: boolean): Promise<void> {
  const named = uses.filter(({ from }) => from !== null);
  if (named.length === 0) return;
  const what = named.map(({ what, from, runs }) => `${what} (${from}) runs in ${runs}`).join(', ');
  if (isAllowed) return say(sanitiseLine(`${what}, with your rights`));
  if (!canAsk()) throw new UsageError(`${what}, with your rights: give --yes to allow it`);
  await askPerson(`${what}, with your rights. Allow it?`, 'nothing was run');
}
