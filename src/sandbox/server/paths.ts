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

/**
 * As Python's binascii.a2b_base64 does when it is not strict: what is no base64 character is skipped, and the first
 * padding that completes a group ends it all.
 * @throws {SandboxFault} with Python's words, which upstream puts into its answer
 */
export function decodeBase64(text: string): Buffer {
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  let data = '';
  let pads = 0;
  for (const [character] of text.matchAll(/[A-Za-z0-9+/=]/g)) {
    const inGroup = data.length % 4;
    if (character !== '=') {
      data += character;
      pads = 0;
    } else if (inGroup >= 2 && inGroup + ++pads >= 4) return Buffer.from(data, 'base64');
  }
  if (data.length % 4 === 1) {
    throw new SandboxFault(
      `Invalid base64-encoded string: number of data characters (${data.length}) cannot be 1 more than a multiple of 4`,
    );
  }
  if (data.length % 4 !== 0) throw new SandboxFault('Incorrect padding');
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
