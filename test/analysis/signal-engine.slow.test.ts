// Clean rollouts of the engine, in groups with spread: nothing was lost, and nothing may be reported.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedModel, scriptedModel } from '../engine/scripted-model.ts';
import { directoryWith, jsonLines, rolloutViewer } from '../program.ts';

const TASKS = 125;
const N = 8;

let model: ScriptedModel;
const asked = new Map<string, number>();

beforeAll(async () => {
  // Of the rollouts of a task every other is right.
  model = await scriptedModel(
    ({ messages }) => {
      const question = String(messages.at(-1).content);
      const before = asked.get(question) ?? 0;
      asked.set(question, before + 1);
      return { text: before % 2 === 0 ? `#### ${question}` : '#### -1' };
    },
    { keepRequests: false },
  );
});
afterAll(() => model.close());

test(`no finding of the signal in ${TASKS * N} clean rollouts`, async () => {
  const tasks = Array.from({ length: TASKS }, (_, i) =>
    JSON.stringify({ prompt: String(i + 1), ground_truth: String(i + 1), data_source: 'gsm8k' }),
  );
  const cwd = directoryWith({ 'tasks.jsonl': tasks.join('\n') });
  const flags = ['--model', 'm', '-n', String(N), '--batch-size', '50', '--out', 'dump', '--concurrency', '64'];
  const made = await rolloutViewer(['rollout', 'tasks.jsonl', '--model-url', model.url, ...flags], { cwd });
  expect(made.stderr).toContain(`${TASKS * N} of ${TASKS * N}`);
  expect(made.code).toBe(0);
  const { stdout } = await rolloutViewer(['signal', 'dump', '--json'], { cwd });
  const steps = jsonLines(stdout) as { rollouts: number; observed: { groups: number }; findings: unknown[] }[];
  expect(steps.reduce((sum, { rollouts }) => sum + rollouts, 0)).toBe(TASKS * N);
  expect(steps.reduce((sum, { observed }) => sum + observed.groups, 0)).toBe(TASKS);
  expect(steps.flatMap(({ findings }) => findings)).toEqual([]);
  const audit = await rolloutViewer(['audit', 'dump', '--fail-on', 'signal'], { cwd });
  expect(audit.code).toBe(0);
});
