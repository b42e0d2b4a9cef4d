// The memory that processes have mapped, and the kernel's record of it, from /proc.

import { closeSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorCode } from '../../../core/text/thrown.ts';
import { numberAfter, type Process } from './usage.ts';

const KB = 1024;

/** Bytes of pages, each counted once: `own` are those of no file and of no shared memory. */
interface PagesOnce {
  own: number;
  others: number;
}

/** The memory of the processes, with shared pages counted once. The kernel takes long, so this runs in other threads. */
export async function sharedOnce(processes: readonly Process[]): Promise<PagesOnce> {
  const buffer = Buffer.allocUnsafe(4096);
  const once: PagesOnce = { own: 0, others: 0 };
  for (const { pid, folder, bytes } of processes) {
    // The kernel sums up through the first thread only.
    if (folder !== `/proc/${pid}`) {
      once.others += bytes;
      continue;
    }
    try {
      const file = await open(`${folder}/smaps_rollup`);
      try {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
        const rollup = buffer.toString('latin1', 0, bytesRead);
        once.own += numberAfter(rollup, '\nPss_Anon:') * KB;
        once.others += numberAfter(rollup, '\nPss_Shmem:') * KB;
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errorCode(error) === 'EACCES') once.others = Number.POSITIVE_INFINITY;
    }
  }
  return once;
}

/** The size of the kernel's record of an address area, the most areas a process may have, the shortest area, and how much of a list is read. */
const AREA_BYTES = 270;
const MOST_AREAS = 65_530;
const SHORTEST_AREA = 4 * KB;
const LONG_LIST = 400 * KB;

/** Upper bound of kernel memory for the areas of these processes. */
export const mostForAreas = (processes: readonly Process[]): number =>
  processes.reduce((sum, { reserved }) => sum + mostAreasOf(reserved) * AREA_BYTES, 0);
const mostAreasOf = (reserved: number): number => Math.min(MOST_AREAS, reserved / SHORTEST_AREA);

/** Upper bound of the shared memory of these processes beyond the part in `bytes`. */
export const mostShared = (processes: readonly Process[]): number =>
  processes.reduce((sum, process) => sum + Math.max(0, process.mostShared - process.shared), 0);

const SHARED_AREA = /^([0-9a-f]+)-([0-9a-f]+) ...s [0-9a-f]+ (\S+ \d+) +\/dev\/zero \(deleted\)$/gm;

/**
 * The anonymous shared memory that these processes have mapped, beyond the part in `bytes`, each piece once, counted
 * until it exceeds `enough`. For a long list the upper bound is used.
 */
export function forShared(processes: readonly Process[], enough: number): number {
  const pieces = new Map<string, number>();
  const seen = processes.reduce((sum, { shared }) => sum + shared, 0);
  let total = 0;
  for (const { folder, mostShared: most } of processes) {
    if (total - seen > enough) break;
    const maps = fileStart(`${folder}/maps`);
    if (maps === null) continue;
    if (maps.length >= LONG_LIST) {
      total += most;
      continue;
    }
    const own = new Map<string, number>();
    for (const [, from = '', to = '', piece = ''] of maps.matchAll(SHARED_AREA))
      own.set(piece, (own.get(piece) ?? 0) + Number.parseInt(to, 16) - Number.parseInt(from, 16));
    for (const [piece, size] of own) {
      total += Math.max(0, size - (pieces.get(piece) ?? 0));
      pieces.set(piece, Math.max(size, pieces.get(piece) ?? 0));
    }
  }
  return Math.max(0, total - seen);
}

const list = Buffer.allocUnsafe(LONG_LIST);

/** As much of a /proc file as makes a long list; null if its process has ended, or is out of reach. Synchronous: a run fills its memory meanwhile. */
function fileStart(path: string): string | null {
  try {
    const file = openSync(path, 'r');
    try {
      let length = 0;
      for (let read = -1; read !== 0 && length < LONG_LIST; length += read)
        read = readSync(file, list, length, LONG_LIST - length, null);
      return list.toString('latin1', 0, length);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/**
 * Kernel memory for the areas of these processes, counted until it exceeds `enough`. A long list is not read to its end, which would take 30 ms: the upper bound is
 * used. The lists of children with the same reservations as another process are not read either.
 */
export async function forAreas(processes: readonly Process[], enough: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(16 * KB);
  const known = new Map<number, number>();
  let areas = 0;
  for (const { folder, reserved } of processes) {
    if (areas * AREA_BYTES > enough) break;
    areas += known.get(reserved) ?? 0;
    if (known.has(reserved)) continue;
    try {
      const file = await open(`${folder}/maps`);
      try {
        let [lines, length] = [0, 0];
        for (;;) {
          const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
          if (bytesRead === 0) break;
          for (let at = buffer.indexOf(10); at >= 0 && at < bytesRead; at = buffer.indexOf(10, at + 1)) lines++;
          length += bytesRead;
          if (length < LONG_LIST) continue;
          lines = mostAreasOf(reserved);
          break;
        }
        known.set(reserved, lines);
        areas += lines;
      } finally {
        await file.close();
      }
    } catch {
      // It has ended since, or is out of reach.
    }
  }
  return areas * AREA_BYTES;
}
