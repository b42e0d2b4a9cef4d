// What a caller names in `files` and `fetch_files`, read as upstream reads it, but never leading out of the run.
import { posix } from 'node:path';
import { SandboxFault } from './backends/backend.ts';

/**
 * The absolute path, within the run's own file system, of a name: relative to the run's directory, or absolute where
 * the backend has a private root.
 * @throws {SandboxFault} for a name that climbs out of the run's directory, or holds a NUL.
 */
export function confine(name: string, directory: string, privateRoot: boolean): string {
  if (name.includes('\0')) throw new SandboxFault('embedded null byte');
  if (posix.isAbsolute(name)) {
    if (privateRoot) return posix.normalize(name);
    throw new SandboxFault(`the path ${name} is absolute; this sandbox has only its run's directory`);
  }
  const path = posix.join(directory, name);
  if (path !== directory && !path.startsWith(`${directory}/`))
    throw new SandboxFault(`the path ${name} leads out of the run's directory`);
  return path;
}

/** @throws {SandboxFault} with the words of Python's binascii, which upstream puts into its answer. */
export function decodeBase64(text: string): Buffer {
  // Python's non-strict decoder drops what is no base64 character, stops after padding, then checks the length.
  const digits = text.replace(/[^A-Za-z0-9+/=]/g, '');
  const end = digits.search(/=/);
  const data = end < 0 ? digits : digits.slice(0, end);
  const padding = end < 0 ? 0 : (/^=+/.exec(digits.slice(end))?.[0].length ?? 0);
  const rest = data.length % 4;
  if (rest === 1) {
    throw new SandboxFault(
      `Invalid base64-encoded string: number of data characters (${data.length}) cannot be 1 more than a multiple of 4`,
    );
  }
  if (rest !== 0 && padding < 4 - rest) throw new SandboxFault('Incorrect padding');
  return Buffer.from(data, 'base64');
}

/** The files of a request: null values and upstream's marker are skipped. */
export function decodeFiles(files: Record<string, string | null>): Map<string, Buffer> {
  const decoded = new Map<string, Buffer>();
  for (const [name, content] of Object.entries(files)) {
    if (content === null || name.includes('IGNORE_THIS_FILE')) continue;
    if (name === '' || name.endsWith('/')) throw new SandboxFault(`[Errno 21] Is a directory: '${name}'`);
    decoded.set(name, decodeBase64(content));
  }
  return decoded;
}
