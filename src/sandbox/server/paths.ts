// Paths in `files` and `fetch_files`, read as upstream reads them, but never outside the run.
import { posix } from 'node:path';
import { SandboxFault } from './backends/backend.ts';

/**
 * The absolute path of a name within the run's file system: relative to the run's directory, or absolute if
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

/** Like confine, for a file that is written. @throws {SandboxFault} with Python's message for the directory itself */
export function confineFile(name: string, directory: string, privateRoot: boolean): string {
  const path = confine(name, directory, privateRoot);
  if (path === directory) throw new SandboxFault(`[Errno 21] Is a directory: '${directory}/'`);
  return path;
}

/**
 * Decodes as Python's binascii.a2b_base64 does in non-strict mode: other characters are skipped, and the first
 * padding that completes a group ends the data.
 * @throws {SandboxFault} with Python's message, which upstream puts into its answer
 */
export function decodeBase64(text: string): Buffer {
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  const data = Buffer.alloc(text.length);
  let length = 0;
  let pads = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const inGroup = length % 4;
    if (isBase64(code)) {
      data[length++] = code;
      pads = 0;
    } else if (code === PAD && inGroup >= 2 && inGroup + ++pads >= 4) return decodedContent(data, length);
  }
  if (length % 4 === 1) {
    throw new SandboxFault(
      `Invalid base64-encoded string: number of data characters (${length}) cannot be 1 more than a multiple of 4`,
    );
  }
  if (length % 4 !== 0) throw new SandboxFault('Incorrect padding');
  return decodedContent(data, length);
}

const PAD = 61;
const isBase64 = (code: number): boolean =>
  (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 43 || code === 47;
const decodedContent = (data: Buffer, length: number): Buffer =>
  Buffer.from(data.toString('latin1', 0, length), 'base64');

/** Each file takes a moment on any backend. */
const MOST_FILES = 1000;

/** The files of a request: null values and upstream's marker are skipped. @throws {SandboxFault} for more files than a run may have */
export function decodeFiles(files: Record<string, string | null>): Map<string, Buffer> {
  const decoded = new Map<string, Buffer>();
  for (const [name, content] of Object.entries(files)) {
    if (content === null || name.includes('IGNORE_THIS_FILE')) continue;
    if (name === '' || name.endsWith('/')) throw new SandboxFault(`[Errno 21] Is a directory: '${name}'`);
    if (decoded.size === MOST_FILES)
      throw new SandboxFault(`${Object.keys(files).length} files are too many; the limit is ${MOST_FILES}`);
    decoded.set(name, decodeBase64(content));
  }
  return decoded;
}
