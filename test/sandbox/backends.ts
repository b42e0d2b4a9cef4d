// Which confining backends this machine has, for the suites that run on each of them.
import { findOnPath } from '../../src/sandbox/server/backends/interpreters.ts';

export const CONFINING = ['bubblewrap', 'pyodide'] as const;
export type Confining = (typeof CONFINING)[number];

/** Why a backend is skipped here; null where it must work. */
export const lack: Record<Confining, string | null> = {
  bubblewrap: findOnPath('bwrap') === null ? 'bwrap is not on PATH' : null,
  pyodide: null,
};

/** A suite's name, with the reason where it is skipped. */
export const named = (what: string, backend: Confining): string =>
  lack[backend] === null ? `${what}, ${backend}` : `${what}, ${backend} (skipped: ${lack[backend]})`;
