import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { App } from '../test/support/driver/app.ts';
import { bin, cpuSeconds, figure, residentMegabytes } from './support/measure.ts';

const MINUTES = Number(process.env.WATCH_MINUTES ?? 10);
const ROLLOUTS = Number(process.env.WATCH_ROLLOUTS ?? 1_000_000);
const STEPS = Number(process.env.WATCH_STEPS ?? 2000);
/** The oldest steps are removed, as a run does that keeps its last ones. */
const KEPT_STEPS = 400;
/** Steps are added to some bytes at a time, so that the last line is often half written. */
const WRITES = 4;
const LOOKS = 20;

/** A night of watching in minutes: steps come, grow, are replaced and removed; memory, descriptors and the first line. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-watch-'));
  const size = Math.ceil(ROLLOUTS / STEPS);
  writeStep(folder, 1, size);
  const app = App.start([folder, '--follow'], { columns: 200, rows: 50, command: [process.execPath, bin] });
  try {
    await app.sees('1.jsonl');
    const looks: { minutes: number; megabytes: number; descriptors: number }[] = [];
    const begun = performance.now();
    const look = () =>
      looks.push({
        minutes: (performance.now() - begun) / 60_000,
        megabytes: residentMegabytes(app.pid),
        descriptors: readdirSync(`/proc/${app.pid}/fd`).length,
      });
    for (let step = 2; step <= STEPS; step++) {
      await writeSlowly(folder, step, size);
      if (step > KEPT_STEPS) rmSync(join(folder, `${step - KEPT_STEPS}.jsonl`));
      // A run that was resumed writes its last step again.
      if (step % 97 === 0) writeStep(folder, step, size);
      if (step % 13 === 0) app.press(step % 2 === 0 ? 'j' : 'k');
      if (step % Math.floor(STEPS / LOOKS) === 0) look();
      const ahead = (step / STEPS) * MINUTES * 60_000 - (performance.now() - begun);
      if (ahead > 0) await rest(ahead);
    }
    const kept = readdirSync(folder).length;
    const rows = kept * size;
    const line = `${kept.toLocaleString('en')} steps · ${rows.toLocaleString('en')} rollouts`;
    await app.until(() => app.screen().includes(line), `the first line to say ${line}`, 120_000);
    look();
    const half = looks[looks.length >> 1];
    const last = looks.at(-1);
    if (half === undefined || last === undefined) throw new Error('too few steps to look');
    figure('rollouts that came, in minutes', `${STEPS * size}`, `${last.minutes.toFixed(1)} min`, null, '');
    figure('the first line at the end', 'right', line, null, 'right');
    figure('memory, end ÷ middle', mb(last.megabytes), mb(half.megabytes), last.megabytes / half.megabytes, '≤ 1.15 ×');
    figure('descriptors, end less middle', `${last.descriptors - half.descriptors}`, `${last.descriptors}`, null, '0');
    figure('processor', `${cpuSeconds(app.pid).toFixed(0)} s`, '', null, '');
    console.log(
      looks
        .map((one) => `${one.minutes.toFixed(1)} min ${one.megabytes.toFixed(0)} MB ${one.descriptors} fd`)
        .join('\n'),
    );
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const mb = (megabytes: number): string => `${megabytes.toFixed(0)} MB`;

const line = (step: number, at: number): string =>
  `${JSON.stringify({ input: `user\nWhat is ${at} + ${step}?\nassistant\n`, output: `It is ${at + step}.`.repeat(4), gts: `${at + step}`, score: at % 3 === 0 ? 1 : 0, step })}\n`;

const textOfStep = (step: number, size: number): string =>
  Array.from({ length: size }, (_, at) => line(step, at)).join('');

const writeStep = (folder: string, step: number, size: number): void =>
  writeFileSync(join(folder, `${step}.jsonl`), textOfStep(step, size));

async function writeSlowly(folder: string, step: number, size: number): Promise<void> {
  const text = textOfStep(step, size);
  const path = join(folder, `${step}.jsonl`);
  for (let part = 0; part < WRITES; part++) {
    appendFileSync(
      path,
      text.slice(Math.floor((text.length * part) / WRITES), Math.floor((text.length * (part + 1)) / WRITES)),
    );
    await rest(1);
  }
  if (readFileSync(path).length !== Buffer.byteLength(text)) throw new Error(`${path} is not whole`);
}
