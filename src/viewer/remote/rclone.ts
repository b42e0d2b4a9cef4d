import { z } from 'zod';
import type { Address } from './address.ts';
import { outputOf, whole } from './child.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';

/** rclone's statuses: 5 = a temporary error; 1 may succeed on a retry, but not where a key is refused or missing. */
const RULES = {
  lost: [1, 5],
  refused:
    /AccessDenied|Forbidden|NoSuchBucket|InvalidAccessKeyId|SignatureDoesNotMatch|NoCredentialProviders|could not find default credentials|didn't find section|directory not found|status code: 40[0-4]/,
};

/** The list of a bucket comes by the thousand, and its own times with it: a time of each object would be a request of its own. */
const LISTING = ['lsjson', '--recursive', '--files-only', '--no-mimetype', '--fast-list', '--use-server-modtime'];

/** A lost connection is the mirror's to wait for, and to tell. */
const PATIENCE = ['--contimeout', '10s', '--timeout', '30s', '--retries', '1', '--low-level-retries', '3'];

type RcloneAddress = Extract<Address, { kind: 'rclone' | 'store' }>;

/** Where rclone finds what the address names: a store needs no settings, its keys are found as its own programs find them. */
function remoteOf(address: RcloneAddress): { remote: string; isAbsolute: boolean } {
  if (address.kind === 'rclone')
    return {
      remote: address.name.slice('rclone:'.length).replace(/\.$/, ''),
      isAbsolute: !address.name.endsWith('.'),
    };
  const backend =
    address.scheme === 'gs'
      ? ':gcs,env_auth=true'
      : `:s3,env_auth=true,provider=${s3Endpoint() === undefined ? 'AWS' : 'Other'}`;
  return { remote: `${backend}:${address.bucket}`, isAbsolute: true };
}

const s3Endpoint = (): string | undefined =>
  process.env.RCLONE_S3_ENDPOINT ?? process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;

/** What AWS's own programs read, as rclone calls it; its own settings come first. */
function storeEnvironment(): NodeJS.ProcessEnv {
  const endpoint = s3Endpoint();
  const region = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  // rclone cannot use the variable with keys that it finds by itself, and has one of its own for it.
  const { AWS_CA_BUNDLE: authorities, ...environment } = process.env;
  return {
    ...(authorities === undefined ? {} : { RCLONE_CA_CERT: authorities }),
    ...(endpoint === undefined ? {} : { RCLONE_S3_ENDPOINT: endpoint }),
    ...(region === undefined ? {} : { RCLONE_S3_REGION: region }),
    ...environment,
  };
}

const Listed = z.array(z.object({ Path: z.string(), Size: z.number(), ModTime: z.string() }));

/** Anything that an installed rclone can reach: S3, GCS, HDFS, WebDAV …, also by `s3://` and `gs://` without any settings */
export class RcloneSource implements Machine {
  readonly name: string;
  readonly #remote: string;
  readonly #isAbsolute: boolean;
  readonly #environment: NodeJS.ProcessEnv | undefined;

  constructor(address: RcloneAddress) {
    this.name = address.name.replace(/:\.?$/, '');
    const { remote, isAbsolute } = remoteOf(address);
    this.#remote = remote;
    this.#isAbsolute = isAbsolute;
    this.#environment = address.kind === 'store' ? storeEnvironment() : undefined;
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
    const isFile = listed.length === 1 && listed[0]!.Path === name && !(await this.#hasInside(root, name, signal));
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
    outputOf('rclone', [...PATIENCE, ...args], RULES, signal, this.#environment);

  #at = (path: string): string => this.#remote + (this.#isAbsolute ? path : path.slice(1));
}
