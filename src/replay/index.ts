/**
 * Run again what was recorded: without a terminal, without a command line, nothing written but the journal.
 *
 * - `new ReplayTools({ tools, mapped })` says which tools there are; `backendWish` says where code would run, `openBackend` opens it, and
 *   `tools.use(backend.run)` joins the two.
 * - `planCalls(row, { tools })` says what would be run, and why not; `editCall` puts other arguments in.
 * - `replayCall(plan, { tools, backend, repeat, signal, onState })` gives one outcome; `replayMany` many, in order, with a journal.
 * - `forkRollout` goes on from a turn with a live model; `branchesOf` lists what came of it. `rescoreRollout` judges the recorded text anew.
 * - `historyOf`, `standingOutcome` and `standingWord` read what the journal knows.
 */
export {
  type BackendWish,
  backendWish,
  openBackend,
  REMOTE_CONCURRENCY,
  type ReplayBackend,
  type ReplayBackendChoice,
} from './backend.ts';
export { type BranchDifference, type BranchEntry, branchesOf, branchLines, firstDifference } from './branches.ts';
export { type BulkOptions, type BulkResult, replayMany } from './bulk.ts';
export { ALL_RULES, RULE_NAMES, RULES, type Rules, rulesWithout } from './compare/rules.ts';
export { type DiffLine, type DiffWord, diffTexts } from './diff.ts';
export { REPLAYS } from './entries.ts';
export { exitText } from './execution.ts';
export { type Branch, type ForkOptions, forkRollout } from './fork.ts';
export { forkPrefix, type Prefix } from './fork-prefix.ts';
export { type OpenRewards, openRewards } from './open-rewards.ts';
export {
  type Attempt,
  type Compared,
  diffOf,
  type Given,
  isDrift,
  type OutcomeCount,
  type ReplayOutcome,
  type Status,
  type Verdict,
  wordOf,
} from './outcome.ts';
export type { WaitReason } from './patience.ts';
export { editCall, type PlannedCall, type PlanOptions, planCalls, whereOf } from './plan.ts';
export { type CallState, type ReplayOptions, replayCall, skippedOutcome } from './replay-call.ts';
export { keptRescore, type Rescored, rescoreMany, rescoreRollout } from './rescore.ts';
export {
  historyOf,
  howOf,
  keepOutcome,
  knownOutcome,
  reportedOf,
  staleParts,
  standingOutcome,
  standingWord,
} from './results.ts';
export {
  type RewardChoice,
  rewardOf,
  rewardProblem,
  rewardRuns,
  rewardText,
} from './reward-choice.ts';
export { type ReplayTool, ReplayTools, type ReplayToolsOptions } from './tools.ts';
