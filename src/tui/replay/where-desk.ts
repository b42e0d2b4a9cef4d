import type { Place } from '../../dump/dump.ts';
import { backendWish, type PlannedCall, planCalls } from '../../replay/index.ts';
import type { Desk } from './desk.ts';
import type { Where } from './state.ts';

/** Finds out where a call would run, so that it can be said before it does. */
export async function whereRuns(desk: Desk, place: Place, call: number): Promise<void> {
  const plan = planCalls(desk.row(place), { tools: desk.tools, call })[0];
  if (plan === undefined) return;
  desk.options.tell({ type: 'replay-where', place, call, where: await whereOf(desk, plan) });
}

async function whereOf(desk: Desk, { tool, skip }: PlannedCall): Promise<Where> {
  if (tool !== null && tool.url !== null)
    return { name: tool.url, why: `session_url of ${tool.from}`, asks: ASK_SERVER, problem: skip };
  const where = await sandbox(desk, skip);
  if (tool !== null && tool.language === null) return { ...where, name: 'this program', why: tool.from };
  return where;
}

const ASK_SERVER = ', 2 at a time? it may be the trainer’s own';

/** Where code runs: a server is named without asking it, a sandbox of this machine is tried. */
async function sandbox(desk: Desk, problem: string | null): Promise<Where> {
  try {
    const wish = backendWish(desk.choice);
    if (wish.kind === 'remote') return { name: wish.url, why: wish.why, asks: ASK_SERVER, problem };
    const { name, why, confined } = await desk.backend();
    if (!confined) return { name, why: 'with all your rights', asks: ', with all your rights?', problem };
    // A tool of the user's own may go anywhere.
    return { name, why, asks: desk.options.tools === undefined ? null : ', and where the tool file says?', problem };
  } catch (error) {
    return { name: '', why: '', asks: null, problem: (error as Error).message };
  }
}

export async function whereForkRuns(desk: Desk, place: Place): Promise<void> {
  const tools = desk.tools.forFork(desk.row(place).rollout?.toolSchemas ?? []);
  const none: Where = { name: '', why: 'no tools', asks: null, problem: null };
  const where = tools.length === 0 ? none : await sandbox(desk, null);
  const names = tools.map(({ name }) => name).join(', ');
  desk.options.tell({ type: 'replay-where', place, call: null, where: { ...where, why: names || where.why } });
}
