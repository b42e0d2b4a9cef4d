import { z } from 'zod';
import type { Address } from './address.ts';
import { outputOf, wholeOutput } from './child.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';

/** rclone's statuses: 5 = a temporary error; 1 may succeed on a retry. */
const RULES = { lost: [1, 5] };

const Listed = z.array(z.object({ Path: z.string(), Size: z.number(), ModTime: z.string() }));

/** Anything that an installed rclone can reach: S3, GCS, HDFS, WebDAV … */
export class RcloneSource implements Machine {
  readonly name: string;
  readonly #remote: string;
  readonly #isAbsolute: boolean;

  constructor({ name }: Extract<Address, { kind: 'rclone' }>) {
    this.name = name.replace(/:\.?$/, '');
    this.#isAbsolute = !name.endsWith('.');
    this.#remote = name.slice('rclone:'.length).replace(/\.$/, '');
  }

  async list(path: string, signal: AbortSignal): Promise<{ root: string; files: RemoteFile[] }> {
    const asked = ['lsjson', '--recursive', '--files-only', '--no-mimetype', '--', this.#at(path)];
    const said = await wholeOutput('rclone', asked, RULES, signal);
    let listed: z.infer<typeof Listed>;
    try {
      listed = Listed.parse(JSON.parse(said.toString()));
    } catch {
      throw new SourceError(`${path}: rclone's list cannot be read`, false);
    }
    const root = path.replace(/\/+$/, '');
    const name = root.split('/').at(-1);
    // A file is listed by its name alone, like a file of that name in a folder.
    const isFile = listed.length === 1 && listed[0]!.Path === name && !(await this.#hasInside(root, name, signal));
    const folder = isFile ? root.slice(0, root.lastIndexOf('/')) : root;
    return {
      root,
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
      const said = await wholeOutput('rclone', ['lsjson', '--', this.#at(`${root}/${name}`)], RULES, signal);
      return said.length > 3;
    } catch {
      return false;
    }
  }

  async *read(path: string, offset: number, end: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const until = Number.isFinite(end) ? ['--count', String(end - offset)] : [];
    const asked = ['cat', '--offset', String(offset), ...until, '--', this.#at(path)];
    yield* outputOf('rclone', asked, RULES, signal);
  }

  close(): void {}

  #at = (path: string): string => this.#remote + (this.#isAbsolute ? path : path.slice(1));
}
