import { existsSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { nearestName } from '../../core/text/nearest.ts';
import { sanitise } from '../../core/text/sanitise.ts';
import { VERBS } from './commands.ts';
import { SHORT_HELP, topicText, topicTitles } from './help-topics.ts';
import type { MachineFlags } from './machine-use.ts';
import { beQuiet, endOnClosedPipe, print, say, USAGE } from './output.ts';
import { bringRemotePaths, closeMirrors } from './remote-paths.ts';
import { beside } from './terminal-page.ts';
import { viewOptions } from './view-options.ts';

/** Runs the command line and leaves the exit status in `process.exitCode`. @param args without node and the script */
export async function runProgram(args: readonly string[]): Promise<void> {
  if (args[0] === 'help' || args.includes('--help') || args.includes('-h')) endOnClosedPipe();
  if (args[0] === 'help' || (args.length === 1 && (args[0] === '--help' || args[0] === '-h'))) {
    const words = args[0] === 'help' ? args.slice(1) : null;
    const text = words === null ? SHORT_HELP : await helpText(words);
    if (text !== null) {
      await print(text);
      return;
    }
    const [topic = ''] = words!;
    if (topic !== 'flags' && VERBS[topic] === undefined) {
      say(unknownTopic(topic, [...topicTitles().map(([name]) => name), ...Object.keys(VERBS)]));
      process.exitCode = USAGE;
      return;
    }
    args = topic === 'flags' ? ['--help'] : [topic, '--help'];
  }
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
    .showHelpAfterError('(see rollout-viewer --help)');
  for (const load of commandsFor(args, asked)) program.addCommand(await load());
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    // Messages repeat what was typed, and a shell's `*` may expand to a hostile file name.
    command.configureOutput({
      writeErr: (text) => process.stderr.write(sanitise(text)),
      outputError: (text, write) => write(text.replace(/^error: /, 'rollout-viewer: ')),
    });
  }
  program.hook('preAction', async (_, command) => {
    const flags = command.opts<MachineFlags & { quiet?: boolean }>();
    if (flags.quiet === true) beQuiet();
    if (flags.threads !== undefined || flags.nice === true || flags.memory !== undefined)
      (await import('./machine-use.ts')).shareMachine(flags);
    await bringRemotePaths(command);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed the reason; --help and --version are not errors.
    process.exitCode = error.exitCode === 0 ? 0 : USAGE;
  } finally {
    closeMirrors();
  }
}

/** The page of a topic, or the lists of commands and topics; null for a command without a page, which lists its flags. */
async function helpText([topic]: readonly string[]): Promise<string | null> {
  if (topic === undefined || topic === 'help') return `${await commandList()}\n${topicList()}`;
  if (topic === 'commands') return commandList();
  if (topic === 'topics') return topicList();
  const page = topicText(topic, helpWidth());
  return page === null || VERBS[topic] === undefined ? page : `${page}\nEvery flag: rollout-viewer ${topic} --help\n`;
}

/** Lines longer than this are hard to read. */
const helpWidth = (): number => Math.min(process.stdout.columns ?? 80, 100);

const listed = (rows: readonly (readonly [string, string])[]) =>
  rows.map(([name, says]) => `${beside(`  ${name.padEnd(18)} `, says, helpWidth()).join('\n')}\n`).join('');

const topicList = (): string => `Topics (help TOPIC):
${listed(topicTitles())}  flags              All flags of the screen
`;

async function commandList(): Promise<string> {
  const commands = await Promise.all(Object.values(VERBS).map((load) => load()));
  return `Commands (help COMMAND lists its flags):
${listed(commands.map((command) => [command.name(), command.description()] as const))}`;
}

/** Only the requested command; all of them if they are to be listed. */
function commandsFor(args: readonly string[], asked: (() => Promise<Command>) | undefined) {
  if (asked !== undefined) return [asked];
  const listsThem = args.length === 0 || args.some((arg) => arg === '--help' || arg === '-h' || arg === 'help');
  return listsThem ? Object.values(VERBS) : [];
}

/** A first path that does not exist may be a mistyped command. @returns the message; null if it can only be a path */
export function mistyped(path: string | undefined, commands: readonly string[]): string | null {
  if (path === undefined || !/^[a-z][a-z-]*$/i.test(path) || existsSync(path)) return null;
  const near = nearestName(path, commands);
  const hint =
    near === null ? `commands: ${commands.join(', ')}; --help says more` : `did you mean \`rollout-viewer ${near}\`?`;
  return `${path}: no such file or directory, and no such command; ${hint}`;
}

/** @returns the message for `help NAME` of no command and no topic */
function unknownTopic(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  const hint = near === null ? '`rollout-viewer help` lists them' : `did you mean \`rollout-viewer help ${near}\`?`;
  return `help: no command or topic ${name}; ${hint}`;
}
