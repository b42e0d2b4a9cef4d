import { plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { bisect } from '../../../replay/worlds/bisect.ts';
import { stateAfter } from '../../../replay/worlds/outcomes.ts';
import { culpritText } from '../../present/world-text.ts';
import type { JobOf, RunnerContext } from './context.ts';
import { openWorldOf, Shown } from './worlds.ts';

/** Finds by halving the call that changes a command's answer, and shows its turn. */
export async function startBisect(runner: RunnerContext, job: JobOf<'world-bisect'>): Promise<void> {
  const { place, wish, command } = job;
  const row = runner.row(place);
  await runner.jobs.during(async (signal) => {
    const options = { ...(await openWorldOf(runner, row, wish)), signal };
    signal.throwIfAborted();
    const total = options.plan.actions.length;
    const tally: Record<string, number> = {};
    const progress = (done: number) => runner.progress({ what: 'replaying', done, total, tally, waiting: null });
    const shown = new Shown(runner, row.locator, options);
    let done = 0;
    progress(0);
    const { chain } = await stateAfter(options, total, (outcome) => {
      shown.done(outcome, null, total - 1);
      progress(++done);
    }).finally(() => shown.end());
    const culprit = await bisect(options, chain, command, ({ call, exit }) => {
      const state = call === -1 ? 'before the first call' : `after call ${call + 1}`;
      runner.options.say(`${state}: exit ${exit ?? 'none'}`, 'info');
    });
    if (signal.aborted) return;
    if (culprit === null) {
      runner.options.say(sanitiseLine(`none of the ${plural(total, 'call')} changes the answer of ${command}`), 'info');
      return;
    }
    const { turn, resultTurn } = culprit.action;
    runner.options.report({ type: 'replay-drift', place, turn: resultTurn ?? turn, words: culpritText(culprit, 1) });
  });
}
