import { fileURLToPath } from 'node:url';
import { random } from './support/random.ts';
import { DamagedFiles, faultOf, sampleRecords } from './support/variants.ts';

/** Of records; a tenth as many of files, which are opened from their first byte. */
const RUNS = Number(process.env.RV_RUNS ?? 100_000);
const SEED = Number(process.env.RV_SEED ?? 11);
/** A record that takes longer than this is as good as a hang. */
const SLOW = 2000;

/**
 * npm run bench formats: records of all writers with values dropped, swapped or of another type, and their files with bytes cut off, changed,
 * taken out or exchanged; none may throw, hang or fall apart, and whole lines before the damage stay.
 */
export async function run(): Promise<void> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  await damaged(root);
  const records = await sampleRecords(root);
  const next = random(SEED);
  let faults = 0;
  let longest = 0;
  const begun = performance.now();
  for (let i = 0; i < RUNS; i++) {
    const at = performance.now();
    const fault = faultOf(records[i % records.length]!, next);
    const took = performance.now() - at;
    longest = Math.max(longest, took);
    if (fault === null && took < SLOW) continue;
    if (faults++ < 10) console.log(fault ?? `${Math.round(took)} ms: variant ${i} of record ${i % records.length}`);
  }
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `${RUNS} variants of ${records.length} records: ${faults} thrown, broken or slow; the longest took ${longest.toFixed(0)} ms, all of them ${seconds.toFixed(0)} s`,
  );
}

async function damaged(root: string): Promise<void> {
  const files = new DamagedFiles(root);
  const next = random(SEED);
  const runs = RUNS / 10;
  let faults = 0;
  let longest = 0;
  const begun = performance.now();
  for (let i = 0; i < runs; i++) {
    const at = performance.now();
    const fault = await files.faultOf(i, next);
    const took = performance.now() - at;
    longest = Math.max(longest, took);
    if (fault === null && took < SLOW) continue;
    if (faults++ < 10) console.log(fault ?? `${Math.round(took)} ms: variant ${i} of file ${i % files.count}`);
  }
  files.close();
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `${runs} damaged variants of ${files.count} files: ${faults} thrown, short or slow; the longest took ${longest.toFixed(0)} ms, all of them ${seconds.toFixed(0)} s`,
  );
}
