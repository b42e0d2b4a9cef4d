// The trainers' own loaders read exports of conversations that were drawn at random.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { directoryWith, execute, jsonLines, rolloutViewer, root } from '../../program.ts';
import { truthData } from '../../support/shared-data.ts';

/** TRAINERS_PYTHON names a Python with trl, transformers, torch, pandas and pillow; the others checkouts. */
const { TRAINERS_PYTHON: python = 'python3', VERL_SOURCE: verl = '', SLIME_SOURCE: slime = '' } = process.env;
const { NEMO_RL_SOURCE: nemo = '', AXOLOTL_SOURCE: axolotl = '', PRIME_RL_SOURCE: prime = '' } = process.env;
const { LLAMA_FACTORY_SOURCE: factory = '', MS_SWIFT_SOURCE: swift = '', AREAL_SOURCE: areal = '' } = process.env;
const given = join(truthData, 'exports/tok');
const has = (modules: string): boolean => spawnSync(python, ['-c', `import ${modules}`]).status === 0;
const isThere = existsSync(given) && has('trl, transformers, torch, datasets, pandas');
const why = isThere ? '' : ' (skipped: needs ../shared/data/exports, and TRAINERS_PYTHON with trl, torch, pandas)';

const scripts = join(root, 'test/analysis/export/loaders');
const COUNT = 1000;

interface Line {
  id: number;
  input: string;
  output: string;
  prompt_ids: number[];
  response_ids: number[];
  response_mask: number[];
  score: number;
}

interface Loaded {
  id: number;
  ids: number[];
  mask: number[];
}

async function run(script: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await execute(python, [join(scripts, script), ...args]);
  expect(code, stderr).toBe(0);
  return stdout;
}

const printed = (text: string): Loaded[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{"id"'))
    .map((line) => JSON.parse(line) as Loaded);

/** The tokens that a loader trains besides the recorded ones: the line break behind an end token, the header before a reply. */
type Extras = 'nothing' | 'tail' | 'header and tail';

/** Rows that differ from the dump. */
function differing(lines: ReadonlyMap<number, Line>, loaded: readonly Loaded[], extras: Extras): number[] {
  const wrong: number[] = [];
  for (const { id, ids, mask } of loaded) {
    const line = lines.get(id);
    if (line === undefined) throw new Error(`row ${id} is not of the dump`);
    const recorded = [...line.prompt_ids, ...line.response_ids];
    const trained = [...line.prompt_ids.map(() => 0), ...line.response_mask];
    const end = recorded.at(-1);
    const expected = ids.map((_, at) =>
      trained[at] === 1 || (extras !== 'nothing' && trained[at - 1] === 1 && ids[at - 1] === end) ? 1 : 0,
    );
    if (extras === 'header and tail')
      for (const at of trained.keys())
        if (trained[at] === 1 && trained[at - 1] === 0) expected.fill(1, ids.lastIndexOf(recorded[0] ?? -1, at), at);
    const isEqual =
      ids.length <= recorded.length + 1 &&
      recorded.every((token, at) => token === ids[at]) &&
      expected.every((bit, at) => bit === mask[at]);
    if (!isEqual) wrong.push(id);
  }
  return wrong;
}

describe.skipIf(!isThere).each(['chatml', 'thinking'])(
  `the loaders on drawn conversations, %s template${why}`,
  (name) => {
    let folder = '';
    let lines = new Map<number, Line>();
    const file = (path: string): string => join(folder, path);
    const tokenizer = (): string => file('tokenizer.json');

    async function exported(format: string, ending = ''): Promise<string> {
      const out = file(format + ending);
      const args = ['export', file('1.jsonl'), '--to', format, '--out', out, '--drop', '--tokenizer', tokenizer()];
      const { stderr, code } = await rolloutViewer(args, { env: { XDG_STATE_HOME: folder } });
      expect(code, stderr).toBe(0);
      const card = JSON.parse(readFileSync(`${out}.card.json`, 'utf8'));
      const dropped = Object.values(card.dropped as Record<string, number>).reduce((sum, count) => sum + count, 0);
      expect(card.rows + dropped).toBe(COUNT);
      return out;
    }

    beforeAll(async () => {
      folder = directoryWith({});
      for (const part of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'])
        writeFileSync(file(part), readFileSync(join(given, part)));
      if (name === 'thinking') copyFileSync(join(scripts, 'thinking.jinja'), file('chat_template.jinja'));
      const dump = await run('draw.py', [folder, `${COUNT}`, process.env.FC_SEED ?? '11']);
      writeFileSync(file('1.jsonl'), dump);
      lines = new Map(jsonLines(dump).map((line) => [line.id as number, line as unknown as Line]));
      expect(lines.size).toBe(COUNT);
    });

    test('TRL trains the recorded tokens of all that is exported', async () => {
      const loaded = printed(await run('load_trl.py', [folder, await exported('trl')]));
      expect(loaded.length).toBeGreaterThan(COUNT * 0.7);
      expect(differing(lines, loaded, 'nothing')).toEqual([]);
    });

    test.skipIf(verl === '')(`verl does${verl === '' ? ' (skipped: VERL_SOURCE names no checkout)' : ''}`, async () => {
      const loaded = printed(await run('load_verl.py', [verl, folder, await exported('verl')]));
      expect(loaded.length).toBeGreaterThan(COUNT * 0.7);
      expect(differing(lines, loaded, 'tail')).toEqual([]);
    });

    test.skipIf(nemo === '')(
      `NeMo-RL does${nemo === '' ? ' (skipped: NEMO_RL_SOURCE names no checkout)' : ''}`,
      async () => {
        const loaded = printed(await run('load_nemo.py', [nemo, folder, await exported('nemo-rl')]));
        expect(loaded.length).toBeGreaterThan(COUNT * 0.7);
        expect(differing(lines, loaded, 'header and tail')).toEqual([]);
      },
    );

    test.skipIf(axolotl === '')(
      `Axolotl does, but for the first token of a reply that begins with "["${axolotl === '' ? ' (skipped: AXOLOTL_SOURCE names no checkout)' : ''}`,
      async () => {
        const loaded = printed(await run('load_axolotl.py', [axolotl, folder, await exported('axolotl')]));
        expect(loaded.length).toBeGreaterThan(COUNT * 0.7);
        const beginsSo = (id: number): boolean =>
          /assistant\n\[/.test(`${lines.get(id)?.input}${lines.get(id)?.output}`);
        expect(differing(lines, loaded, 'nothing').filter((id) => !beginsSo(id))).toEqual([]);
      },
    );

    test.skipIf(factory === '')(
      `LLaMA-Factory does, by its template of the same form${factory === '' ? ' (skipped: LLAMA_FACTORY_SOURCE names no checkout)' : ''}`,
      async () => {
        const rows = await exported('llama-factory', '.json');
        const template = name === 'chatml' ? 'chatml' : 'qwen3_nothink';
        const loaded = printed(await run('load_llama_factory.py', [factory, folder, template, rows]));
        expect(loaded.length).toBeGreaterThan(COUNT * 0.7);
        expect(differing(lines, loaded, 'tail')).toEqual([]);
      },
    );

    test.skipIf(swift === '')(
      `ms-swift does${swift === '' ? ' (skipped: MS_SWIFT_SOURCE names no checkout)' : ''}`,
      async () => {
        const loaded = printed(await run('load_ms_swift.py', [swift, folder, await exported('ms-swift', '.jsonl')]));
        expect(loaded.length).toBeGreaterThan(COUNT * 0.7);
        expect(differing(lines, loaded, 'tail')).toEqual([]);
      },
    );

    test.skipIf(areal === '')(
      `AReaL does, cut replies too${areal === '' ? ' (skipped: AREAL_SOURCE names no checkout)' : ''}`,
      async () => {
        const loaded = printed(await run('load_areal.py', [areal, await exported('areal', '.jsonl')]));
        expect(loaded.length).toBe(COUNT);
        expect(differing(lines, loaded, 'nothing')).toEqual([]);
      },
    );

    test.skipIf(slime === '')(
      `slime does${slime === '' ? ' (skipped: SLIME_SOURCE names no checkout)' : ''}`,
      async () => {
        const loaded = printed(await run('load_slime.py', [slime, await exported('slime')]));
        expect(loaded.length).toBe(COUNT);
        expect(differing(lines, loaded, 'nothing')).toEqual([]);
      },
    );
  },
);

const primeWhy =
  prime === '' || !has('msgspec') ? ' (skipped: needs PRIME_RL_SOURCE, and TRAINERS_PYTHON with msgspec)' : '';
test.skipIf(primeWhy !== '')(`prime-rl decodes a batch with what was recorded${primeWhy}`, async () => {
  const base = {
    input: '<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n',
    output: 'a<|im_end|>',
    gts: '1',
    step: 1,
  };
  const ids = { prompt_ids: [1, 200], response_ids: [3, 40000, 5], response_mask: [1, 0, 1], temperature: 0.5 };
  const values = { rollout_log_probs: [-0.25, 0, -1e-7], advantages: [1.5, 0, -2], data_source: 'gsm8k' };
  const whole = { ...base, ...ids, ...values, score: 1 };
  const folder = directoryWith({
    '1.jsonl': [whole, { ...whole, temperature: null }].map((one) => JSON.stringify(one)).join('\n'),
  });
  const args = [
    'export',
    join(folder, '1.jsonl'),
    '--to',
    'prime-rl-batch',
    '--out',
    join(folder, 'rank_0.bin'),
    '--drop',
  ];
  const { stdout, code } = await rolloutViewer(args, { env: { XDG_STATE_HOME: folder } });
  expect(code).toBe(0);
  expect(stdout).toContain('left out: 1 (no_temperature)');
  expect(jsonLines(await run('load_prime_rl.py', [prime, join(folder, 'rank_0.bin')]))).toMatchObject([
    {
      input_ids: [1, 200, 3, 40000, 5],
      loss_mask: [false, false, true, false, true],
      advantages: [0, 0, 1.5, 0, -2],
      inference_logprobs: [0, 0, -0.25, 0, -1e-7],
      position_ids: [0, 1, 2, 3, 4],
      sequence_lengths: [5],
      temperatures: [0.5, 0.5, 0.5, 0.5, 0.5],
      env_names: ['gsm8k', 'gsm8k', 'gsm8k', 'gsm8k', 'gsm8k'],
      seq_lens: [5],
      rl_weights: null,
    },
  ]);
});
