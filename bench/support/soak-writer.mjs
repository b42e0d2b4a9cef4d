// A trainer that behaves badly: node soak-writer.mjs DIRECTORY SECONDS LINES_A_SECOND FILES
// It appends over all files in turns, in pieces; restarts files as a resumed run does, cuts them short, rotates them, replaces them by a rename.
// Once a second it appends a marked line to 99.jsonl and says so on stdout. At its end it says what each file holds.
import { appendFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory, seconds, rate, files] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const TICK = 50;
const MARKS = '99';
/** Marked lines after which their file is cut, so that there is always room for them on the screen. */
const MARKS_KEPT = 12;

const path = (step) => join(directory, `${step}.jsonl`);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const now = () => performance.timeOrigin + performance.now();

/** The content of each file: a line is [its text, its score]; the score of a line that was cut is null. */
const truth = new Map();
/** Halves of lines that are still to be written. */
const halves = new Map();
let serial = 0;

function line(step, score) {
  const n = ++serial;
  const value = score ?? (n % 9999) / 10_000;
  const output = `<think>\nLine ${n} of the run.\n</think>\n${'So the number of apples is 计算. '.repeat(20 + (n % 40))}`;
  const record = {
    input: `user\nProblem ${step}-${n >> 2}\nassistant\n`,
    output,
    gts: '1',
    score: value,
    step: Number(step),
  };
  return [`${JSON.stringify(record)}\n`, value];
}

const text = (lines) => lines.map(([text]) => text).join('');

function append(step) {
  const [whole, score] = line(step);
  const lines = truth.get(step);
  lines.push([whole, score]);
  if (Math.random() < 0.9) return appendFileSync(path(step), whole);
  const bytes = Buffer.from(whole);
  const at = Math.floor(Math.random() * bytes.length);
  appendFileSync(path(step), bytes.subarray(0, at));
  halves.set(step, bytes.subarray(at));
}

function end(step) {
  if (halves.has(step)) appendFileSync(path(step), halves.get(step));
  halves.delete(step);
}

const fresh = (step, count) => Array.from({ length: count }, () => line(step));
const some = (step) => Math.floor(Math.random() * (truth.get(step).length + 4));

const EVENTS = {
  /** A resumed run writes the step again, in place and without a rename. */
  resumed(step) {
    truth.set(step, fresh(step, some(step)));
    writeFileSync(path(step), text(truth.get(step)));
  },
  replaced(step) {
    truth.set(step, fresh(step, some(step)));
    writeFileSync(`${path(step)}.tmp`, text(truth.get(step)));
    renameSync(`${path(step)}.tmp`, path(step));
  },
  rotated(step) {
    renameSync(path(step), `${path(step)}.1`);
    truth.set(step, fresh(step, 1));
    writeFileSync(path(step), text(truth.get(step)));
  },
  truncated(step) {
    truth.set(step, truth.get(step).slice(0, some(step)));
    truncateSync(path(step), Buffer.byteLength(text(truth.get(step))));
  },
  /** In the middle of a line, as a full disk does; the next text is on a new line. */
  torn(step) {
    const lines = truth.get(step);
    if (lines.length === 0) return;
    truncateSync(path(step), statSync(path(step)).size - 40);
    appendFileSync(path(step), '\n');
    const [whole] = lines.pop();
    const torn = Buffer.concat([Buffer.from(whole).subarray(0, -40), Buffer.from('\n')]).toString();
    lines.push([torn, null]);
  },
};

const steps = Array.from({ length: files }, (_, i) => String(i + 1));
for (const step of [...steps, MARKS]) {
  truth.set(step, fresh(step, 2));
  writeFileSync(path(step), text(truth.get(step)));
}
say({ ready: true });
await new Promise((resolve) => process.stdin.once('data', resolve));

let owed = 0;
let marks = 0;
let lines = 0;
const counts = Object.fromEntries(Object.keys(EVENTS).map((name) => [name, 0]));
const start = now();
for (let tick = 1; now() - start < seconds * 1000; tick++) {
  for (const step of halves.keys()) if (Math.random() < 0.5) end(step);
  for (owed += (rate * TICK) / 1000; owed >= 1; owed--, lines++) {
    const step = steps[Math.floor(Math.random() * steps.length)];
    end(step);
    append(step);
  }
  if (tick % 10 === 0) {
    const names = Object.keys(EVENTS);
    const name = names[Math.floor(Math.random() * names.length)];
    const step = steps[Math.floor(Math.random() * steps.length)];
    end(step);
    EVENTS[name](step);
    counts[name]++;
  }
  if (tick % 20 === 0) {
    const kept = truth.get(MARKS);
    if (kept.length > MARKS_KEPT) {
      kept.length = 2;
      truncateSync(path(MARKS), Buffer.byteLength(text(kept)));
    } else {
      // No multiple of a hundred: 1.0100 would be shown as 1.01.
      marks += (marks + 1) % 100 === 0 ? 2 : 1;
      const marked = line(MARKS, 1 + marks / 10_000);
      const at = now();
      appendFileSync(path(MARKS), marked[0]);
      kept.push(marked);
      say({ mark: marked[1].toFixed(4), at });
    }
  }
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, start + tick * TICK - now())));
}
for (const step of halves.keys()) end(step);
say({
  lines,
  counts,
  truth: Object.fromEntries([...truth].map(([step, lines]) => [step, lines.map(([, score]) => score)])),
});
