import { z } from 'zod';
import { pause } from '../core/async/timeout.ts';
import { parseJson } from '../core/json/parse.ts';
import { printJson } from '../core/json/print.ts';
import { DumpSurroundings, type ReplayBackend } from '../replay/index.ts';
import type { RunCodeInput, RunCodeResponse, RunJupyterInput, RunJupyterResponse } from '../sandbox/protocol.ts';
import { readAs } from './aside.ts';
import { JobNames } from './job-names.ts';
import type { QueuePlace } from './place.ts';

/** A program, or the cells of a notebook, on its way to a worker's sandbox. */
export type SentExecution =
  | { kind: 'code'; request: RunCodeInput; ownInterpreter: boolean }
  | { kind: 'notebook'; request: RunJupyterInput };

/** Its outcome. `processor`: milliseconds. */
export type MadeExecution =
  | { answer: RunCodeResponse | RunJupyterResponse; processor: number | null }
  | { error: string };

const Made = z.union([
  z.object({ error: z.string() }),
  z.object({ answer: z.looseObject({ status: z.string() }), processor: z.number().nullable() }),
]);
const Sent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('code'), request: z.looseObject({ code: z.string() }), ownInterpreter: z.boolean() }),
  z.object({ kind: z.literal('notebook'), request: z.looseObject({ cells: z.array(z.string()) }) }),
]);

/** The sandbox checks the request itself. @throws Error for anything but a job of this version */
export const readSent = (text: string): SentExecution => Sent.parse(parseJson(text)) as unknown as SentExecution;
const readMade = (text: string): MadeExecution => Made.parse(parseJson(text)) as unknown as MadeExecution;

/** Calls requested at once, so a worker always finds the next one waiting. The queue itself limits how many run. */
const ASKED = 2048;
const ASK_MS = 100;

export interface QueuedSandboxOptions {
  run: string;
  /** A name for what is being replayed. */
  what: string;
  /** The tool file's sandbox, for workers that name none. */
  toolsUrl: string | null;
  concurrency?: number | undefined;
  share?: string | undefined;
  say: (message: string) => void;
  signal: AbortSignal;
}

/** Combines the workers' sandboxes into one. The first worker defines the environment, and workers that differ are refused. */
export async function queuedSandbox(
  shared: QueuePlace,
  { run, what, toolsUrl, concurrency, share, say, signal }: QueuedSandboxOptions,
): Promise<ReplayBackend & { finish(isOver: boolean): Promise<void> }> {
  const texts = shared.texts(share);
  const kind = 'executions' as const;
  const data = { toolsUrl, most: concurrency ?? null };
  const jobs = await shared.jobs({ id: run, kind, what, data, texts, say, signal, most: concurrency });
  const names = new JobNames();
  const ask = async (sent: SentExecution, own: AbortSignal | undefined) => {
    const text = printJson(sent);
    const end = await jobs.ask(names.of(text), text, readMade);
    own?.throwIfAborted();
    signal.throwIfAborted();
    if (end === 'idle') throw new Error('the run was ended');
    if ('lost' in end) throw new Error(`given up by the workers: ${end.lost}`);
    if ('unsent' in end) throw new Error(end.unsent);
    if ('error' in end.made) throw new Error(end.made.error);
    return end.made;
  };
  const runCode: ReplayBackend['run'] = async (request, { signal: own, ownInterpreter = false, onUse }) => {
    const { answer, processor } = await ask({ kind: 'code', request, ownInterpreter }, own);
    if (processor !== null) onUse?.(processor);
    return answer as RunCodeResponse;
  };
  try {
    let name: string | null = null;
    for (; name === null; await pause(ASK_MS, signal)) {
      const stored = await jobs.runs.surroundings(run);
      if (stored === null) continue;
      name = readAs(Surroundings, stored)?.sandbox ?? null;
      if (name === null) await jobs.runs.forgetSurroundings(run, stored);
    }
    const around = new DumpSurroundings(runCode);
    const { interpreter, packages } = await around.open();
    return {
      name,
      url: shared.name,
      confined: true,
      weak: false,
      why: `workers at ${shared.name}`,
      concurrency: ASKED,
      run: runCode,
      runJupyter: async (request, call) =>
        (await ask({ kind: 'notebook', request }, call.signal)).answer as RunJupyterResponse,
      interpreter,
      packages,
      environment: (modules, own) => around.of(modules, own),
      onWait: null,
      close: () => jobs.close(false),
      finish: (isOver) => jobs.close(isOver),
    };
  } catch (error) {
    await jobs.close(false);
    throw error;
  }
}

/** A sandbox in words: everything about it that affects results. */
export const surroundingsOf = ({ name, url, interpreter, packages }: ReplayBackend): string =>
  JSON.stringify({ sandbox: url === null ? name : 'a SandboxFusion server', python: interpreter, packages });

const Surroundings = z.object({ sandbox: z.string(), python: z.string().nullable(), packages: z.string().nullable() });

/** How this machine's sandbox differs from the run's, per setting. */
export function surroundingsDifferences(here: string, wanted: string): string[] {
  const [own, theirs] = [here, wanted].map((text) => readAs(Surroundings, text));
  if (!own || !theirs) return ['the report of the run about its sandbox cannot be read'];
  return (['sandbox', 'python', 'packages'] as const).flatMap((key) =>
    own[key] === theirs[key] ? [] : `${key} is ${own[key] ?? 'unknown'} here, ${theirs[key] ?? 'unknown'} is the run's`,
  );
}
