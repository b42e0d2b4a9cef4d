import { plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { modelTurns } from '../../../engine/record/recorded-replies.ts';
import { type AgentBranch, agentBranch, agentBranchTurns, openBranch } from '../../../replay/agents/agent-branch.ts';
import type { AgentWatch } from '../../../replay/agents/agent-run.ts';
import { branchesOf, branchUid, diffTexts } from '../../../replay/index.ts';
import { recordKey } from '../../../replay/journal/record-key.ts';
import type { BranchView } from '../../present/replay/view.ts';
import type { JobOf, RunnerContext } from './context.ts';
import { RUNNING, spoken } from './fork.ts';
import { openWorldOf } from './worlds.ts';

/** Lines of an agent's last words that are shown if it never asked the model. */
const LAST_LINES = 5;

/** Continues from a turn with the agent that made the rollout, one branch after another. */
export async function startAgentFork(
  runner: RunnerContext,
  { place, turn: at, edited, model, settings, wish, agent }: JobOf<'fork'>,
  signal: AbortSignal,
): Promise<void> {
  const row = runner.row(place);
  const { rollout, locator } = row;
  if (rollout === null || agent === null) return;
  const { command, isOnTerminal } = agent;
  const turn = modelTurns(rollout).find(({ index }) => (edited === null ? index >= at : index === at))?.index;
  if (turn === undefined) throw new Error(`an agent continues from a turn that the model wrote; t${at} is not one`);
  if (wish !== null && !wish.network)
    throw new Error('the agent needs the network to reach the recorder: w, then IMAGE network');
  const world = wish === null ? null : await openWorldOf(runner, row, wish);
  const fork = { row, rollout, command, turn, edited, modelUrl: model.url, world, journal: runner.journal };
  const record = recordKey(row.raw);
  const first = edited === null ? turn : turn + 1;
  let isShown = false;
  for (let i = 0; i < (isOnTerminal ? 1 : settings.n) && !signal.aborted; i++) {
    const uid = branchUid(record);
    const live = {
      ...RUNNING,
      uid,
      branch: branchesOf(runner.journal, record).length,
      turn: first,
      model: command,
      turns: [],
    };
    const show = (branch: Partial<BranchView>) =>
      runner.change(locator, { kind: 'branch', branch: { ...live, isEdited: edited !== null, ...branch } });
    const progress = (words: string) => show({ judged: `the agent: ${words}` });
    progress('started');
    let asked = 0;
    let said = '';
    const watch: AgentWatch = {
      signal,
      isQuiet: !isOnTerminal,
      say: (text) => runner.options.say(sanitiseLine(text), 'error'),
      onError: (text) => {
        said = (said + text).slice(-4000);
      },
      onRequest: (recorded) => {
        if (isOnTerminal) return;
        progress(recorded === null ? `${plural(++asked, 'request')} to the model` : `t${recorded} from the record`);
      },
    };
    try {
      const made = isOnTerminal
        ? await lent(runner, () => agentBranch({ ...fork, out: undefined }, uid, watch))
        : await agentBranch({ ...fork, out: undefined }, uid, watch);
      const { entry, outcome, words } = made;
      const parted = outcome.isLive ? null : outcome.difference;
      const lastWords = said.trim().split('\n').slice(-LAST_LINES).join('\n');
      const ended = { status: entry.status, score: entry.score, judged: entry.score === null ? null : 'as recorded' };
      if (parted === null) {
        const { turns, difference } = await agentBranchTurns(rollout, entry);
        const error = outcome.isLive || signal.aborted ? null : [`the branch ${words}`, lastWords].join('\n').trim();
        show({ ...ended, turns: turns.map(spoken), difference, error });
      } else {
        const diff = diffTexts(parted.recorded ?? '', parted.fresh ?? '') ?? [];
        const request = { role: 'the agent’s message', text: parted.fresh ?? '(nothing)', calls: [] };
        show({ ...ended, error: words, turns: [request], difference: { turn: parted.turn, offset: 0, diff } });
        const branch = isShown ? null : await openBranch(entry.path);
        isShown = true;
        if (branch !== null) runner.options.report({ type: 'fork-parted', place, branch });
      }
      runner.options.say(sanitiseLine(`branch ${entry.branch} ${words}`), parted === null ? 'info' : 'error');
    } catch (error) {
      show({ status: signal.aborted ? 'CANCELLED' : 'FAILED', error: signal.aborted ? 'cancelled' : String(error) });
      throw error;
    }
  }
  if (runner.journal.problem !== null) runner.options.say(runner.journal.problem, 'error');
}

/** Gives the agent the terminal, as an editor gets it. */
function lent(runner: RunnerContext, use: () => Promise<AgentBranch>): Promise<AgentBranch> {
  return new Promise((resolve, reject) => {
    void runner.options.lend(() => use().then(resolve)).catch(reject);
  });
}
