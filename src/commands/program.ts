import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { sanitise } from '../text/sanitise.ts';
import { VERBS } from './commands.ts';
import { mistyped } from './mistyped.ts';
import { say, USAGE } from './output.ts';
import { viewOptions } from './view-options.ts';

/** Runs the command line; the exit status is left in `process.exitCode`. @param args without node and the script */
export async function runProgram(args: readonly string[]): Promise<void> {
  const names = Object.keys(VERBS);
  const [first] = args;
  const asked = VERBS[first ?? ''];
  // A path that does not exist yet may be waited for.
  const problem = asked !== undefined || args.includes('--follow') ? null : mistyped(first, names);
  if (problem !== null) {
    say(problem);
    process.exitCode = USAGE;
    return;
  }

  const program = viewOptions(new Command('rollout-viewer'))
    .description(manifest.description)
    .version(manifest.version)
    .enablePositionalOptions()
    .showHelpAfterError('(rollout-viewer --help says what there is)');
  for (const load of commandsFor(args, asked)) program.addCommand(await load());
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    // Messages repeat what was typed, and a shell's `*` may type a hostile file name.
    command.configureOutput({ writeErr: (text) => process.stderr.write(sanitise(text)) });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed the reason; --help and --version are no errors.
    process.exitCode = error.exitCode === 0 ? 0 : USAGE;
  }
}

/** Only the command that is asked for; all of them where they are listed. */
function commandsFor(args: readonly string[], asked: (() => Promise<Command>) | undefined) {
  if (asked !== undefined) return [asked];
  const listsThem = args.length === 0 || args.some((arg) => arg === '--help' || arg === '-h' || arg === 'help');
  return listsThem ? Object.values(VERBS) : [];
}
