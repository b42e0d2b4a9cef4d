import { actionOfCall } from '../../../analysis/actions/recorded-actions.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { backendWish, type PlannedCall } from '../../../replay/index.ts';
import type { Where } from '../state/replay.ts';
import type { JobOf, RunnerContext } from './context.ts';
import { findForkWorld, toolsOutside } from './fork-world.ts';
import { countKnown } from './known-calls.ts';
import { plannedCalls } from './planned.ts';

/** Finds out where a call would run and what would run before it, so that it can be shown first. */
export async function whereRuns(runner: RunnerContext, job: JobOf<'where'>): Promise<void> {
  const { place, call, marked, repeat, session } = job;
  const planned = await plannedCalls(runner, job);
  const plan = planned?.plans.find((one) => one.call === call);
  if (planned === null || plan === undefined) return;
  const way = { repeat, session };
  if (isOfContainer(plan, planned.row)) return runner.options.report({ type: 'world-needed', place, call });
  const where = await whereOf(runner, plan);
  runner.options.report({ type: 'replay-where', place, call, way, where });
  const counted = await countKnown(runner, marked, way).catch(() => null);
  if (counted !== null) runner.options.report({ type: 'replay-known', place, call, way, ...counted });
}

/** A shell or an editor of an agent, whose files are in its image. */
const isOfContainer = ({ tool, call }: PlannedCall, { rollout }: DumpRecord): boolean =>
  tool === null && rollout !== null && (actionOfCall(rollout, call)?.action.kind ?? 'none') !== 'none';

async function whereOf(runner: RunnerContext, { tool, skip, predecessors }: PlannedCall): Promise<Where> {
  const before = (predecessors ?? []).map(({ call }) => call);
  const shared = { before, stateful: tool?.stateful ?? false };
  if (tool?.own) return { name: tool.own.runs, why: tool.from, asks: ASK_RIGHTS, problem: skip, ...shared };
  if (tool !== null && tool.url !== null)
    return { name: tool.url, why: `session_url of ${tool.from}`, asks: ASK_SERVER, problem: skip, ...shared };
  const where = { ...(await sandbox(runner, skip)), ...shared };
  if (tool !== null && tool.language === null) return { ...where, name: 'this program', why: tool.from };
  return where;
}

const ASK_RIGHTS = ', with all your rights?';
const ASK_SERVER = ', 2 at a time? it may be the trainer’s own';

type Sandbox = Pick<Where, 'name' | 'why' | 'asks' | 'problem'>;

/** The place where code runs: a server is named without contacting it, a local sandbox is tried. */
async function sandbox(runner: RunnerContext, problem: string | null): Promise<Sandbox> {
  try {
    const wish = backendWish(runner.choice);
    if (wish.kind === 'remote') {
      runner.options.report({ type: 'replay-backend', name: wish.url });
      return { name: wish.url, why: wish.why, asks: ASK_SERVER, problem };
    }
    const { name, why, confined, weak } = await runner.backend();
    if (!confined) return { name, why: weak ? 'weak' : 'with all your rights', asks: ASK_RIGHTS, problem };
    // A user's own tool may connect anywhere.
    return { name, why, asks: runner.options.tools === undefined ? null : ', and where the tool file says?', problem };
  } catch (error) {
    return { name: '', why: '', asks: null, problem: errorMessage(error) };
  }
}

export async function whereForkRuns(runner: RunnerContext, { place, wish }: JobOf<'fork-where'>): Promise<void> {
  const row = runner.row(place);
  const inWorld = await findForkWorld(runner, row, wish);
  runner.options.report({ type: 'fork-world', place, wish, inWorld });
  const tools = toolsOutside(runner, row, inWorld?.image ?? null);
  const none: Sandbox = { name: '', why: 'no tools', asks: null, problem: null };
  const found = tools.length === 0 ? none : await sandbox(runner, null);
  const names = tools.map(({ name }) => name).join(', ');
  const where = { ...found, why: names || found.why, before: [], stateful: false };
  runner.options.report({ type: 'replay-where', place, call: null, way: null, where });
}
