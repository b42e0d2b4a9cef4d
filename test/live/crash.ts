import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bin, directoryWith, jsonLines, rolloutViewer } from '../program.ts';

/** Appends rollouts to three steps for ever, in pieces that end anywhere in a line. */
const WRITER = `
const { openSync, writeSync } = require('node:fs');
const fds = [1, 2, 3].map((step) => openSync(process.argv[1] + '/' + step + '.jsonl', 'a'));
let id = 0;
for (;;) {
  const line = JSON.stringify({ input: 'user\\nq\\nassistant\\n', output: 'x'.repeat(Math.random() * 3000), score: 1, step: 1, id: id++ }) + '\\n';
  const fd = fds[id % 3];
  const cut = Math.floor(Math.random() * line.length);
  writeSync(fd, line.slice(0, cut));
  if (Math.random() < 0.2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  writeSync(fd, line.slice(cut));
}`;

/**
 * Kills a writer and a viewer that follows it at a random moment, starts the viewer again and compares what it lists with the disk.
 * @returns what the second viewer got wrong, an empty list when every whole line is there once
 */
export async function crashOnce(): Promise<string[]> {
  const directory = directoryWith({});
  const writer = spawn(process.execPath, ['-e', WRITER, directory], { stdio: 'ignore' });
  const viewer = spawn(process.execPath, [bin, 'ls', '--follow', '--json', directory], { stdio: 'ignore' });
  // A moment after the first bytes: a viewer takes about 150 ms to start.
  while (!existsSync(join(directory, '1.jsonl'))) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  const ended = [writer, viewer].map((child) => new Promise((resolve) => child.on('close', resolve)));
  for (const child of [writer, viewer].sort(() => Math.random() - 0.5)) child.kill('SIGKILL');
  await Promise.all(ended);

  const { stdout } = await rolloutViewer(['ls', '--json', directory]);
  const listed = jsonLines(stdout);
  const wrong: string[] = [];
  for (const name of readdirSync(directory)) {
    const parts = readFileSync(join(directory, name), 'utf8').split('\n');
    const unended = parts.pop() ?? '';
    const rows = listed.filter((row) => (row.locator as string).startsWith(`${directory}/${name}:`));
    const ids = rows.filter((row) => row.format !== null).map((row) => (row.extras as { id: number }).id);
    const expected = [...parts, ...(isWhole(unended) ? [unended] : [])].map(
      (line) => (JSON.parse(line) as { id: number }).id,
    );
    if (JSON.stringify(ids) !== JSON.stringify(expected))
      wrong.push(`${name}: ${ids.length} rows, ${expected.length} lines`);
    if (rows.length - ids.length !== (unended !== '' && !isWhole(unended) ? 1 : 0))
      wrong.push(`${name}: ${rows.length - ids.length} bad rows`);
  }
  return wrong;
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
