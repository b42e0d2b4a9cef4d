import { Command } from 'commander';
import { UsageError } from '../../core/dump/paths.ts';
import { countOf } from './count.ts';
import { type ReadingFlags, withReading } from './dump-options.ts';
import { run } from './output.ts';
import { toolUse, type WorldFlags, withWorld } from './world-flags.ts';

interface StateFlags extends ReadingFlags, WorldFlags {
  call?: number;
  prompt?: boolean;
  json?: boolean;
}

export const stateCommand = (): Command =>
  withReading(
    withWorld(new Command('state'))
      .description('list the paths that differ from the image after a call; runs calls that did not run yet')
      .argument('<rollout>', 'FILE:LINE, or a session file')
      .option('--call <n>', 'after this call, counted from 0', countOf)
      .option('-i, --prompt', 'open a shell in a copy of that state; nothing is kept')
      .addOption(toolUse())
      .option('--journal <dir>', 'where layers are kept (default: the state directory of this user)')
      .option('--yes', 'do not ask before recorded commands run')
      .option('--json', 'one JSON object per path: path, type, mode, size, sha256, change'),
  ).action((rollout: string, flags: StateFlags) =>
    run(async () => {
      if (flags.image === undefined)
        throw new UsageError('--image: name the image that the rollout ran in, such as rootfs:DIR');
      if (flags.call === undefined) throw new UsageError('--call: name the call, counted from 0');
      const { stateInWorld } = await import('./replay-world.ts');
      return stateInWorld(rollout, { ...flags, call: flags.call });
    }),
  );
