import { createServer, type Server } from 'node:http';
import { InvalidArgumentError } from 'commander';
import type { WorkerBeat } from '../../cluster/workers.ts';
import { reasonOf } from '../../core/text/problems.ts';

export interface Listening {
  host: string;
  port: number;
}

/** `9100`, `0.0.0.0:9100` or `[::]:9100`. */
export function listening(text: string): Listening {
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError(`"${text}" is not a port; write 9100 or 0.0.0.0:9100.`);
  return { host: (host ?? '127.0.0.1').replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Answers GET /metrics. A port that is taken is said, and the worker works on without it. */
export function serveMetrics({ host, port }: Listening, text: () => string, say: (message: string) => void): Server {
  const server = createServer((request, response) => {
    const isMetrics = request.method === 'GET' && request.url?.split('?')[0] === '/metrics';
    response.writeHead(isMetrics ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(isMetrics ? text() : 'GET /metrics\n');
  });
  server.on('error', (error) => say(`--metrics ${host}:${port}: ${reasonOf(error)}; metrics are off`));
  server.listen(port, host, () => {
    const address = server.address();
    if (port === 0 && address !== null && typeof address === 'object') say(`metrics at ${host}:${address.port}`);
  });
  return server.unref();
}

const PREFIX = 'rollout_viewer_worker';

interface Sample {
  name: string;
  type: 'counter' | 'gauge';
  help: string;
  values: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];
}

/** A worker's state as Prometheus reads it. @param refusal why the Redis serves nobody */
export function workerMetrics(state: WorkerBeat, refusal: string | null): string {
  const stages = new Map<string, number>();
  for (const counts of Object.values(state.stages))
    for (const [stage, count] of Object.entries(counts)) stages.set(stage, (stages.get(stage) ?? 0) + count);
  const one = (name: string, type: Sample['type'], help: string, value: number): Sample => ({
    name,
    type,
    help,
    values: [[{}, value]],
  });
  const samples: Sample[] = [
    one('jobs_done_total', 'counter', 'Jobs done.', state.done),
    one('jobs_failed_total', 'counter', 'Tries of jobs that failed.', state.failed),
    one('jobs_in_flight', 'gauge', 'Jobs under way.', state.inFlight),
    one('concurrency', 'gauge', 'Rollouts or scores that it takes at once.', state.concurrency),
    one('runs', 'gauge', 'Runs that it works for.', state.runs.length),
    one('runs_refused', 'gauge', 'Runs that it lacks something for.', state.refused.length),
    one('redis_refuses', 'gauge', '1 while the Redis is full or refuses.', refusal === null ? 0 : 1),
    one('start_time_seconds', 'gauge', 'When it started, in seconds since 1970.', Date.parse(state.started) / 1000),
    {
      name: 'stage_jobs',
      type: 'gauge',
      help: 'Jobs under way by stage.',
      values: [...stages].map(([stage, count]) => [{ stage }, count] as const),
    },
  ];
  return samples.map(sampleText).join('');
}

function sampleText({ name, type, help, values }: Sample): string {
  const full = `${PREFIX}_${name}`;
  const lines = values.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapedLabel(text)}"`);
    return `${full}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`;
}

const escapedLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
