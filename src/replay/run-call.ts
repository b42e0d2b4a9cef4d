import { randomUUID } from 'node:crypto';
import { withTimeout } from '../core/async/timeout.ts';
import type { JsonObject } from '../core/json/value.ts';
import type { Tool, ToolResult } from '../engine/index.ts';
import { OwnCodeError } from '../engine/python/own-error.ts';
import { SandboxApiError } from '../sandbox/client.ts';
import type { RunJupyterResponse } from '../sandbox/protocol.ts';
import type { ReplayBackend } from './backend.ts';
import { type Execution, executionOf, executionOfCell } from './execution.ts';
import type { Program } from './forms.ts';
import type { GivenResult } from './outcome.ts';
import type { CallCode, PlannedCall } from './plan.ts';
import type { ReplayTools } from './tools.ts';

/** The result of one run of a call: an execution for code, the tool's answer otherwise, or why there was no answer. */
export interface RunResult {
  execution: Execution | null;
  given: GivenResult | null;
  /** The tool reports failure. */
  failed: boolean;
  /** The backend gave no answer. */
  error: string | null;
  /** Seconds, including waiting. */
  duration: number;
}

export interface RunContext {
  tools: ReplayTools;
  backend: ReplayBackend;
  signal: AbortSignal;
  notebooks: Notebooks;
}

/** How a call is run, if not as recorded. */
export interface RunWay {
  /** The change that the tool first makes to the code. */
  program?: Program | null;
  /** Seconds, replacing the call's own limit. */
  timeout?: number;
}

const TOOL_SECONDS = 300;

/** Runs a call once. Rejects only with the reason of an aborted signal. */
export async function runCall(
  plan: PlannedCall,
  attempt: number,
  context: RunContext,
  way: RunWay = {},
): Promise<RunResult> {
  const begun = performance.now();
  const nothing = { execution: null, given: null, failed: false, error: null };
  let result: Partial<RunResult>;
  try {
    if (plan.code === null) result = await runTool(plan, plan.tool?.tool, context);
    else if (plan.predecessors === null) result = await runCode(plan.code, attempt, context, way);
    else result = await runInNotebook(plan, attempt, context);
  } catch (error) {
    context.signal.throwIfAborted();
    result = { error: error instanceof Error ? error.message : String(error) };
  }
  return { ...nothing, ...result, duration: (performance.now() - begun) / 1000 };
}

async function runCode(
  code: CallCode,
  attempt: number,
  { backend, signal }: RunContext,
  { program, timeout }: RunWay,
): Promise<Partial<RunResult>> {
  const text = program?.of(code.code) ?? code.code;
  const seconds = timeout ?? code.timeout;
  if (program?.inCell) {
    const answer = await backend.runJupyter(
      { cells: [text], cell_timeout: seconds, total_timeout: seconds },
      { signal },
    );
    return notebookCell(answer, 0);
  }
  let processor: number | null = null;
  const answer = await backend.run(
    { code: text, language: code.language as 'python', run_timeout: seconds, compile_timeout: Math.max(seconds, 10) },
    // Forked interpreters share one hash seed: a second run with the same seed would show nothing about the order of sets.
    { signal, ownInterpreter: attempt > 0, onUse: (ms) => (processor = ms / 1000) },
  );
  return { execution: executionOf(answer, processor) };
}

const plannedArguments = (plan: PlannedCall): JsonObject => plan.tool?.argumentsOf(plan.arguments) ?? {};

/** A record marks each picture in a result before its text. */
const PICTURE = '<image>';

const toolRunResult = ({ response, reward, metrics }: ToolResult, recorded: string): Partial<RunResult> => {
  const marks = recorded.startsWith(PICTURE) ? PICTURE.repeat(response.images?.length ?? 0) : '';
  return { given: { text: marks + response.text, reward, metrics }, failed: response.error !== undefined };
};

/** One instance for the earlier calls and this one, as verl's request engine keeps one per rollout. */
async function runTool(
  plan: PlannedCall,
  tool: Tool | undefined,
  { tools, signal }: RunContext,
): Promise<Partial<RunResult>> {
  if (tool === undefined) return { error: 'no tool here runs it' };
  const within = <T>(work: (signal: AbortSignal) => Promise<T>) =>
    withTimeout(tools.timeout ?? TOOL_SECONDS, signal, work);
  const { instanceId } = await within((inner) =>
    tool.create(randomUUID(), plan.created?.kwargs ?? {}, { signal: inner }),
  );
  try {
    for (const before of plan.predecessors ?? [])
      await within((inner) => tool.execute(instanceId, plannedArguments(before), before.executed, { signal: inner }));
    return toolRunResult(
      await within((inner) => tool.execute(instanceId, plannedArguments(plan), plan.executed, { signal: inner })),
      plan.recorded?.text ?? '',
    );
  } catch (error) {
    if (!(error instanceof OwnCodeError) || error.fault !== 'tool') throw error;
    // An exception is the tool's answer; the engine that made the record prefixed it with its own words.
    const before =
      /^Error when executing tool: /.exec(plan.recorded?.text ?? '')?.[0] ?? `Error executing tool '${plan.name}': `;
    return { given: { text: `${before}${error.message}`, reward: null, metrics: null }, failed: true };
  } finally {
    await tool.release(instanceId).catch(() => {});
  }
}

async function runInNotebook(plan: PlannedCall, attempt: number, context: RunContext): Promise<Partial<RunResult>> {
  return notebookCell(await context.notebooks.run(plan, attempt, context), plan.predecessors?.length ?? 0);
}

function notebookCell(answer: RunJupyterResponse, position: number): Partial<RunResult> {
  const cell = answer.cells[position];
  const isLate = answer.driver?.status === 'TimeLimitExceeded';
  if (cell === undefined && !isLate) return { error: answer.message || 'the sandbox gave no answer' };
  const execution = cell === undefined ? null : executionOfCell(cell);
  if (!isLate || position < answer.cells.length - 1) return { execution };
  // The cell that hit the time limit, and those after it.
  const stopped = { exitStatus: null, isFinished: false, stopped: 'time limit' as const };
  const nothing = { stdout: '', stderr: '', display: '', message: '', seconds: null, processor: null };
  const empty: Execution = { ...nothing, ...stopped };
  return { execution: { ...empty, ...execution, ...stopped }, failed: true };
}

/** Notebooks of one replay: when many calls of a rollout are replayed, its cells run once per attempt, not once per call. */
export class Notebooks {
  readonly #runs = new Map<string, { cells: number; answer: Promise<RunJupyterResponse> }>();

  /** The longest notebook needed for a rollout's tool; requesting it first makes the others its prefixes. */
  readonly #longest = new Map<string, PlannedCall>();

  want(plan: PlannedCall): void {
    if (plan.predecessors === null || plan.code === null || plan.skip !== null || plan.edited) return;
    const known = this.#longest.get(callKey(plan));
    if ((known?.predecessors?.length ?? -1) < plan.predecessors.length) this.#longest.set(callKey(plan), plan);
  }

  run(plan: PlannedCall, attempt: number, { backend, signal }: RunContext): Promise<RunJupyterResponse> {
    const key = `${callKey(plan)} ${attempt}`;
    const last = plan.edited ? plan : (this.#longest.get(callKey(plan)) ?? plan);
    const known = plan.edited ? undefined : this.#runs.get(key);
    if (known !== undefined && known.cells > (plan.predecessors?.length ?? 0)) return known.answer;
    const calls = [...(last.predecessors ?? []), last];
    const cells = calls.flatMap(({ code }) => code ?? []);
    const timeouts = cells.map(({ timeout }) => timeout);
    const answer = backend.runJupyter(
      {
        cells: cells.map(({ code }) => code),
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

const callKey = ({ record, name }: PlannedCall): string => `${record} ${name}`;
