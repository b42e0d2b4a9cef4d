import { type Cut, cutShows, lengthOf, possibleCuts } from './cut.ts';
import { normalise, type Rule } from './normalise.ts';

/** How a new text stands to the recorded one, where it equals it. */
export interface Match {
  /** The rules that were needed; none: the texts are equal. */
  rules: string[];
  compared: 'whole' | 'shown_part';
  /** Characters, for a shown part. */
  shown: number;
  total: number;
}

export interface CompareOptions {
  rules: readonly Rule[];
  /** What the call ran; null for a tool that runs no code. */
  code: string | null;
}

/** null: the texts differ. A recorded text that was cut is compared as far as it goes. */
export function matchTexts(recorded: string, fresh: string, { rules, code }: CompareOptions): Match | null {
  const total = lengthOf(fresh);
  const whole = (needed: string[]): Match => ({ rules: needed, compared: 'whole', shown: total, total });
  if (recorded === fresh) return whole([]);
  const cuts = possibleCuts(recorded);
  const part = (cut: Cut, needed: string[]): Match => ({
    rules: needed,
    compared: 'shown_part',
    shown: cut.shown,
    total,
  });
  const plain = cuts.find((cut) => cutShows(cut, fresh));
  if (plain) return part(plain, []);
  const isEqual = (used: readonly Rule[]) => normalise(recorded, used, code) === normalise(fresh, used, code);
  if (isEqual(rules)) return whole(fewest(rules, isEqual));
  for (const cut of cuts) {
    const shows = (used: readonly Rule[]) => partShows(cut, fresh, used, code);
    if (total >= cut.shown && shows(rules)) return part(cut, fewest(rules, shows));
  }
  return null;
}

/** The names of the rules that cannot be done without. */
function fewest(rules: readonly Rule[], holds: (used: readonly Rule[]) => boolean): string[] {
  let needed = rules;
  for (const rule of rules) {
    const without = needed.filter((one) => one !== rule);
    if (holds(without)) needed = without;
  }
  return needed.map((rule) => rule.name);
}

/**
 * A cut may go through the middle of a path or a time, where no rule knows it any more: the piece next to the cut is left out, up to
 * the nearest space.
 */
function partShows({ head, tail }: Cut, fresh: string, rules: readonly Rule[], code: string | null): boolean {
  const text = normalise(fresh, rules, code);
  const start = normalise(head.replace(/\S*$/, ''), rules, code);
  const end = normalise(tail.replace(/^\S*/, ''), rules, code);
  if ((head !== '' && start === '') || (tail !== '' && end === '')) return false;
  return text.startsWith(start) && text.endsWith(end);
}
