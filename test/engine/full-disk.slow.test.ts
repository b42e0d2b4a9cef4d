// A disk that is really full, and a limit on files: the run ends with a sentence, and goes on once there is room.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bin, directoryWith, execute } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

const canMount = spawnSync('unshare', ['-Urm', 'true']).status === 0;
const why = canMount ? '' : ' (skipped: this system allows no mounts in a new namespace)';
const TASKS = 60;

let model: ScriptedModel;
beforeAll(async () => {
  model = await scriptedModel(({ messages }) => ({ text: `${'so it is, '.repeat(100)}\n#### ${messages[0].content}` }));
});
afterAll(() => model.close());

const tasks = Array.from({ length: TASKS }, (_, at) =>
  JSON.stringify({ prompt: String(at), ground_truth: String(at), data_source: 'gsm8k' }),
).join('\n');

/** Runs the script with `$RUN` as the command and `$OUT` as the folder of its dump. */
async function script(lines: string[], wrapper: string[]) {
  const folder = directoryWith({ 'tasks.jsonl': tasks });
  const out = join(folder, 'out');
  mkdirSync(out);
  const run = `${process.execPath} ${bin} rollout tasks.jsonl --model m --model-url ${model.url} --out ${out}`;
  const [program, ...args] = [...wrapper, 'bash', '-c', lines.join('\n')];
  const env = { RUN: run, OUT: out, FOLDER: folder };
  return { ...(await execute(program!, args, { cwd: folder, env })), folder, out };
}

const shown = (path: string) =>
  dumpLines(path)
    .map(({ input, output, score, uid }) => ({ input, output, score, uid }))
    .sort((a, b) => a.uid.localeCompare(b.uid));

async function clean() {
  const { out } = await script(['$RUN'], []);
  return shown(join(out, '1.jsonl'));
}

describe('a dump that cannot grow', () => {
  it.skipIf(!canMount)(`on a full disk is kept whole, and continued${why}`, async () => {
    const { stderr, stdout, folder } = await script(
      [
        'mount -t tmpfs -o size=64k none $OUT',
        '$RUN; echo "first $?"',
        'mount -o remount,size=10m $OUT',
        '$RUN --resume; echo "second $?"',
        'cp $OUT/1.jsonl $FOLDER/copy.jsonl',
      ],
      ['unshare', '-Urm'],
    );
    expect(stdout).toBe('first 1\nsecond 0\n');
    expect(stderr).toContain('no space left on the disk; whole rollouts are kept');
    expect(stderr).not.toMatch(/ {4}at /);
    expect(readFileSync(join(folder, 'copy.jsonl'), 'utf8').split('\n')).toHaveLength(TASKS + 1);
    expect(shown(join(folder, 'copy.jsonl'))).toEqual(await clean());
  });

  it('under a limit on files is kept whole, and continued', async () => {
    const { stderr, stdout, out } = await script(
      ['(ulimit -f 32; $RUN; echo "first $?")', '$RUN --resume; echo "second $?"'],
      [],
    );
    expect(stdout).toBe('first 1\nsecond 0\n');
    expect(stderr).toContain('the file may not grow any further (ulimit -f); whole rollouts are kept');
    expect(stderr).not.toMatch(/ {4}at /);
    expect(shown(join(out, '1.jsonl'))).toEqual(await clean());
  });
});
