// What `--queue` does not take is refused, each with the reason.
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkSecrets, checkVariables } from '../../src/cluster/secrets.ts';
import { directoryWith, execute, rolloutViewer, root } from '../program.ts';

const rollout = ['rollout', 'tasks.jsonl', '--model', 'm', '--model-url', 'http://127.0.0.1:9/v1', '--out', 'out'];

it.each([rollout, ['replay', 'dump.jsonl'], ['rescore', 'dump.jsonl']])(
  '--share is of no use without --queue: %s',
  async (...command) => {
    const cwd = directoryWith({ 'tasks.jsonl': '{"prompt":"1"}', 'dump.jsonl': '{}' });
    const { code, stderr } = await rolloutViewer([...command, '--share', 'place'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('--share goes with --queue')]);
  },
);

it.each([rollout, ['replay', 'dump.jsonl'], ['rescore', 'dump.jsonl']])(
  'a missing Redis is reported: %s',
  async (...command) => {
    const cwd = directoryWith({ 'tasks.jsonl': '{"prompt":"1"}', 'dump.jsonl': '{}' });
    const { code, stderr } = await rolloutViewer([...command, '--queue', 'http://127.0.0.1:9'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected redis://')]);
  },
);

it.each([
  ['api_key: sk-1', 'api_key'],
  ['headers: {Authorization: Bearer 1}', 'Authorization'],
  ['"auth_token": "t"', 'auth_token'],
  ['{password: x}', 'password'],
])('a secret does not travel: %s', (text, key) => {
  expect(() => checkSecrets(text, 'tools.yaml')).toThrow(`tools.yaml: ${key} would be stored in the queue`);
});

it.each([
  'api_key_env: OPENAI_API_KEY',
  'api_key: null',
  'api_key: ""',
  'max_tokens: 512',
  'tokenizer: x',
  'http://localhost:8000/v1',
  '{"description": "the secret of life"}',
])('what is no secret travels: %s', (text) => {
  expect(() => checkSecrets(text, 'tools.yaml')).not.toThrow();
});

it('a variable of a worker is not named by what travels', () => {
  const place = (value: string) => () => checkVariables(`config: {api_key_env: ${value}}`, 'users.yaml');
  expect(place('AWS_SECRET_ACCESS_KEY')).toThrow(
    'users.yaml: api_key_env: AWS_SECRET_ACCESS_KEY would name a variable',
  );
  expect(place('ROLLOUT_VIEWER_USER_API_KEY')).not.toThrow();
});

it('an address with a password is reported without it', () => {
  expect(() => checkSecrets('url: http://me:pass@host/v1', 'the settings')).toThrow(
    'the settings: the address http://…@host/v1 holds a password',
  );
});

it('workers need no package beside the program, and a Redis that is not there is said', async () => {
  const folder = directoryWith({ 'package.json': readFileSync(join(root, 'package.json')) });
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  const { code, stderr } = await execute(process.execPath, [
    join(folder, 'dist/rollout-viewer.js'),
    'queue',
    'redis://127.0.0.1:9',
  ]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('ECONNREFUSED 127.0.0.1:9; is a Redis there?')]);
});

it('--sandbox with --queue is refused before anything is opened, and the process ends', async () => {
  const cwd = directoryWith({ 'dump.jsonl': '{"input": "", "output": "", "score": 1, "step": 1}' });
  const flags = ['--queue', 'redis://127.0.0.1:9', '--sandbox', 'bubblewrap'];
  const { code, stderr } = await rolloutViewer(['replay', 'dump.jsonl', ...flags], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('--sandbox does not go with --queue')]);
});
