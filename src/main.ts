import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { forkCommand } from './commands/fork.ts';
import { lsCommand } from './commands/ls.ts';
import { mistyped } from './commands/mistyped.ts';
import { say, USAGE } from './commands/output.ts';
import { replayCommand } from './commands/replay.ts';
import { rescoreCommand } from './commands/rescore.ts';
import { rolloutCommand } from './commands/rollout.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { showCommand } from './commands/show.ts';
import { viewOptions } from './commands/view-options.ts';
import { sanitise } from './text/sanitise.ts';

const program = viewOptions(new Command('rollout-viewer'))
  .description(manifest.description)
  .version(manifest.version)
  .enablePositionalOptions()
  .showHelpAfterError('(rollout-viewer --help says what there is)')
  .addCommand(lsCommand())
  .addCommand(showCommand())
  .addCommand(replayCommand())
  .addCommand(forkCommand())
  .addCommand(rescoreCommand())
  .addCommand(rolloutCommand())
  .addCommand(sandboxCommand());

for (const command of [program, ...program.commands]) {
  command.exitOverride();
  // What was typed comes back in messages, and a shell's `*` may type a hostile file name.
  command.configureOutput({ writeErr: (text) => process.stderr.write(sanitise(text)) });
}
const names = program.commands.map((command) => command.name());
const first = process.argv[2];
// A path that does not exist yet may be waited for.
const problem = names.includes(first ?? '') || process.argv.includes('--follow') ? null : mistyped(first, names);
if (problem !== null) {
  say(problem);
  process.exit(USAGE);
}
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Commander has printed the reason; --help and --version are no errors.
  process.exitCode = error.exitCode === 0 ? 0 : USAGE;
}
