// Rollouts that workers make through a shared folder, without a Redis, while they are killed.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedModel } from '../engine/scripted-model.ts';
import { directoryWith, rolloutViewer } from '../program.ts';
import { countOf } from '../support/tier.ts';
import { kill, killAll, start, until } from './processes.ts';
import { linesOf } from './workplace.ts';

const TASKS = countOf(80, 500);
const N = 4;
const KILLS = countOf(4, 20);
/** A clock that is five minutes fast. */
const FAST = `data:text/javascript,${encodeURIComponent(
  'const R = Date; globalThis.Date = class extends R { constructor(...a) { a.length ? super(...a) : super(R.now() + 3e5); } static now() { return R.now() + 3e5; } };',
)}`;

afterEach(killAll);

describe('rollouts through a folder', () => {
  it(`come once each and as one process makes them, with ${KILLS} kills and a clock that is 5 minutes off`, async () => {
    const model = await scriptedModel(
      async ({ messages }) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return { text: `#### ${/\d+/.exec(messages.at(-1).content)}` };
      },
      { keepRequests: false },
    );
    const tasks = Array.from({ length: TASKS }, (_, at) =>
      JSON.stringify({ prompt: String(at), ground_truth: String(at), data_source: 'gsm8k' }),
    );
    const folder = directoryWith({ 'tasks.jsonl': tasks.join('\n') });
    const queue = join(folder, 'queue');
    mkdirSync(queue);
    const args = ['rollout', 'tasks.jsonl', '--model', 'm', '--model-url', model.url, '-n', String(N)];
    const many = ['--concurrency', '64'];
    expect((await rolloutViewer([...args, ...many, '--out', 'alone'], { cwd: folder })).code).toBe(0);
    const dump = join(folder, 'queued/1.jsonl');
    const size = () => statSync(dump, { throwIfNoEntry: false })?.size ?? 0;
    const run = start([...args, ...many, '--out', 'queued', '--queue', queue], { cwd: folder });
    const worker = (env: NodeJS.ProcessEnv = {}) => start(['worker', '--queue', queue, '--concurrency', '4'], { env });
    const shifted = { NODE_OPTIONS: `--import ${FAST}` };
    const workers = [worker(shifted), worker(), worker()];
    let kills = 0;
    let isOver = false;
    void run.ended.then(() => {
      isOver = true;
    });
    while (kills < KILLS) {
      const before = size();
      await until(() => isOver || size() > before + 1);
      if (isOver) break;
      // The one with the other clock is the first of every three.
      const next = kills % 3 === 0 ? worker(shifted) : worker();
      await kill(workers.shift()!);
      workers.push(next);
      kills++;
    }
    expect(await run.ended, run.said()).toBe(0);
    expect(kills).toBe(KILLS);
    const made = linesOf(dump);
    expect(made.length).toBe(TASKS * N);
    expect(new Set(made.map(({ uid }) => uid)).size).toBe(TASKS * N);
    expect(made).toEqual(linesOf(join(folder, 'alone/1.jsonl')));
    await model.close();
  });
});
