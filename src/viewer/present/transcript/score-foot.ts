import { finished } from '../../../core/async/finished.ts';
import type { JsonObject } from '../../../core/json/value.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';
import { fitLeft } from '../../../core/text/fit.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { alignedNumbers } from '../numbers.ts';
import type { Block } from './block.ts';

/** The details show the rest. */
const MOST_PARTS = 12;
const LONGEST_NAME = 32;
const LONGEST_FEEDBACK = 1200;
/** Names under which graders explain their score. */
const FEEDBACK =
  /(?:feedback|critique|rationale|explanation|justification|reason|judg\w*|comment|review|error|message)$/i;
/** Counters and ids, not judgements: they explain no score. */
const NO_PART = /(?:^|_)(?:id|idx|index|seed|epoch|step|timestamp|version)$/i;

interface FootPart {
  name: string;
  value: number | boolean;
}

/** What may explain the score. */
interface Explanation {
  /** Rewards by name, then numbers and booleans under the record's own keys; the largest first. */
  parts: readonly FootPart[];
  /** Texts of a grader, with their names. */
  texts: readonly { name: string; text: string }[];
}

const known = new WeakMap<Rollout, Explanation>();
/** Keys examined between two pauses; a record may have 100,000. */
const SHARE = 5000;

/** Looks at the record's own keys, and at those of objects under them. */
export function* findingExplanation(rollout: Rollout): Generator<void, Explanation> {
  const before = known.get(rollout);
  if (before !== undefined) return before;
  const parts = new Map<string, number | boolean>();
  const texts: { name: string; text: string }[] = [];
  for (const [name, value] of Object.entries(rollout.rewards.named ?? {})) if (value !== null) parts.set(name, value);
  let keys = 0;
  function* add(values: JsonObject, prefix: string, hasParts: boolean): Generator<void> {
    // Entries of 100,000 keys take 100 ms in one stretch.
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (++keys % SHARE === 0) yield;
      const name = prefix + key;
      if (typeof value === 'string') {
        if (FEEDBACK.test(key) && value.trim() !== '') texts.push({ name, text: value });
        continue;
      }
      const isPart = hasParts && !NO_PART.test(key) && !parts.has(name);
      if (prefix === '' && isJsonObject(value)) yield* add(value, `${key}.`, isPart);
      else if (isPart && (typeof value === 'number' || typeof value === 'boolean')) parts.set(name, value);
    }
  }
  yield* add(rollout.extras, '', true);
  const size = ({ value }: FootPart): number => (typeof value === 'number' ? Math.abs(value) || 0 : -1);
  const found = {
    parts: [...parts].map(([name, value]) => ({ name, value })).sort((a, b) => size(b) - size(a)),
    texts,
  };
  known.set(rollout, found);
  return found;
}

/** A line after the last turn. */
export const footLine = (id: string, text: string, style: Block['style'] = 'plain'): Block => ({
  id,
  turn: null,
  text,
  style,
  trained: false,
  indent: 0,
  clip: true,
});

/** The score, with its explanation below. */
export function scoreBlocks(rollout: Rollout): Block[] {
  const { parts, texts } = finished(findingExplanation(rollout));
  const shown = parts.slice(0, MOST_PARTS);
  const width = Math.min(LONGEST_NAME, Math.max(0, ...shown.map(({ name }) => cellWidth(sanitiseLine(name)))));
  const numbers = alignedNumbers(
    shown.map(({ value }) => (typeof value === 'number' ? scoreText(value) : String(value))),
  );
  const blocks = [footLine('score', `score ${scoreText(rollout.score)}`, 'strong')];
  for (const [i, { name }] of shown.entries())
    blocks.push({
      ...footLine(`part.${name}`, `${fitLeft(sanitiseLine(name), width)}  ${numbers[i]}`.trimEnd()),
      indent: 2,
    });
  if (parts.length > shown.length)
    blocks.push({
      ...footLine('parts', `and ${formatCount(parts.length - shown.length)} more in the details`, 'quiet'),
      indent: 2,
    });
  for (const { name, text } of texts) {
    const cut =
      text.length > LONGEST_FEEDBACK ? `${text.slice(0, LONGEST_FEEDBACK)} … the details have all of it` : text;
    blocks.push(footLine(`feedback.${name}`, `${sanitiseLine(name)}: ${sanitise(cut.trim())}`));
  }
  return blocks;
}
