// Which confining backends this machine has, for the suites that run on each of them.
import { spawnSync } from 'node:child_process';
import { findOnPath } from '../../src/sandbox/server/backends/interpreters.ts';

export const CONFINING = ['bubblewrap', 'pyodide'] as const;
export type Confining = (typeof CONFINING)[number];

/** A container may forbid the very namespaces that bubblewrap is made of. */
function lackOfBubblewrap(): string | null {
  const program = findOnPath('bwrap');
  if (program === null) return 'bwrap is not on PATH';
  const trial = spawnSync(program, ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true']);
  return trial.status === 0 ? null : `bwrap does not work here: ${trial.stderr}`.trim();
}

/** Why a backend is skipped here; null where it must work. */
export const lack: Record<Confining, string | null> = {
  bubblewrap: lackOfBubblewrap(),
  pyodide: null,
};

/** A suite's name, with the reason where it is skipped. */
export const named = (what: string, backend: Confining): string =>
  lack[backend] === null ? `${what}, ${backend}` : `${what}, ${backend} (skipped: ${lack[backend]})`;
