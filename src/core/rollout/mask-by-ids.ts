import { itemAt, numberInAt } from '../lists/at.ts';
import type { MaskByIds } from './compared.ts';
import type { Rollout } from './rollout.ts';
import type { TokenTable } from './token-table.ts';

/** Shorter texts occur in a response by chance. */
const SHORTEST = 2;

/**
 * The recorded mask of each turn's tokens, found by text: trained tokens of tools and users, and masked tokens of the
 * model. Turns whose words the tokens do not contain, in order, are skipped, and so are unknown turns.
 */
export function maskByIds(
  { turns, responseTurn }: Pick<Rollout, 'turns' | 'responseTurn'>,
  table: TokenTable,
): MaskByIds | null {
  if (table.from !== 'recorded') return null;
  const own = table.rows.filter((_, i) =>
    table.runs.some(({ first, last, isPrompt }) => !isPrompt && i >= first && i <= last),
  );
  const starts: number[] = [];
  let text = '';
  for (const row of own) {
    starts.push(text.length);
    text += row.text ?? '';
  }
  const found: MaskByIds = { foreign: [], missing: [], modelTrained: 0, looked: 0 };
  let from = 0;
  let token = 0;
  for (const turn of turns.slice(responseTurn)) {
    const words = turn.text.trim();
    if (turn.confidence === 'unknown' || words.length < SHORTEST) continue;
    const at = text.indexOf(words, from);
    if (at === -1) continue;
    from = at + words.length;
    const isModels = turn.role === 'assistant';
    let [wrong, right] = [0, 0];
    while (token < own.length && numberInAt(starts, token) < at) token++;
    for (; token < own.length && numberInAt(starts, token) < from; token++) {
      const { trained, text: piece } = itemAt(own, token);
      // A token that extends past the turn's end partly belongs to the template.
      if (trained === null || numberInAt(starts, token) + (piece?.length ?? 0) > from) continue;
      if (trained === isModels) right++;
      else wrong++;
    }
    if (right + wrong > 0) found.looked++;
    if (isModels) found.modelTrained += right;
    if (wrong > 0) (isModels ? found.missing : found.foreign).push({ turn: turn.index, tokens: wrong });
  }
  return found.looked === 0 ? null : found;
}
