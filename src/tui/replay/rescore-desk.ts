import type { Journal } from '../../journal/journal.ts';
import { recordKey } from '../../journal/record-key.ts';
import { scoreText } from '../../present/quantities.ts';
import type { RescoreView } from '../../present/replay/view.ts';
import { openRewards, rescoreMany } from '../../replay/index.ts';
import type { ReplayJob } from './actions.ts';
import type { Desk } from './desk.ts';

/** Scores the rollouts anew; what each was given is kept, and found again at the next start. */
export async function rescoreOnDesk(
  desk: Desk,
  { rows, choice }: Extract<ReplayJob, { kind: 'rescore' }>,
  signal: AbortSignal,
): Promise<void> {
  const backend = choice.reward === 'code' ? await desk.backend() : null;
  const rewards = openRewards(choice, backend?.run);
  const tally: Record<string, number> = {};
  const records = new Map<string, string>();
  let done = 0;
  let last = '';
  async function* wanted() {
    for (let index = 0; index < rows.length; index++) {
      const place = rows.at(index);
      if (place === null) continue;
      const row = desk.row(place);
      records.set(row.locator, recordKey(row.raw));
      yield row;
    }
  }
  try {
    for await (const scored of rescoreMany(wanted(), rewards.router, { signal })) {
      const { locator, status, recorded, score, reward, reason } = scored;
      const rescored = { status, recorded, score, reward, reason };
      tally[status] = (tally[status] ?? 0) + 1;
      done++;
      last =
        reward === null
          ? `${reason}; :reward names one`
          : `${scoreText(score)} by ${reward}, recorded ${scoreText(recorded)}: ${reason ?? status}`;
      if (reward !== null) desk.journal.append('rescore', { record: records.get(locator)!, locator, ...rescored });
      records.delete(locator);
      desk.setRescored(locator, rescored);
      if (rows.length > 1) desk.progress({ what: 'scoring', done, total: rows.length, tally, waiting: null });
    }
  } finally {
    rewards.close();
  }
  const words = Object.entries(tally).map(([status, count]) => `${count} ${status}`);
  desk.options.say(rows.length === 1 ? `scored again: ${last}` : `scored again: ${words.join(', ')}`, 'info');
}

/** The score that a record was given last. The journal is a file that users may edit: what does not fit is taken as absent. */
export function keptRescore(journal: Journal, record: string): RescoreView | null {
  const entry = journal.known('rescore', record).at(-1);
  if (entry === undefined || typeof entry.status !== 'string') return null;
  const { status, recorded, score, reward, reason } = entry;
  return {
    status,
    recorded: typeof recorded === 'number' ? recorded : null,
    score: typeof score === 'number' ? score : null,
    reward: typeof reward === 'string' ? reward : null,
    reason: typeof reason === 'string' ? reason : null,
  };
}
