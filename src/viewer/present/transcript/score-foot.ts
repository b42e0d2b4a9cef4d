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

/** Values beside the score that may explain it: rewards by name, then numbers and booleans under the record's own keys. */
function scoreParts({ rewards, extras }: Pick<Rollout, 'rewards' | 'extras'>): FootPart[] {
  const parts = new Map<string, number | boolean>();
  for (const [name, value] of Object.entries(rewards.named ?? {})) if (value !== null) parts.set(name, value);
  const add = (values: JsonObject, prefix: string): void => {
    // A record may have 100,000 keys, most of them texts.
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (value === undefined || typeof value === 'string' || value === null) continue;
      const name = prefix + key;
      if (NO_PART.test(key) || parts.has(name)) continue;
      if (typeof value === 'number' || typeof value === 'boolean') parts.set(name, value);
      else if (prefix === '' && isJsonObject(value)) add(value, `${key}.`);
    }
  };
  add(extras, '');
  const size = ({ value }: FootPart): number => (typeof value === 'number' ? Math.abs(value) || 0 : -1);
  return [...parts].map(([name, value]) => ({ name, value })).sort((a, b) => size(b) - size(a));
}

/** Texts in which a grader explains the score, with their names; also the first text in a nested object. */
function feedbackOf(extras: JsonObject): { name: string; text: string }[] {
  const texts: { name: string; text: string }[] = [];
  const add = (values: JsonObject, prefix: string): void => {
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (typeof value === 'string') {
        if (FEEDBACK.test(key) && value.trim() !== '') texts.push({ name: prefix + key, text: value });
      } else if (prefix === '' && isJsonObject(value)) add(value, `${key}.`);
    }
  };
  add(extras, '');
  return texts;
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
  const parts = scoreParts(rollout);
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
  for (const { name, text } of feedbackOf(rollout.extras)) {
    const cut =
      text.length > LONGEST_FEEDBACK ? `${text.slice(0, LONGEST_FEEDBACK)} … the details have all of it` : text;
    blocks.push(footLine(`feedback.${name}`, `${sanitiseLine(name)}: ${sanitise(cut.trim())}`));
  }
  return blocks;
}
