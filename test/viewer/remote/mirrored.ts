// Buckets on loopback, and what a mirror makes of them.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { vi } from 'vitest';
import { remoteName } from '../../../src/viewer/remote/address.ts';
import { Mirror, type MirrorOptions } from '../../../src/viewer/remote/mirror.ts';
import { storeSource } from '../../../src/viewer/remote/stores/open.ts';
import { ObjectServer, objectOf } from '../../support/object-server.ts';

/** Closed by `closeAll`. */
export const servers: { close(): void }[] = [];
const mirrors: Mirror[] = [];

/** After each test of a file. Files share this module, so it cannot ask for that itself. */
export function closeAll(): void {
  for (const one of [...mirrors.splice(0), ...servers.splice(0)]) one.close();
  vi.unstubAllEnvs();
}

export async function bucketOf(files: Record<string, string | Uint8Array>, options = {}): Promise<ObjectServer> {
  const server = await ObjectServer.start(options);
  servers.push(server);
  for (const [key, content] of Object.entries(files)) server.put(key, objectOf(Buffer.from(content)));
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  return server;
}

export const newCache = (): string => mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));

export function mirrorOf(text: string, options: Partial<MirrorOptions> = {}): Mirror {
  const address = remoteName(text)?.address;
  if (address?.kind !== 'store') throw new Error(`${text} is no store`);
  const given = { cache: newCache(), most: 1e9, follows: false, attempts: 20 };
  const mirror = new Mirror({ source: storeSource(address), address, ...given, ...options });
  mirrors.push(mirror);
  return mirror;
}

export const problemOf = (mirror: Mirror): Promise<string | null> =>
  mirror.open().then(
    () => null,
    (error: Error) => error.message,
  );

/** The shown files below a folder. */
export const contentOf = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(root, path), readFileSync(path, 'latin1')]),
  );
