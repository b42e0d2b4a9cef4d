import { existsSync } from 'node:fs';
import { UsageError } from '../../core/dump/paths.ts';

/** An address on another machine. */
export type Address =
  | { kind: 'ssh'; name: string; host: string; port: string | null; path: string }
  | { kind: 'rclone'; name: string; path: string }
  | { kind: 'store'; name: string; scheme: 's3' | 'gs' | 'hf'; bucket: string; path: string }
  | { kind: 'https'; name: string; path: string };

/** An address followed by the end of a locator: `:57`, `:57.2#t4`. */
export interface RemoteName {
  address: Address;
  ending: string;
}

const ENDING = /(?::\d+(?:\.\d+)?)?(?:#t\d+)?$/;
/** ssh would take a host that begins with a minus for a flag. */
const HOST = /^[A-Za-z0-9_[][A-Za-z0-9_.@:%[\]-]*$/;

/** Of an address: scheme, user and password, the rest. */
const WITH_USER = /^([a-z][a-z\d+.-]*:\/\/)([^/]*)@(.*)$/is;

/** The machine and path that a command-line word names; null for a local path. @throws UsageError for one that holds a password */
export function remoteName(text: string): RemoteName | null {
  const ending = ENDING.exec(text)?.[0] ?? '';
  const whole = text.slice(0, text.length - ending.length);
  refusePassword(whole);
  const address = addressOf(whole);
  return address === null ? null : { address, ending };
}

/** A password would appear in locators, in the cache's names and in messages. */
function refusePassword(text: string): void {
  const [, scheme, user, rest] = WITH_USER.exec(text) ?? [];
  if (scheme === undefined || user === undefined) return;
  const isWeb = /^https?:/i.test(scheme);
  if (!isWeb && !user.includes(':')) return;
  const instead =
    scheme.toLowerCase() === 'ssh://' ? 'ssh asks for one itself' : 'rclone: keeps them in its own settings';
  throw new UsageError(
    `${scheme}…@${rest}: an address with ${isWeb ? 'a user or a password' : 'a password'} is not opened; ${instead}`,
  );
}

/** An address of a store that is not opened is no path that is missing. */
function refuseScheme(text: string): void {
  const [, scheme] = /^((?:hf|hdfs|s3[an]?|gs|az|abfss?|wasbs?|oss):\/\/).+$/is.exec(text) ?? [];
  if (scheme === undefined || existsSync(text)) return;
  const instead = /^hf$/i.test(scheme.slice(0, -3))
    ? 'a data set of the Hub is hf://datasets/ORGANISATION/NAME'
    : 'rclone:NAME:PATH opens what rclone reaches under a name of its settings';
  throw new UsageError(`${text}: such an address is not opened; ${instead}`);
}

function addressOf(text: string): Address | null {
  const url = /^ssh:\/\/([^/]+?)(?::(\d+))?(\/.*)$/s.exec(text);
  if (url !== null && HOST.test(url[1] ?? '')) {
    const [, host, port = null, path] = url as unknown as [string, string, string | undefined, string];
    return { kind: 'ssh', name: `ssh://${host}${port === null ? '' : `:${port}`}`, host, port, path: homed(path) };
  }
  const cloud = /^rclone:([A-Za-z0-9_][^:/]*):(.*)$/s.exec(text);
  if (cloud !== null) {
    const [, remote, path] = cloud as unknown as [string, string, string];
    // A remote's path may be absolute or relative; the dot distinguishes the two.
    return path.startsWith('/')
      ? { kind: 'rclone', name: `rclone:${remote}:`, path }
      : { kind: 'rclone', name: `rclone:${remote}:.`, path: `/${path.replace(/^(?:\.\/)+/, '')}` };
  }
  const store = /^(s3|gs):\/\/([A-Za-z0-9][A-Za-z0-9._-]*)(\/.*)?$/s.exec(text);
  if (store !== null) {
    const [, scheme, bucket, path = '/'] = store as unknown as [string, 's3' | 'gs', string, string | undefined];
    return { kind: 'store', name: `${scheme}://${bucket}`, scheme, bucket, path };
  }
  const hub = /^hf:\/\/datasets\/([\w.-]+\/[\w.-]+(?:@[\w.-]+)?)(\/.*)?$/s.exec(text);
  if (hub !== null) {
    const [, bucket, path = '/'] = hub as unknown as [string, string, string | undefined];
    return { kind: 'store', name: `hf://datasets/${bucket}`, scheme: 'hf', bucket, path };
  }
  const web = /^(https?:\/\/)([^/]+)(\/.*)$/is.exec(text);
  if (web !== null) {
    const [, scheme, host, path] = web as unknown as [string, string, string, string];
    return { kind: 'https', name: scheme.toLowerCase() + host, path };
  }
  refuseScheme(text);
  const short = /^([^/:]+):([/~].*)$/s.exec(text);
  // scp's form: relative to the remote home.
  const home = /^([^/:.][^/:]*):([^/~:]+\/.*)$/s.exec(text);
  if (home !== null && HOST.test(home[1] ?? '') && !existsSync(text) && !existsSync(home[1] ?? ''))
    return { kind: 'ssh', name: `${home[1]}:`, host: home[1] ?? '', port: null, path: `~/${home[2]}` };
  if (short === null || (short[2] ?? '').startsWith('//') || !HOST.test(short[1] ?? '') || existsSync(text))
    return null;
  return { kind: 'ssh', name: `${short[1]}:`, host: short[1] ?? '', port: null, path: short[2] ?? '' };
}

/** `ssh://host/~/x` is in the user's home there. */
const homed = (path: string): string => (path.startsWith('/~') ? path.slice(1) : path);
