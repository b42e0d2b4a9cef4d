// The same export twice, for every format.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EXPORT_FORMATS } from '../../../src/analysis/export/registry.ts';
import { exportRollouts } from '../../../src/viewer/commands/export-run.ts';
import { bin, directoryWith, execute } from '../../program.ts';

/** A line that every format can hold. */
const line = (at: number): string =>
  JSON.stringify({
    input: `<|im_start|>user\nWhat is ${at % 3} + 2?<|im_end|>\n<|im_start|>assistant\n`,
    output: `It is ${at}, 東京 👩‍💻.<|im_end|>`,
    gts: '4',
    score: at < 5 ? 1 : 0.25,
    step: 1,
    id: at,
    data_source: `task ${at % 2}`,
    prompt_ids: [1, 2],
    response_ids: [3, 4, 5],
    response_mask: [1, 1, 1],
    rollout_log_probs: [-0.5, -1e-7, 0],
    advantages: [0.5, 0.5, 0.5],
    temperature: 0.7,
  });

const flags = { inferred: false, copies: true, pairs: 'all' as const, seed: '0' };
let folder = '';
beforeEach(() => {
  folder = directoryWith({ '1.jsonl': Array.from({ length: 12 }, (_, at) => line(at)).join('\n') });
  vi.stubEnv('XDG_STATE_HOME', folder);
  vi.spyOn(process.stdout, 'write').mockImplementation((_, done?: unknown) => {
    if (typeof done === 'function') done();
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** The bytes of the export and of its cards. */
async function exported(out: string, more: object): Promise<Buffer[]> {
  expect(await exportRollouts([join(folder, '1.jsonl')], { ...flags, out, to: '', ...more } as never)).toBe(0);
  return ['', '.card.json', '.card.md'].map((ending) => readFileSync(out + ending));
}

test.each(EXPORT_FORMATS.map(({ name }) => name))('%s is the same to the byte', async (to) => {
  const out = join(folder, 'out');
  const first = await exported(out, { to });
  const [file] = first;
  expect(file?.length).toBeGreaterThan(100);
  // A clock or a number of this process in the file would differ.
  vi.useFakeTimers({ now: 0, toFake: ['Date'] });
  try {
    for (const path of [out, `${out}.card.json`, `${out}.card.md`]) rmSync(path);
    expect(await exported(out, { to })).toEqual(first);
    const { takes } = EXPORT_FORMATS.find(({ name }) => name === to) ?? {};
    const balance = takes === 'pairs' ? {} : { balance: 'task' };
    const drawn = await exported(out, { to, force: true, redact: takes !== 'rollouts', ...balance });
    expect(await exported(out, { to, force: true, redact: takes !== 'rollouts', ...balance })).toEqual(drawn);
  } finally {
    vi.useRealTimers();
  }
});

test("the card's command makes the file again to the byte, whatever its words are", async () => {
  vi.restoreAllMocks();
  const name = `it's "1" $HOME.jsonl`;
  writeFileSync(join(folder, name), readFileSync(join(folder, '1.jsonl')));
  const args = ['export', name, '--to', 'trl', '--filter', "score > 0.5 && output ~ 'It is'", '--out', 'a b.jsonl.gz'];
  const all = [...args, '--balance', 'task', '--seed', 'x y', '--split', 'train=0.5,val=0.5'];
  const env = { ...process.env, XDG_STATE_HOME: folder };
  const made = await execute(process.execPath, [bin, ...all], { cwd: folder, env });
  expect(made.code, made.stderr).toBe(0);
  const path = (one: string) => join(folder, one);
  const before = ['a b.jsonl.gz.card.json', 'a b.jsonl.gz.card.md'];
  const first = before.map((one) => readFileSync(path(one)));
  const { command, directory } = JSON.parse(readFileSync(path('a b.jsonl.gz.card.json'), 'utf8'));
  expect(command).not.toContain('--force');
  const parts = ['a b.train.jsonl.gz', 'a b.val.jsonl.gz'];
  const rows = parts.map((one) => readFileSync(path(one)));
  for (const one of [...before, ...parts]) rmSync(path(one));
  const shell = `rollout-viewer() { "$NODE" "$BIN" "$@"; }; cd "$PLACE" && ${command}`;
  const again = await execute('bash', ['-c', shell], {
    env: { ...env, NODE: process.execPath, BIN: bin, PLACE: directory },
  });
  expect(again.code, again.stderr).toBe(0);
  expect(before.map((one) => readFileSync(path(one)))).toEqual(first);
  expect(parts.map((one) => readFileSync(path(one)))).toEqual(rows);
});
