import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type RemoteName, remoteName } from '../remote/address.ts';
import type { Mirror } from '../remote/mirror.ts';
import { bytesWritten } from './machine-use.ts';
import { say, USAGE } from './output.ts';

/** The machines whose files this process copies. */
const mirrors: Mirror[] = [];

export const openMirrors = (): readonly Mirror[] => mirrors;

const DEFAULT_BYTES = 10e9;

/** `--cache-size 20G`. */
export const cacheSizeOption = (): Option =>
  new Option(
    '--cache-size <size>',
    'cache at most this much of other machines here, such as 500M or 20G (default: 10G); the oldest goes first',
  ).argParser((text: string) => {
    const bytes = bytesWritten(text);
    if (bytes === null) throw new InvalidArgumentError(`"${text}" is not a size; write 500M or 20G.`);
    return bytes;
  });

/** Before a command runs, copies its remote arguments here and replaces them with the paths of the copies. */
export async function bringRemotePaths(command: Command): Promise<void> {
  const { processedArgs } = command;
  for (const [at, value] of processedArgs.entries()) {
    if (Array.isArray(value)) for (const [i, one] of value.entries()) value[i] = await brought(one, command);
    else processedArgs[at] = await brought(value, command);
  }
}

interface RemoteFlags {
  follow?: boolean;
  limit?: number;
  filter?: string;
  sort?: string;
  by?: string | true;
  cacheSize?: number;
  bringAll?: boolean;
  listen?: boolean;
}

/** The command reads no more than one record of what is named, or the first of its files. */
function stopsEarly(command: Command, { ending }: RemoteName): boolean {
  const { limit, filter, sort, by, follow } = command.opts<RemoteFlags>();
  const name = command.name();
  if (/^:\d/.test(ending)) return name === 'show' || name === 'files';
  const asksAll = filter !== undefined || sort !== undefined || by !== undefined || follow === true;
  return (name === 'show' || name === 'ls') && limit !== undefined && !asksAll;
}

async function brought(value: unknown, command: Command): Promise<unknown> {
  const remote = typeof value === 'string' ? named(value) : null;
  if (remote === null) return value;
  const { follow, cacheSize, bringAll, listen } = command.opts<RemoteFlags>();
  const isScreen = command.parent === null && process.stdout.isTTY;
  const { openMirror } = await import('../remote/open.ts');
  try {
    const { mirror, path } = await openMirror(remote.address, {
      follows: isScreen || follow === true || listen === true || command.name() === 'mcp',
      brings: isScreen && bringAll !== true ? 'looked-at' : stopsEarly(command, remote) ? 'parts' : 'all',
      most: cacheSize ?? DEFAULT_BYTES,
      isAtTerminal: process.stdin.isTTY === true,
      // The screen shows it itself.
      ...(isScreen ? {} : { onStatus: saysTrouble(value) }),
    });
    mirrors.push(mirror);
    return path + remote.ending;
  } catch (error) {
    say(`${value}: ${error instanceof Error ? error.message : String(error)}`);
    throw new CommanderError(USAGE, 'remote', '');
  }
}

/** Each trouble is a line until another comes: a proxy may cut every answer. */
function saysTrouble(name: unknown): (status: string | null) => void {
  let last: string | null = null;
  return (status) => {
    if (status === last || !/^connection lost|does not end|are refused:|: read again$/.test(status ?? '')) return;
    last = status;
    say(`${name}: ${status}`);
  };
}

function named(text: string): RemoteName | null {
  try {
    return remoteName(text);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    throw new CommanderError(USAGE, 'remote', '');
  }
}

export function closeMirrors(): void {
  for (const mirror of mirrors.splice(0)) mirror.close();
}
