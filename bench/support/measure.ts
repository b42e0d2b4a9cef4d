import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDump } from './make-dump.ts';

/** The project's folder: `npm run bench` is started in it. */
export const root = process.cwd();
export const bin = join(root, 'dist/rollout-viewer.js');

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
};

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Runs a and b by turns, so that a noisy neighbour meets both. @returns medians */
export async function interleaved(
  runs: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<[number, number]> {
  const [as, bs]: [number[], number[]] = [[], []];
  for (let i = 0; i < runs; i++) {
    as.push(await a());
    bs.push(await b());
  }
  return [median(as), median(bs)];
}

/** One figure: what was measured, against what, and the goal. */
export function figure(what: string, measured: string, reference: string, ratio: number | null, goal: string): void {
  const shown = ratio === null ? '' : `${ratio.toFixed(2)} × `;
  console.log(`${what.padEnd(44)} ${measured.padStart(12)}  ${reference.padEnd(36)} ${shown.padStart(8)} goal ${goal}`);
}

/** A generated dump in .bench/, made once. */
export function madeDump(name: string, steps: number, samples: number, kb: number): string {
  const out = join(root, '.bench/dumps', name);
  if (!existsSync(out) || readdirSync(out).length !== steps) makeDump(out, { steps, samples, kb });
  return out;
}

export const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000;

/** Time on a processor, of all threads; the kernel counts in hundredths. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
