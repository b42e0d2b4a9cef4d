// Artifacts of Weights & Biases and MLflow where these trackers lay them, by their documentation: nothing is exported first.
import { expect, test } from 'vitest';
import { ask, directoryWith, jsonLines, verlLine } from '../../program.ts';

const table = JSON.stringify({
  columns: ['step', 'prompt', 'response', 'score'],
  data: [
    [1, 'What is 1+1?', 'It is 2.', 1],
    [1, 'What is 2+1?', 'It is 4.', 0],
  ],
});

const attributes = {
  'mlflow.traceRequestId': '"tr-1"',
  'mlflow.spanType': '"CHAT_MODEL"',
  'mlflow.spanInputs': '{"messages": [{"role": "user", "content": "What is 1+1?"}]}',
  'mlflow.spanOutputs': '{"choices": [{"message": {"role": "assistant", "content": "2"}}]}',
};
const span = { name: 'ChatCompletion', status: { code: 'STATUS_CODE_OK', message: '' }, attributes, events: [] };
const times = { start_time_unix_nano: 1700000000000000000, end_time_unix_nano: 1700000001000000000 };
const third = JSON.stringify({
  spans: [{ ...span, ...times, trace_id: 'ASM=', span_id: 'AQ==', parent_span_id: null }],
});
/** Before version 3. */
const second = JSON.stringify({
  request: '{}',
  response: '{}',
  spans: [
    {
      ...span,
      context: { trace_id: '0x123', span_id: '0x1' },
      parent_id: null,
      start_time: 1700000000000000000,
      end_time: 1700000001000000000,
      status_code: 'OK',
      status_message: '',
    },
  ],
});

const run = 'wandb/offline-run-20261101_101010-ab12cd34';
const HEAD = 'mlruns/123456/traces/tr-3/trace_info.yaml';
const EXPERIMENT = 'mlruns/123456/meta.yaml';
const mlflow = 'mlruns/123456/abcdef0123456789abcdef0123456789';
const files = {
  [`${run}/files/media/table/rollouts_1_0123456789abcdef.table.json`]: table,
  [`${run}/files/config.yaml`]: 'lr:\n  value: 0.1\n',
  [`${run}/files/wandb-summary.json`]: '{"rollouts": {"_type": "table-file", "nrows": 2}, "_step": 2}',
  [`${run}/files/wandb-metadata.json`]: '{"os": "Linux", "program": "train.py"}',
  [`${run}/run-ab12cd34.wandb`]: ':W&B\0\0',
  'artifacts/run-ab12cd34-rollouts:v0/rollouts.table.json': table,
  'artifacts/dump:v3/train/1.jsonl': verlLine(),
  [`${mlflow}/meta.yaml`]: 'run_id: abc\nstatus: 3\n',
  [`${mlflow}/params/lr`]: '0.1',
  [`${mlflow}/artifacts/rollouts.json`]: table,
  [`${mlflow}/artifacts/dump/1.jsonl`]: verlLine(),
  [HEAD]: 'trace_id: tr-3\nstate: OK\ntrace_metadata:\n  mlflow.user: ann\ntags: {}\n',
  [EXPERIMENT]: "experiment_id: '123456'\nartifact_location: file:///mlruns/123456\nlifecycle_stage: active\n",
  'mlruns/123456/traces/tr-3/artifacts/traces.json': third,
  'mlruns/123456/traces/tr-2/artifacts/traces.json': second,
};

test.each([
  ['wandb', 2],
  ['artifacts', 3],
  ['mlruns', 5],
])('%s: every rollout of its tables, dumps and traces is listed, and nothing else', async (folder, count) => {
  const { code, stdout, stderr } = await ask(['ls', folder, '--json'], { cwd: directoryWith(files) });
  const rows = jsonLines(stdout);
  expect([code, stderr, rows.length]).toEqual([0, '', count]);
  for (const row of rows) expect(row).toMatchObject({ turns: 2 });
});

test('heads of MLflow without what they head are reported by its name', async () => {
  const cwd = directoryWith({ [HEAD]: files[HEAD] ?? '', [EXPERIMENT]: files[EXPERIMENT] ?? '' });
  const { stderr } = await ask(['ls', 'mlruns'], { cwd });
  expect(stderr).toMatch(/head of (a trace|a run or an experiment) of MLflow/);
  expect(stderr).not.toContain('no known form');
});

test('a locator with the colon of a version is read again', async () => {
  const cwd = directoryWith(files);
  const { stdout } = await ask(['show', 'artifacts/dump:v3/train/1.jsonl:1', '--json'], { cwd });
  expect(JSON.parse(stdout).locator).toBe('artifacts/dump:v3/train/1.jsonl:1');
});
