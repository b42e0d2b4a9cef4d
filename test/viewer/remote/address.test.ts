import { describe, expect, test } from 'vitest';
import { mirrorName, shownPath } from '../../../src/core/text/shown-path.ts';
import { remoteName } from '../../../src/viewer/remote/address.ts';
import { directoryWith } from '../../program.ts';

describe('another machine', () => {
  test.each([
    ['node7:/runs/x', 'ssh', 'node7:', '/runs/x', ''],
    ['me@node7.lab:~/runs', 'ssh', 'me@node7.lab:', '~/runs', ''],
    ['node7:runs/x', 'ssh', 'node7:', '~/runs/x', ''],
    ['node7:runs/3.jsonl:57', 'ssh', 'node7:', '~/runs/3.jsonl', ':57'],
    ['node7:/runs/3.jsonl:57#t4', 'ssh', 'node7:', '/runs/3.jsonl', ':57#t4'],
    ['ssh://me@node7:2222/runs/x', 'ssh', 'ssh://me@node7:2222', '/runs/x', ''],
    ['ssh://node7/~/x/3.jsonl:5.2', 'ssh', 'ssh://node7', '~/x/3.jsonl', ':5.2'],
    ['rclone:s3:bucket/run', 'rclone', 'rclone:s3:.', '/bucket/run', ''],
    ['rclone:nas:/bucket/run', 'rclone', 'rclone:nas:', '/bucket/run', ''],
    ['s3://bucket/run/3.jsonl:57', 'store', 's3://bucket', '/run/3.jsonl', ':57'],
    ['gs://my.bucket', 'store', 'gs://my.bucket', '/', ''],
    ['hf://datasets/org/name@v1.0/train/3.jsonl:57', 'store', 'hf://datasets/org/name@v1.0', '/train/3.jsonl', ':57'],
    ['hf://datasets/org/name', 'store', 'hf://datasets/org/name', '/', ''],
    ['HTTPS://host/a/1.jsonl', 'https', 'https://host', '/a/1.jsonl', ''],
    ['https://host:8443/a/1.jsonl:3', 'https', 'https://host:8443', '/a/1.jsonl', ':3'],
  ])('%s', (text, kind, name, path, ending) => {
    expect(remoteName(text)).toMatchObject({ address: { kind, name, path }, ending });
  });

  test.each([
    'rollout_data/3.jsonl:57',
    './a:/b',
    'C:x',
    '3.jsonl:57#t4',
    '-oProxyCommand=x:/runs',
    'ssh://-oProxyCommand=x/runs',
    'rollout_data',
    '/a:/b',
    's3://',
  ])('%s is no other machine', (text) => {
    expect(remoteName(text)).toBeNull();
  });

  test.each([
    ['hf://models/a/b', 'hf://datasets/ORGANISATION/NAME'],
    ['hf://datasets/a', 'hf://datasets/ORGANISATION/NAME'],
    ['hdfs://name/run', 'rclone:NAME:PATH'],
    ['s3://bucket,endpoint=evil:x/run', 'rclone:NAME:PATH'],
  ])('%s is refused, with what opens it', (text, instead) => {
    expect(() => remoteName(text)).toThrow(instead);
  });

  test('a local file of that name comes first', () => {
    const directory = directoryWith({ 'node7:/x': '' });
    const before = process.cwd();
    process.chdir(directory);
    try {
      expect(remoteName('node7:/x')).toBeNull();
    } finally {
      process.chdir(before);
    }
  });
});

test('a copy is shown by the name of what it is a copy of, which leads there again', () => {
  const local = `/home/u/.cache/rollout-viewer/remote/${mirrorName('ssh://me@node7:22')}/runs/3.jsonl`;
  expect(shownPath(local)).toBe('ssh://me@node7:22/runs/3.jsonl');
  expect(remoteName(`${shownPath(local)}:5`)).toMatchObject({ address: { port: '22' }, ending: ':5' });
  expect(shownPath('/runs/rollout-viewer/remote/x/3.jsonl')).toBe('/runs/rollout-viewer/remote/x/3.jsonl');
});
