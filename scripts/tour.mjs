// The content that scripts/record.mjs shows: the keys, a training run in progress, and a run with an incident.
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Recordings of the README: what is opened, and for each step the keys, the text that must be on screen after them, and seconds
 * to read it. `plays`: training writes a step meanwhile.
 */
export const RECORDINGS = {
  incident: {
    run: 'planted',
    args: [],
    steps: [
      { keys: '', sees: '▌›assistant', seconds: 3 },
      { keys: 'g', sees: 'Signal', seconds: 3 },
      { keys: 'e', sees: 'began to fail', seconds: 6 },
      { keys: '\r', sees: 'around step 60', seconds: 4 },
      { keys: 'jjj', sees: /› +after/, seconds: 2 },
      { keys: '\r', sees: /\.jsonl:\d+ {2}sample/, seconds: 2 },
      { keys: 'e', sees: /timed out|Timeout/, seconds: 6 },
    ],
  },
  retry: {
    run: 'fixtures',
    args: ['--sandbox', 'auto'],
    steps: [
      { keys: '', sees: '▌›assistant', seconds: 3 },
      { keys: 'e', sees: 'a Python traceback', seconds: 5 },
      { keys: '!', sees: 'Enter run', seconds: 4 },
      { keys: 'E', sees: 'line 1 of 3', seconds: 3 },
      { keys: 'total = 50000\r', sees: 'line 2 of 4', seconds: 3 },
      { keys: '\x13', sees: 'Enter run', seconds: 3 },
      { keys: '\r', sees: /again: /, seconds: 6 },
    ],
  },
  live: {
    run: 'fixtures',
    args: ['--notify', 'score<0.9'],
    steps: [
      { keys: '', sees: '▌›assistant', seconds: 3 },
      { keys: 'F', sees: '4.jsonl', seconds: 3, plays: true },
      { keys: '', sees: /\n .*score 0\.\d+/, seconds: 5 },
    ],
  },
};

/** A copy of a dump to which training adds one step. */
export function playedRun(fixtures) {
  const directory = join(mkdtempSync(join(tmpdir(), 'rollout-viewer-tour-')), 'rollout_data');
  cpSync(fixtures, directory, { recursive: true });
  const train = join(directory, 'train');
  // Dated a while ago: a step written just now would be drawn as arriving.
  const before = new Date(Date.now() - 600_000);
  for (const name of readdirSync(directory, { recursive: true })) utimesSync(join(directory, name), before, before);
  const lines = readFileSync(join(train, '3.jsonl'), 'utf8').trimEnd().split('\n');
  return {
    directory,
    play() {
      const records = lines.map((line) =>
        line.replace('"step": 3', '"step": 4').replace('"score": NaN', '"score": 1.0'),
      );
      const write = () => {
        const record = records.shift();
        if (record === undefined) return;
        appendFileSync(join(train, '4.jsonl'), `${record}\n`);
        setTimeout(write, 150);
      };
      write();
    },
  };
}

/** A run of 100 steps in which a tool dies at step 60, as the tests plant it. */
export async function plantedRun(root) {
  const { build } = await import('esbuild');
  const parent = mkdtempSync(join(tmpdir(), 'rollout-viewer-tour-'));
  const outfile = join(parent, 'planted.mjs');
  await build({ entryPoints: [join(root, 'test/support/planted-run.ts')], bundle: true, format: 'esm', outfile });
  const planted = await import(outfile);
  const { files } = planted.plantedRun(3, { steps: 100, prompts: 8, n: 4 }, { deadTool: { step: 60, wording: 2 } });
  const directory = join(parent, 'rollout_data');
  mkdirSync(directory);
  const before = new Date(Date.now() - 86_400_000);
  for (const [name, rows] of Object.entries(files)) {
    const path = join(directory, name);
    writeFileSync(path, `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
    utimesSync(path, before, before);
  }
  return { directory };
}
