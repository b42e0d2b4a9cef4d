import { fstatSync } from 'node:fs';
import type { Work } from '../../core/dump/place.ts';
import { StatusLine } from './status-line.ts';

/** Shorter work needs no line. */
const AFTER_MS = 500;

const line = new StatusLine();
const startedAt = performance.now();
let isShown = false;
let isOff = false;

process.once('exit', eraseWork);

/** On a terminal, one line on stderr with the part of the work that is done. It goes when anything else is printed. */
export function showWork({ what, done, total }: Work): void {
  if (isOff || total === 0 || performance.now() - startedAt < AFTER_MS) return;
  isShown = true;
  line.show(`${what}  ${Math.min(100, Math.floor((100 * done) / total))} %`);
}

export function eraseWork(): void {
  if (isShown) line.clear();
  isShown = false;
}

/** Something else has the terminal from now on, or it is to stay quiet. */
export function endWork(): void {
  eraseWork();
  isOff = true;
}

/** The answer begins. On a terminal, or in a pager, it is all that is shown. */
export function beginAnswer(): void {
  if (isOff) return;
  if (isFile(1)) eraseWork();
  else endWork();
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
