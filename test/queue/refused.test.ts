// What `--queue` does not take is refused before a Redis is asked.
import { expect, it } from 'vitest';
import { directoryWith, rolloutViewer } from '../program.ts';

const QUEUE = ['--queue', 'redis://127.0.0.1:9'];
const rollout = ['rollout', 'tasks.jsonl', '--model', 'm', '--model-url', 'http://127.0.0.1:9/v1', '--out', 'out'];

it.each([
  ['half-made rollouts', ['--deadline', '5'], '--deadline does not go with --queue: a worker does not hand over'],
  ['a count that ends a step', ['--enough', '5'], '--enough does not go with --queue: a worker does not hand over'],
  ['environments', ['--env', 'tool'], '--env does not go with --queue: workers make rollouts with tools only'],
  ['agents', ['--agent', 'tool'], '--agent does not go with --queue: workers make rollouts with tools only'],
  ['a reward file', ['--reward', 'mine.py'], '--reward mine.py: a file of your own does not run on workers'],
])('rollout --queue takes no %s', async (_, flags, sentence) => {
  const cwd = directoryWith({ 'tasks.jsonl': '{"prompt":"1"}' });
  const { code, stderr } = await rolloutViewer([...rollout, ...QUEUE, ...flags], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});

it('the same in a file of settings', async () => {
  const cwd = directoryWith({ 'tasks.jsonl': '{"prompt":"1"}', 'run.yaml': 'deadline: 5\n' });
  const { code, stderr } = await rolloutViewer([...rollout, ...QUEUE, '--config', 'run.yaml'], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('--deadline does not go with --queue')]);
});

it('--share is of no use without --queue', async () => {
  const cwd = directoryWith({ 'tasks.jsonl': '{"prompt":"1"}' });
  const { code, stderr } = await rolloutViewer([...rollout, '--share', 'place'], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('--share goes with --queue')]);
});

it.each(['replay', 'rescore'])('%s has no workers, and says so', async (command) => {
  const { code, stderr } = await rolloutViewer([command, 'dump.jsonl', ...QUEUE]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`\`${command}\` does its work in this process`)]);
});
