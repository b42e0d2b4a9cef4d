// The installed wheel in the hooks of trainers: verl's two trainers and slime, by the forms in trainer-forms.json.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { directoryWith, execute, jsonLines, rolloutViewer, root } from '../../program.ts';

/** The wheel as pip unpacks it. */
let site = '';
beforeAll(async () => {
  const place = directoryWith({});
  const made = await execute(process.execPath, [join(root, 'scripts/wheel.mjs'), place]);
  expect(made.code).toBe(0);
  site = join(place, 'site');
  mkdirSync(site);
  const wheel = join(place, made.stdout.trim().split('/').at(-1)!);
  expect((await execute('python3', ['-m', 'zipfile', '-e', wheel, site])).code).toBe(0);
});

async function run(kind: string, env: NodeJS.ProcessEnv = {}, directory = join(directoryWith({}), 'rollout_data')) {
  const script = join(root, 'test/engine/python/trainers.py');
  const { code, stdout, stderr } = await execute('python3', [script, kind, directory], {
    env: { PYTHONPATH: site, ...env },
  });
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return { directory, stdout: stdout.trim(), stderr };
}

const linesIn = (directory: string) =>
  readdirSync(directory).flatMap((name) => jsonLines(readFileSync(join(directory, name), 'utf8')));

describe.each(['verl0', 'verl1'])('%s', (kind) => {
  test('records masks, ids, advantages and the ground truth in place of its own dump', async () => {
    const { directory, stdout } = await run(kind);
    expect(stdout).toBe('None');
    const [line, ...more] = linesIn(directory);
    // Copies that fill a batch up are no rollouts.
    expect(more).toEqual([]);
    expect(line).toMatchObject({ step: 7, score: 1, gts: '4', acc: true, uid: kind === 'verl0' ? 'b1' : 'a_0_0' });
    const ids = line!.response_ids as number[];
    expect((line!.response_mask as number[]).length).toBe(ids.length);
    expect(line!.output).toBe(String.fromCharCode(...ids));
    const shown = await rolloutViewer(['show', '--json', join(directory, `${readdirSync(directory)[0]}:1`)]);
    expect(JSON.parse(shown.stdout).turns).toMatchObject([
      { role: 'user', trained: false },
      { role: 'assistant', trained: true, tool_calls: [{ name: 'calc' }] },
      { trained: false },
      { role: 'assistant', trained: true },
    ]);
  });

  test('writes its own dump where the recorder is switched off', async () => {
    expect((await run(kind, { ROLLOUT_VIEWER_RECORD: '0' })).stdout).toBe('own dump');
  });

  test('goes on where the folder cannot be written, where its own dump would end the step', async () => {
    const { stdout, stderr } = await run(kind, {}, '/dev/null/rollout_data');
    expect(stdout).toBe('None');
    expect(stderr).toContain('could not write to /dev/null/rollout_data, and training continues');
  });
});

test('a verl of another form writes its own dump, and it is said once', async () => {
  const { stdout, stderr } = await run('verl-other');
  expect(stdout).toBe('own dump');
  expect(stderr).toContain('does not know this verl');
});

test('slime, SkyRL and TRL of another form are named once, nothing is written, and training continues', async () => {
  const { directory, stderr } = await run('unknown');
  expect(
    stderr
      .trimEnd()
      .replaceAll(/ \(.*\)/g, '')
      .split('\n')
      .sort(),
  ).toEqual(
    ['SkyRL', 'TRL', 'slime'].map(
      (name) => `rollout-viewer does not know this ${name}: it is not recorded, and training continues`,
    ),
  );
  expect(existsSync(directory)).toBe(false);
});

test('slime: a removed sample trains nothing, and the reward is that of --reward-key', async () => {
  const { directory } = await run('slime');
  const [kept, removed] = linesIn(join(directory, 'train'));
  expect(kept).toMatchObject({ step: 11, score: 1, reward_scores: { acc: 1, format: 0.5 }, weight_versions: ['5'] });
  expect(kept!.response_mask).toEqual(Array(8).fill(1));
  expect(removed!.response_mask).toEqual(Array(8).fill(0));
  expect(linesIn(join(directory, 'val'))).toMatchObject([{ score: 1, data_source: 'aime' }]);
});

test('SkyRL: rows are taken out of their padding, and a row that only fills the batch does not count', async () => {
  const { directory } = await run('skyrl');
  const [line, ...more] = linesIn(join(directory, 'train'));
  expect(more).toEqual([]);
  expect(line).toMatchObject({ step: 3, score: 1, uid: 'g1' });
  expect(line!.output).toBe(String.fromCharCode(...(line!.response_ids as number[])));
  expect(line!.input).toBe(String.fromCharCode(...(line!.prompt_ids as number[])));
  expect((line!.response_mask as number[]).filter(Boolean).length).toBeGreaterThan(0);
});
