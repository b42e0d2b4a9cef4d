import { z } from 'zod';
import { JsonError, parseJson } from '../../core/json/parse.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import type { Rubric } from './rubric.ts';

const Answer = z.object({
  label: z.string(),
  turn: z.number().int().nonnegative(),
  quote: z.string(),
  reason: z.string().nullish(),
});

/** A judgement backed by words of the rollout. */
export interface GroundedLabel {
  label: string;
  turn: number;
  quote: string;
  reason: string | null;
}

/** The judgement, or why the answer is void. */
export function judgementIn(text: string, rollout: Rollout, { labels }: Rubric): GroundedLabel | string {
  const answer = lastObject(text);
  if (answer === null) return 'the answer holds no JSON object with label, turn and quote';
  const { turn, quote, reason } = answer;
  const label = labels.find((one) => one.toLowerCase() === answer.label.trim().toLowerCase());
  if (label === undefined) return `the rubric has no label "${answer.label.slice(0, 60)}"`;
  const shown = rollout.turns[turn];
  if (shown === undefined) return `there is no turn ${turn}`;
  const words = quote.trim();
  if (words.replace(/\W/g, '').length < FEWEST_LETTERS) return 'the quote is empty';
  if (!spaced(shown.text).includes(spaced(words))) return `the quote is not in turn ${turn}`;
  return { label, turn, quote: words.slice(0, MOST_QUOTED), reason: reason?.trim() || null };
}

/** Quotes with fewer letters and digits occur in almost every text. */
const FEWEST_LETTERS = 3;
const MOST_QUOTED = 600;

/** Models break and indent lines differently from the text they quote. */
const spaced = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The last object in the text that is an answer: reasoning and examples may precede it. */
function lastObject(text: string): z.infer<typeof Answer> | null {
  for (let end = text.lastIndexOf('}'); end !== -1; end = text.lastIndexOf('}', end - 1)) {
    let tries = 0;
    for (
      let start = text.lastIndexOf('{', end);
      start !== -1 && tries++ < MOST_TRIES;
      start = text.lastIndexOf('{', start - 1)
    ) {
      const read = Answer.safeParse(parsedReply(text.slice(start, end + 1)));
      if (read.success) return read.data;
      if (start === 0) break;
    }
    if (end === 0 || text.length - end > MOST_BEHIND) return null;
  }
  return null;
}

/** Limits the attempts caused by braces in quotes and text after the answer. */
const MOST_TRIES = 50;
const MOST_BEHIND = 4000;

function parsedReply(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
