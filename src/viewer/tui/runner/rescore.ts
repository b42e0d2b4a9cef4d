import { scoreText } from '../../../core/text/quantities.ts';
import { openRewards, rescoreMany, rescoreTask } from '../../../replay/index.ts';
import { rewardProblem } from '../../../replay/reward-choice.ts';
import { scoreStatusWord } from '../../present/score-status.ts';
import type { JobOf, RunnerContext } from './context.ts';

/** Re-scores the rollouts; the scores are kept, and found again at the next start. */
export async function startRescore(
  runner: RunnerContext,
  { rows, choice }: JobOf<'rescore'>,
  signal: AbortSignal,
): Promise<void> {
  const problem = rewardProblem(choice);
  if (problem !== null) throw new Error(problem);
  const backend = choice.reward === 'code' ? await runner.backend() : null;
  const rewards = openRewards(choice, backend?.run);
  const tally: Record<string, number> = {};
  let done = 0;
  let last = '';
  let isJudged = false;
  let why = '';
  async function* wanted() {
    for (let index = 0; index < rows.length; index++) {
      const place = rows.at(index);
      if (place !== null) yield runner.row(place);
    }
  }
  try {
    await rewards.start(signal);
    for await (const scored of rescoreMany(wanted(), (task) => rescoreTask(task, rewards.router, signal), {
      signal,
      journal: runner.journal,
    })) {
      const { locator, status, recorded, score, reward, reason } = scored;
      const rescored = { status, recorded, score, reward, reason };
      const word = scoreStatusWord(status);
      tally[word] = (tally[word] ?? 0) + 1;
      done++;
      isJudged ||= reward !== null;
      why = reason ?? why;
      last =
        reward === null
          ? `${reason}; :reward names one`
          : `${scoreText(score)} by ${reward}, recorded ${scoreText(recorded)}: ${reason ?? word}`;
      runner.setRescored(locator, rescored);
      if (rows.length > 1) runner.progress({ what: 'scoring', done, total: rows.length, tally, waiting: null });
    }
  } finally {
    rewards.close();
  }
  const words = Object.entries(tally).map(([word, count]) => `${count} ${word}`);
  const all = isJudged ? words.join(', ') : `${words.join(', ')}; :reward names what judges: ${why}`;
  runner.options.say(`scored again: ${rows.length === 1 ? last : all}`, 'info');
}
