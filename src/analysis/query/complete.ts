import { CHECKS } from '../../core/rollout/checks.ts';
import { FACTS, factAt } from '../../core/rollout/facts.ts';
import { SIGNAL_NAMES } from '../signal/signal-audit.ts';
import { FIELD_NAMES, FILTER_NAMES } from './fields.ts';

/**
 * Whole expressions that a partly typed one may become, with the name at its end completed. @param extras keys of the
 * records
 */
export function completions(text: string, extras: readonly string[]): string[] {
  const finding = /finding:([\w-]*)$/.exec(text);
  if (finding !== null) return endings(text, finding[1] ?? '', [...CHECKS, ...SIGNAL_NAMES]);
  const value = /(?:^|[\s(!&|])([a-z._]+) *[!=]= *("?[\w-]*)$/.exec(text);
  const words = value === null ? undefined : FACTS[factAt(value[1] ?? '')]?.words;
  if (words !== undefined)
    return endings(
      text,
      value![2] ?? '',
      words.map((one) => `"${one}"`),
    );
  const word = /(?:^|[\s(!&|])([\p{L}_][\p{L}\p{N}_.-]*)?$/u.exec(text);
  if (word === null) return [];
  return endings(text, word[1] ?? '', [...FIELD_NAMES, ...FILTER_NAMES, ...extras, 'finding:']);
}

const endings = (text: string, typed: string, names: readonly string[]): string[] =>
  names
    .filter((name) => name.startsWith(typed) && name !== typed)
    .map((name) => text.slice(0, text.length - typed.length) + name);
