import * as zlib from 'node:zlib';
import type { Pack } from './whole-file.ts';

/**
 * How a file of that name is compressed: by gzip or zstd, a member or frame for each megabyte, which every reader joins.
 * @throws Error if this version of Node has no zstd
 */
export function packOf(path: string): Pack {
  if (path.endsWith('.gz')) return (data) => zlib.gzipSync(data);
  if (!path.endsWith('.zst')) return (data) => data;
  // Node has it from 22.15 on.
  const zstd = (zlib as { zstdCompressSync?: (data: Buffer) => Buffer }).zstdCompressSync;
  if (zstd === undefined)
    throw new Error(`Node ${process.versions.node} writes no zstd: 22.15 does, or name the file ….gz`);
  return (data) => zstd(data);
}
