import { z } from 'zod';
import { itemAt } from '../../core/lists/at.ts';
import type { Address } from './address.ts';
import { outputOf, whole } from './child.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';

/** rclone's statuses: 5 = a temporary error; 1 may succeed on a retry, but not where a key is refused or missing. */
const RULES = {
  lost: [1, 5],
  refused:
    /AccessDenied|Forbidden|NoSuchBucket|InvalidAccessKeyId|SignatureDoesNotMatch|didn't find section|directory not found|status code: 40[0-4]/,
};

/** The list of a bucket comes by the thousand, and its own times with it: the time of each object would cost another request. */
const LISTING = ['lsjson', '--recursive', '--files-only', '--no-mimetype', '--fast-list', '--use-server-modtime'];

/** The mirror waits for a lost connection, and reports it. */
const PATIENCE = ['--contimeout', '10s', '--timeout', '30s', '--retries', '1', '--low-level-retries', '3'];

const Listed = z.array(z.object({ Path: z.string(), Size: z.number(), ModTime: z.string() }));

/** Anything that an installed rclone can reach under a name of its settings: HDFS, WebDAV, Azure … */
export class RcloneSource implements Machine {
  readonly name: string;
  readonly #remote: string;
  readonly #isAbsolute: boolean;

  constructor({ name }: Extract<Address, { kind: 'rclone' }>) {
    this.name = name.replace(/:\.?$/, '');
    this.#remote = name.slice('rclone:'.length).replace(/\.$/, '');
    this.#isAbsolute = !name.endsWith('.');
  }

  async list(path: string, signal: AbortSignal): Promise<{ root: string; files: RemoteFile[] }> {
    const said = await whole(this.#output([...LISTING, '--', this.#at(path)], signal));
    let listed: z.infer<typeof Listed>;
    try {
      listed = Listed.parse(JSON.parse(said.toString()));
    } catch {
      throw new SourceError(`${path}: rclone's list cannot be read`, false);
    }
    const root = path.replace(/\/+$/, '');
    const name = root.split('/').at(-1);
    // A file is listed by its name alone, like a file of that name in a folder.
    const isFile =
      listed.length === 1 && itemAt(listed, 0).Path === name && !(await this.#hasInside(root, name, signal));
    const folder = isFile ? root.slice(0, root.lastIndexOf('/')) : root;
    return {
      root: root === '' ? '/' : root,
      files: listed
        .filter((file) => !file.Path.split('/').some((part) => part.startsWith('.')))
        .map((file) => ({
          path: `${folder}/${file.Path}`,
          size: file.Size,
          modified: Math.floor(Date.parse(file.ModTime) / 1000) || 0,
          inode: '',
        })),
    };
  }

  async #hasInside(root: string, name: string, signal: AbortSignal): Promise<boolean> {
    try {
      const said = await whole(this.#output(['lsjson', '--', this.#at(`${root}/${name}`)], signal));
      // In a bucket a folder that is not there is an empty one.
      return Listed.parse(JSON.parse(said.toString())).length > 0;
    } catch {
      return false;
    }
  }

  async *read(path: string, offset: number, end: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const until = Number.isFinite(end) ? ['--count', String(end - offset)] : [];
    yield* this.#output(['cat', '--offset', String(offset), ...until, '--', this.#at(path)], signal);
  }

  close(): void {}

  #output = (args: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer> =>
    outputOf('rclone', [...PATIENCE, ...args], RULES, signal);

  #at = (path: string): string => this.#remote + (this.#isAbsolute ? path : path.slice(1));
}
