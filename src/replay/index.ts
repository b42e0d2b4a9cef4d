/**
 * Runs again what was recorded, without a terminal or a command line; writes nothing but the journal.
 * - `new ReplayTools({ tools, mapped })` says which tools there are; `backendWish` says where code would run, `openBackend` opens it, and
 *   `tools.use(backend.run)` joins the two.
 * - `planCalls(row, { tools })` says what would be run, and why not; `editCall` substitutes other arguments.
 * - `replayCall(plan, { tools, backend, repeat, signal, onState })` gives one outcome; `replayMany` many, in order, with a journal.
 * - `forkRollout` continues from a turn with a live model; `branchesOf` lists the results. `rescoreRollout` judges the recorded text again.
 * - `historyOf`, `standingOutcome` and `standingWord` read what the journal knows.
 */
export {
  backendWish,
  openBackend,
  type ReplayBackend,
  type ReplayBackendChoice,
} from './backend.ts';
export { type BranchDifference, type BranchEntry, branchesOf, branchLines, firstDifference } from './branches.ts';
export { replayMany } from './bulk.ts';
export { CallSession } from './call-session.ts';
export { RULE_NAMES, type Rules, rulesWithout } from './compare/rules.ts';
export { type DiffLine, type DiffWord, diffTexts } from './diff.ts';
export { DriftTable, driftReport, TABLES } from './drift-table.ts';
export {
  type DecideOptions,
  decideCost,
  decideTurns,
  decidingTurns,
} from './each-turn.ts';
export { REPLAYS } from './entries.ts';

export { requirementsPython } from './environment.ts';
export { type Branch, branchUid, forkRollout } from './fork.ts';
export { forkPrefix, PrefixOrigin, prefixText } from './fork-prefix.ts';
export { type OpenRewards, openRewards } from './open-rewards.ts';
export {
  type Attempt,
  diffOf,
  isDrift,
  type ReplayOutcome,
  type Status,
} from './outcome.ts';
export { editCall, type PlannedCall, planCalls, planningCalls, whereOf } from './plan.ts';
export { type CallState, replayCall, skippedOutcome } from './replay-call.ts';
export { keptRescore, type Rescored, rescoreMany, rescoreRollout, rescoreTask } from './rescore.ts';
export {
  historyOf,
  howOf,
  keepOutcome,
  keptIn,
  knownOutcome,
  reportedOf,
  standingOutcome,
  standingWord,
} from './results.ts';
export {
  rewardProblem,
  rewardRuns,
} from './reward-choice.ts';
export { spreadOf } from './spread.ts';
export { DumpSurroundings } from './surroundings.ts';
export { ReplayTools } from './tools.ts';
