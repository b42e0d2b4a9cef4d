import { CallSession } from '../../../replay/index.ts';
import type { JobOf, RunnerContext } from './context.ts';
import { plannedCalls } from './planned.ts';
import { promptAt } from './python-prompt.ts';

/** Hands the terminal to a prompt at the state before a call, until the user leaves it. */
export async function openPrompt(runner: RunnerContext, { place, call, session }: JobOf<'prompt'>): Promise<void> {
  const plan = (await plannedCalls(runner, { place, session }))?.plans.find((one) => one.call === call);
  if (plan === undefined) return;
  const state = new CallSession(plan, await runner.backend());
  await runner.options.lend((terminal) => promptAt(state, terminal));
}
