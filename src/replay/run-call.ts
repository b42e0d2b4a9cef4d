import { randomUUID } from 'node:crypto';
import { withTimeout } from '../async/timeout.ts';
import { executeTool, type ToolResult } from '../engine/index.ts';
import type { JsonObject } from '../json/value.ts';
import { OwnCodeError } from '../python/own-error.ts';
import { SandboxApiError } from '../sandbox/client.ts';
import type { RunJupyterResponse } from '../sandbox/protocol.ts';
import type { ReplayBackend } from './backend.ts';
import { type Execution, executionOf, executionOfCell } from './execution.ts';
import type { PlannedCall } from './plan.ts';
import type { ReplayTools } from './tools.ts';

/** What one run of a call gave: an execution for code, a text for every other tool, or the reason why there was no answer. */
export interface RunResult {
  execution: Execution | null;
  text: string | null;
  /** The tool says that it failed. */
  failed: boolean;
  /** The backend gave no answer. */
  error: string | null;
  /** Seconds, waiting included. */
  duration: number;
}

export interface RunContext {
  tools: ReplayTools;
  backend: ReplayBackend;
  signal: AbortSignal;
  notebooks: Notebooks;
}

/** Beyond the program's own limits: waiting for a place, or for a server that restarts. */
const WAITING_SECONDS = 900;
const TOOL_SECONDS = 300;

/** Runs a call once. Rejects only with the reason of an aborted signal. */
export async function runCall(plan: PlannedCall, attempt: number, context: RunContext): Promise<RunResult> {
  const begun = performance.now();
  const nothing = { execution: null, text: null, failed: false, error: null };
  let result: Omit<RunResult, 'duration'>;
  try {
    if (plan.predecessors === null) result = await runAlone(plan, context);
    else if (plan.code !== null) result = await runInNotebook(plan, attempt, context);
    else result = await runInSession(plan, context);
  } catch (error) {
    context.signal.throwIfAborted();
    result = { ...nothing, error: error instanceof Error ? error.message : String(error) };
  }
  return { ...nothing, ...result, duration: (performance.now() - begun) / 1000 };
}

const argumentsOf = (plan: PlannedCall): JsonObject => plan.tool?.argumentsOf(plan.arguments) ?? {};

async function runAlone(plan: PlannedCall, { tools, signal }: RunContext): Promise<Omit<RunResult, 'duration'>> {
  const { tool, code, created } = plan;
  const seconds = code === null ? (tools.timeout ?? TOOL_SECONDS) : 2 * code.timeout + WAITING_SECONDS;
  const kwargs = { ...(created === null ? {} : { create_kwargs: created.kwargs }), execute_kwargs: plan.executed };
  const { value, answers } = await tools.listening(() =>
    executeTool(tool!.tool, argumentsOf(plan), { kwargs, seconds, signal }),
  );
  return code === null ? spoken(value) : ran(answers.at(-1), value.response.error ?? null);
}

const spoken = ({ response }: ToolResult) => ({
  execution: null,
  text: response.text,
  failed: response.error !== undefined,
  error: null,
});

/** The tool hides why there is no output; the sandbox's answer tells a program's end from a sandbox that failed. */
function ran(answer: Parameters<typeof executionOf>[0] | undefined, cause: string | null) {
  const execution = answer === undefined ? null : executionOf(answer);
  return {
    execution,
    text: null,
    failed: false,
    error: execution === null ? (cause ?? 'the sandbox gave no answer') : null,
  };
}

/** One instance for the predecessors and the call, as verl's request engine holds one a rollout. */
async function runInSession(plan: PlannedCall, { tools, signal }: RunContext): Promise<Omit<RunResult, 'duration'>> {
  const tool = plan.tool!.tool;
  const within = <T>(work: (signal: AbortSignal) => Promise<T>) =>
    withTimeout(tools.timeout ?? TOOL_SECONDS, signal, work);
  const { instanceId } = await within((inner) =>
    tool.create(randomUUID(), plan.created?.kwargs ?? {}, { signal: inner }),
  );
  try {
    for (const before of plan.predecessors ?? [])
      await within((inner) => tool.execute(instanceId, argumentsOf(before), before.executed, { signal: inner }));
    return spoken(
      await within((inner) => tool.execute(instanceId, argumentsOf(plan), plan.executed, { signal: inner })),
    );
  } catch (error) {
    if (!(error instanceof OwnCodeError) || error.fault !== 'tool') throw error;
    // An exception is the tool's answer; the engine that made the record put its own words before it.
    const before =
      /^Error when executing tool: /.exec(plan.recorded ?? '')?.[0] ?? `Error executing tool '${plan.name}': `;
    return { execution: null, text: `${before}${error.message}`, failed: true, error: null };
  } finally {
    await tool.release(instanceId).catch(() => {});
  }
}

async function runInNotebook(
  plan: PlannedCall,
  attempt: number,
  context: RunContext,
): Promise<Omit<RunResult, 'duration'>> {
  const position = plan.predecessors!.length;
  const answer = await context.notebooks.run(plan, attempt, context);
  const cell = answer.cells[position];
  const isLate = answer.driver?.status === 'TimeLimitExceeded';
  if (cell === undefined && !isLate) return { ...ran(undefined, answer.message || null), text: null };
  const execution = cell === undefined ? null : executionOfCell(cell);
  if (isLate && position >= answer.cells.length - 1) return { ...spokenLate(execution), text: null };
  return { execution, text: null, failed: false, error: null };
}

/** The cell that the time limit ended, and those behind it. */
function spokenLate(execution: Execution | null) {
  const stopped = { exitStatus: null, isFinished: false, stopped: 'time limit' as const };
  const empty: Execution = { stdout: '', stderr: '', seconds: null, display: '', message: '', ...stopped };
  return { execution: { ...empty, ...execution, ...stopped }, failed: true, error: null };
}

/** Notebooks of one replay: where many calls of a rollout are replayed, its cells run once an attempt, not once a call. */
export class Notebooks {
  readonly #runs = new Map<string, { cells: number; answer: Promise<RunJupyterResponse> }>();

  /** The longest notebook that is wanted of a rollout's tool; asking for it first makes the others its beginnings. */
  readonly #longest = new Map<string, PlannedCall>();

  want(plan: PlannedCall): void {
    if (plan.predecessors === null || plan.code === null || plan.skip !== null || plan.edited) return;
    const known = this.#longest.get(keyOf(plan));
    if ((known?.predecessors?.length ?? -1) < plan.predecessors.length) this.#longest.set(keyOf(plan), plan);
  }

  run(plan: PlannedCall, attempt: number, { backend, signal }: RunContext): Promise<RunJupyterResponse> {
    const key = `${keyOf(plan)} ${attempt}`;
    const last = plan.edited ? plan : (this.#longest.get(keyOf(plan)) ?? plan);
    const known = plan.edited ? undefined : this.#runs.get(key);
    if (known !== undefined && known.cells > plan.predecessors!.length) return known.answer;
    const calls = [...last.predecessors!, last];
    const timeouts = calls.map(({ code }) => code!.timeout);
    const answer = backend.runJupyter(
      {
        cells: calls.map(({ code }) => code!.code),
        cell_timeout: Math.max(...timeouts),
        total_timeout: timeouts.reduce((sum, one) => sum + one, 0),
      },
      { signal },
    );
    if (!plan.edited) {
      this.#runs.set(key, { cells: calls.length, answer });
      answer.catch((error: unknown) => {
        if (error instanceof SandboxApiError) this.#runs.delete(key);
      });
    }
    return answer;
  }
}

const keyOf = ({ record, name }: PlannedCall): string => `${record} ${name}`;
