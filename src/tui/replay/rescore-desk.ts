import { rewardRouter } from '../../engine/index.ts';
import { rescoreMany } from '../../replay/index.ts';
import type { Rows } from '../rows.ts';
import type { Desk } from './desk.ts';

/** Scores the rollouts of the list again with the reward functions that are built in. */
export async function rescoreOnDesk(desk: Desk, rows: Rows, signal: AbortSignal): Promise<void> {
  const tally: Record<string, number> = {};
  let done = 0;
  let last = '';
  async function* records() {
    for (let index = 0; index < rows.length; index++) {
      const place = rows.at(index);
      if (place !== null) yield desk.row(place);
    }
  }
  for await (const scored of rescoreMany(records(), rewardRouter({}), { signal })) {
    const { locator, status, recorded, score, reward, reason } = scored;
    tally[status] = (tally[status] ?? 0) + 1;
    done++;
    last = reason ?? status;
    desk.shelf.rescored(locator, { status, recorded, score, reward, reason });
    if (rows.length > 1) desk.progress({ what: 'scoring', done, total: rows.length, tally, waiting: null });
  }
  const words = Object.entries(tally).map(([status, count]) => `${count} ${status}`);
  desk.options.say(rows.length === 1 ? `scored again: ${last}` : `scored again: ${words.join(', ')}`, 'info');
}
