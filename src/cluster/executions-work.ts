import { z } from 'zod';
import { printJson } from '../core/json/print.ts';
import { errorMessage } from '../core/text/thrown.ts';
import { openBackend, type ReplayBackend } from '../replay/index.ts';
import {
  type MadeExecution,
  readSent,
  type SentExecution,
  surroundingsDifferences,
  surroundingsOf,
} from './executions.ts';
import type { OpenRun } from './worker.ts';

export interface SandboxOfWorker {
  /** As typed; by default the one in the run's tool file, else this machine's sandbox. */
  sandbox?: string | undefined;
  /** The interpreter for Python programs in bubblewrap. */
  python?: string | undefined;
}

const Data = z.object({ toolsUrl: z.string().nullable(), most: z.number().nullable() });

export const openHere = ({ sandbox = 'auto', python }: SandboxOfWorker, toolsUrl: string | null) =>
  openBackend({ sandbox, toolsUrl, python });

/** A worker takes this many times more programs than it has places, so its sandbox never waits for the network between two. */
const AHEAD = 2;

/** If a run limits how many calls may be under way, calls that a worker takes ahead would be missing elsewhere. */
const programsAtOnce = ({ concurrency, url }: ReplayBackend, most: number | null): number =>
  most === null ? AHEAD * concurrency : url === null ? concurrency : most;

/** Runs the programs of recorded calls in this machine's sandbox. */
export const executionsWork =
  (own: SandboxOfWorker): OpenRun =>
  async ({ id }, data, { runs }) => {
    const { toolsUrl, most } = Data.parse(data);
    const backend = await openHere(own, toolsUrl);
    const here = surroundingsOf(backend);
    const differences = surroundingsDifferences(here, await runs.agree(id, here));
    if (differences.length > 0) {
      await backend.close();
      throw new Error(differences.join('; '));
    }
    return {
      concurrency: programsAtOnce(backend, most),
      make: async (text, report) => {
        report(() => 'tool');
        return printJson(await execute(readSent(text), backend));
      },
      close: () => backend.close(),
    };
  };

async function execute(sent: SentExecution, backend: ReplayBackend): Promise<MadeExecution> {
  const { signal } = new AbortController();
  let processor: number | null = null;
  try {
    if (sent.kind === 'notebook') return { answer: await backend.runJupyter(sent.request, { signal }), processor };
    const { request, ownInterpreter } = sent;
    const onUse = (ms: number) => {
      processor = ms;
    };
    const answer = await backend.run(request, { signal, ownInterpreter, onUse });
    return { answer, processor };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
