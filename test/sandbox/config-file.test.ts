import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadTables } from '../../src/sandbox/datasets/datasets.ts';
import { readConfig } from '../../src/sandbox/server/config-file.ts';

const root = mkdtempSync(join(tmpdir(), 'config-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, 'sandbox/configs'), { recursive: true });
mkdirSync(join(root, 'sandbox/tests/samples'), { recursive: true });
const row = { id: 1, content: 'Add', test: 'assert add(1, 2) == 3', labels: { difficulty_type: 'Distraction' } };
writeFileSync(join(root, 'sandbox/tests/samples/code_eval_mine.jsonl'), `${JSON.stringify(row)}\n`);

const config = (text: string): string => {
  const file = join(root, 'sandbox/configs/local.yaml');
  writeFileSync(file, text);
  return file;
};

// The keys of upstream's own local.yaml.
const LOCAL = `
sandbox:
  isolation: none
  cleanup_process: false
  restore_bash: false
  max_concurrency: 31
dataset:
  database:
    backend:
      type: none
    cache:
      path: memory
      sources:
        - type: local
          path: sandbox/tests/samples
  max_runner_concurrency: 3
  default_dataset_table: code_eval_\${dataset_id}
  registry:
    - module_path: sandbox.datasets.mhpp
      class_name: MHPPDataset
      dataset_tables:
        mine: code_eval_mine
        absent: code_eval_absent
common:
  logging_color: true
`;

describe('--config', () => {
  test('SandboxFusion’s own file: what means something is taken, the rest is named', async () => {
    const file = config(LOCAL);
    const read = readConfig(file);
    expect(read).toMatchObject({ maxConcurrency: 31, casesAtOnce: 3, toolchains: [] });
    expect(read.datasets).toEqual([`mine:MHPPDataset=${join(root, 'sandbox/tests/samples/code_eval_mine.jsonl')}`]);
    expect((await loadTables(read.datasets)).get('mine')?.kind.name).toBe('MHPPDataset');
    const keys = [
      'sandbox.cleanup_process',
      'sandbox.restore_bash',
      'dataset.database.backend',
      'dataset.database.cache.path',
    ];
    for (const key of [...keys, 'common']) expect(read.notes).toContain(`--config ${file}: ${key} means nothing here`);
    expect(read.notes).toContain(`--config ${file}: no code_eval_absent.jsonl for dataset absent`);
    expect(read.notes.join('\n')).toContain('sandbox.isolation none: programs are confined all the same');
  });

  test('a runner elsewhere, no limit of cases, toolchains beside the file', () => {
    const read = readConfig(
      config(
        'dataset: {cpu_runner_url: "http://10.0.0.1:8080/run_code", max_runner_concurrency: 0}\ntoolchains: [tools]',
      ),
    );
    expect(read).toMatchObject({ backend: 'http://10.0.0.1:8080/run_code', casesAtOnce: 1000, notes: [] });
    expect(read.toolchains).toEqual([join(root, 'sandbox/configs/tools')]);
  });

  test.each([
    ['sandbox: {isolation: full}', /local\.yaml: sandbox\.isolation: /],
    ['sandbox: {max_concurrency: many}', /local\.yaml: sandbox\.max_concurrency: /],
    ['dataset: {registry: [{class_name: NopeDataset}]}', /no class NopeDataset; known are AiderBenchmarkDataset/],
    ['dataset: {database: {cache: {sources: [{type: local, path: nowhere}]}}}', /there is no nowhere/],
    ['a: [', /^--config .*local\.yaml: /],
  ])('%s is reported', (text, message) => {
    expect(() => readConfig(config(text))).toThrow(message);
  });

  test('a file that is not there', () => {
    expect(() => readConfig('/does/not/exist.yaml')).toThrow(
      '--config /does/not/exist.yaml: no such file or directory',
    );
  });
});
