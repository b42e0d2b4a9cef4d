import { column, ownColumn } from './columns.ts';
import type { Report } from './report.ts';

/** A run that uses the queue, and the counts of its jobs. */
export interface QueueRun {
  id: string;
  kind: string;
  what: string;
  host: string;
  active: number;
  waiting: number;
  failed: number;
}

/** A worker by its last report. */
export interface QueueWorker {
  host: string;
  pid: number;
  version: string;
  concurrency: number;
  inFlight: number;
  /** Per run, the number of jobs in flight in each stage. */
  stages: Record<string, Record<string, number>>;
  done: number;
  failed: number;
  perMinute: number;
  refused: readonly { run: string; why: string }[];
}

/** The runs of a queue, and the work that is left of each. */
export const queueRunsReport = (runs: readonly QueueRun[]): Report<QueueRun> => ({
  title: 'runs of the queue',
  columns: [
    { key: 'kind', title: 'run', type: 'text', meaning: 'rollouts, executions or scores', value: ({ kind }) => kind },
    { key: 'what', title: 'of', type: 'text', meaning: 'what it works on', value: ({ what }) => what },
    ownColumn('host', 'text', 'the machine that started it'),
    { key: 'active', title: 'in flight', type: 'count', meaning: 'jobs that run', value: ({ active }) => active },
    ownColumn('waiting', 'count', 'jobs that wait'),
    ownColumn('failed', 'count', 'jobs given up'),
    ownColumn('id', 'text', 'its name in the queue'),
  ],
  rows: runs,
  empty: 'no run uses this queue',
});

/** The workers of a queue, and the work of each. */
export const queueWorkersReport = (workers: readonly QueueWorker[]): Report<QueueWorker> => ({
  title: 'workers of the queue',
  columns: [
    { key: 'host', title: 'worker', type: 'text', meaning: 'its machine', value: ({ host }) => host },
    { key: 'pid', title: 'pid', type: 'text', meaning: 'its process', value: ({ pid }) => String(pid) },
    ownColumn('version', 'text', 'of the program'),
    {
      ...{ key: 'inFlight', title: 'in flight', type: 'tally' },
      meaning: 'jobs that it runs, of those that it may run at once',
      value: ({ inFlight, concurrency }) => ({ count: inFlight, of: concurrency }),
    },
    column('stages', 'stages', 'text', 'jobs by stage', ({ stages }) => stagesText(stages)),
    ownColumn('done', 'count', 'jobs that it finished'),
    ownColumn('failed', 'count', 'jobs that failed'),
    column('perMinute', 'per minute', 'count', 'jobs finished in the last minute', ({ perMinute }) => perMinute),
  ],
  rows: workers,
  notes: workers.flatMap(({ host, pid, refused }) =>
    refused.map(({ run, why }) => `${host} ${pid} refused ${run}: ${why}`),
  ),
  empty: 'no worker has signed in',
});

/** `3 scoring, 1 running`; `idle` if nothing runs. */
function stagesText(stages: QueueWorker['stages']): string {
  const sums = new Map<string, number>();
  for (const counts of Object.values(stages))
    for (const [stage, count] of Object.entries(counts)) sums.set(stage, (sums.get(stage) ?? 0) + count);
  return [...sums].map(([stage, count]) => `${count} ${stage}`).join(', ') || 'idle';
}
