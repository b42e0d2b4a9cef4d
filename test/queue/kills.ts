// A run whose workers and whose Redis are killed while it is under way, against the same run in one process. Also driven by `npm run bench cluster`.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { rolloutViewer } from '../program.ts';
import { kill, killAll, startWorker, until } from './processes.ts';
import type { TestRedis } from './redis-server.ts';
import { type Busiest, linesOf, slowModel, slowSandbox, workplace } from './workplace.ts';

export interface KillsOutcome {
  rollouts: number;
  /** Lines of the dump, and how many have a uid of their own. */
  lines: number;
  uids: number;
  /** The dump is that of one process but for times. */
  isEqual: boolean;
  busiest: number;
  kills: number;
  restarts: number;
  seconds: number;
}

const WORKERS = 4;
const CAP = 8;
const N = 4;

/** Each kill meets a program in the sandbox and a dump that has just grown. @param tasks enough to last */
export async function killRounds(
  redis: TestRedis,
  { kills, restarts, tasks }: { kills: number; restarts: number; tasks: number },
): Promise<KillsOutcome> {
  const busiest: Busiest = { sandbox: 0, model: 0 };
  const sandbox = await slowSandbox(busiest, 150);
  const model = await slowModel(busiest, 50);
  const lines = Array.from({ length: tasks }, (_, at) =>
    JSON.stringify({ prompt: String(at), ground_truth: String(at), data_source: 'gsm8k' }),
  );
  const config = `{sandbox_fusion_url: "${sandbox.url}", num_workers: 64, rate_limit: ${CAP}, default_timeout: 2}`;
  const { folder, url, queued, alone } = workplace(
    { redis: redis.url, model: model.url, sandbox: sandbox.url },
    { 'tasks.jsonl': lines.join('\n'), 'tools.yaml': `tools: [{class_name: code_interpreter, config: ${config}}]` },
  );
  const group = ['-n', String(N), '--concurrency', '96'];
  try {
    await rolloutViewer([...alone, ...group], { cwd: folder });
    busiest.sandbox = 0;
    const workers = Array.from({ length: WORKERS }, () => startWorker(url));
    const started = performance.now();
    const run = rolloutViewer([...queued, ...group], { cwd: folder });
    let isOver = false;
    void run.then(() => {
      isOver = true;
    });
    const dump = join(folder, 'queued/1.jsonl');
    const size = () => statSync(dump, { throwIfNoEntry: false })?.size ?? 0;
    const done = { kills: 0, restarts: 0 };
    while (!isOver && (done.kills < kills || done.restarts < restarts)) {
      const before = size();
      await until(() => isOver || (size() > before && sandbox.inFlight() > 0));
      if (isOver) break;
      if (done.restarts * kills < done.kills * restarts) {
        await redis.down();
        done.restarts++;
        await redis.up();
      } else {
        await kill(workers.shift()!);
        done.kills++;
        workers.push(startWorker(url));
      }
    }
    await run;
    const seconds = (performance.now() - started) / 1000;
    const made = linesOf(dump);
    return {
      rollouts: tasks * N,
      lines: made.length,
      uids: new Set(made.map(({ uid }) => uid)).size,
      isEqual: JSON.stringify(made) === JSON.stringify(linesOf(join(folder, 'alone/1.jsonl'))),
      busiest: busiest.sandbox,
      ...done,
      seconds,
    };
  } finally {
    await killAll();
    await model.close();
    sandbox.close();
  }
}

export const KILLS_CAP = CAP;
