import type { Server } from 'node:http';
import { Command } from 'commander';
import type { WorkerEnd } from '../../cluster/worker.ts';
import { type Listening, listening, serveMetrics, workerMetrics } from './metrics.ts';
import { DONE, run, say } from './output.ts';
import { leaveQueue, placeAt, QUEUE_PLACES } from './queue-flags.ts';
import { positive } from './sandbox-flags.ts';

interface WorkerFlags {
  queue: string;
  concurrency: number;
  modelUrl?: string;
  sandbox?: string;
  sandboxPython?: string;
  allowTools?: string;
  python?: string;
  share?: string;
  idleExit?: number;
  maxTime?: number;
  metrics?: Listening;
}

/** Exit statuses that say why a worker ended; a signal's is 128 and its number. */
const ENDS: Readonly<Record<WorkerEnd, number>> = { idle: DONE, time: 4, stopped: DONE };
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

const ENVIRONMENT =
  "SIGTERM and SIGINT let what was begun end (a second one does not); the status is then 143 or 130. The model's API key is taken from ROLLOUT_VIEWER_API_KEY, else from OPENAI_API_KEY, and is sent to --model-url (ROLLOUT_VIEWER_MODEL_URL) alone, never to an address that a run names; the password of the Redis from ROLLOUT_VIEWER_QUEUE_PASSWORD.";

export function workerCommand(): Command {
  const command = new Command('worker')
    .description('do the work of runs started with --queue, on any number of machines')
    .requiredOption('--queue <where>', QUEUE_PLACES)
    .option('--concurrency <n>', 'rollouts or scores in flight', positive, 32)
    .option('--model-url <url>', "the model server for this machine (default: the run's)")
    .option(
      '--sandbox <where>',
      "where code runs on this machine: auto, bubblewrap, pyodide, or an address (default: by the run's tool file)",
    )
    .option('--sandbox-python <path>', 'the Python interpreter for recorded calls in bubblewrap')
    .option(
      '--allow-tools <dir>',
      'let runs use the tools, environments and reward files in this folder, with your rights, if they equal theirs byte for byte',
    )
    .option('--python <command>', 'the interpreter for them (python3)')
    .option('--share <dir>', 'a folder shared with the producers, for texts too large for Redis')
    .option('--idle-exit <seconds>', 'exit with status 0 after this long without work', positive)
    .option(
      '--max-time <seconds>',
      'take no more work after this long, finish the current work, and exit with status 4',
      positive,
    )
    .option('--metrics <[host:]port>', "serve the worker's state for Prometheus (default host: 127.0.0.1)", listening)
    .action((flags: WorkerFlags) => run(() => work(flags)));
  return command.addHelpText('after', () => {
    const { columns = 80 } = process.stdout;
    return `\n${command.createHelp().boxWrap(ENVIRONMENT, columns)}`;
  });
}

/** Serves until interrupted. */
async function work(flags: WorkerFlags): Promise<number> {
  const { queue, concurrency, modelUrl, sandbox, sandboxPython, allowTools, python, share } = flags;
  const { idleExit, maxTime, metrics } = flags;
  const { serveWorker } = await import('../../cluster/worker.ts');
  const { rolloutsWork } = await import('../../cluster/rollouts-work.ts');
  const { executionsWork } = await import('../../cluster/executions-work.ts');
  const { scoresWork } = await import('../../cluster/scores-work.ts');
  const stop = new AbortController();
  const shared = await placeAt({ queue, share }, say);
  let status: number | null = null;
  const interrupt = (name: keyof typeof NUMBERS) => {
    if (status !== null) process.exit(status);
    status = 128 + NUMBERS[name];
    say('stopping once the current work is done (again: stop at once)');
    stop.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const opened: Server[] = [];
  const hub = shared.hub(share);
  say(`at ${shared.name}, ${concurrency} rollouts at once`);
  if (hub.limiter === undefined)
    say('rate limits of tools and --model-requests count for this worker alone; a Redis makes them one for all');
  const model = modelUrl || process.env.ROLLOUT_VIEWER_MODEL_URL;
  const where = sandbox || process.env.SANDBOX_FUSION_ENDPOINT;
  const own = {
    ...(model ? { model_url: model } : {}),
    ...(where ? { sandbox: where } : {}),
    ...(python ? { python } : {}),
  };
  const apiKey = process.env.ROLLOUT_VIEWER_API_KEY ?? process.env.OPENAI_API_KEY;
  const here = { sandbox, python: sandboxPython };
  try {
    const end = await serveWorker(hub, {
      concurrency,
      openers: {
        rollouts: rolloutsWork({ concurrency, own, allowTools, apiKey, say }),
        executions: executionsWork(here),
        scores: scoresWork({ concurrency, sandbox: here, allowTools, python }),
      },
      idleMs: idleExit && idleExit * 1000,
      mostMs: maxTime && maxTime * 1000,
      watch: (now) => {
        if (metrics === undefined) return;
        opened.push(serveMetrics(metrics, () => workerMetrics(now(), shared.refusals.current), say));
      },
      say,
      signal: stop.signal,
    });
    if (end !== 'stopped') say(end === 'idle' ? `ended: ${idleExit} s without work` : `ended: ${maxTime} s are over`);
    return status ?? ENDS[end];
  } finally {
    for (const server of opened) server.close();
    await leaveQueue(shared);
  }
}
