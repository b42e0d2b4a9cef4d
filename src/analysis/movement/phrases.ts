import { foreignLanguage } from './language.ts';

/** The text of a rollout by who wrote it. */
export interface SaidText {
  model: string;
  tools: string;
}

export interface TextRow {
  row: number;
  /** The index in the timeline. */
  at: number;
  score: number;
  group: number;
  /** From `phrasesOf`, prefixed with m or t for the speaker. */
  phrases: readonly string[];
  /** The repetition in the model's text: see `mostSaid`. */
  repeats: number;
}

/** Only the two ends of longer texts are examined. */
const MOST_TEXT = 20_000;

/** Replaces any mark that ends a sentence; a full stop after a word stays part of the word. */
const SENTENCE_END = '!';

function wordsOf(text: string): string[] {
  const cut = text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT / 2)} ${text.slice(-MOST_TEXT / 2)}`;
  return (cut.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_.]*|\d+|[.!?。！？](?=\s|$)|\n/gu) ?? []).map((word) =>
    /^[\p{L}\p{N}_]/u.test(word) ? word : SENTENCE_END,
  );
}

/** How often the most repeated run of words occurs. */
export function mostSaid(text: string): number {
  const words = wordsOf(text).filter((word) => word !== SENTENCE_END);
  const counts = new Map<string, number>();
  let most = 0;
  for (let i = 0; i + IN_A_ROW <= words.length; i++) {
    const said = words.slice(i, i + IN_A_ROW).join(' ');
    const count = (counts.get(said) ?? 0) + 1;
    counts.set(said, count);
    if (count > most) most = count;
  }
  return most;
}

const IN_A_ROW = 5;

/** The phrases of a rollout, prefixed with m or t for the speaker. */
export const phrasesBy = ({ model, tools }: SaidText): string[] => [
  ...Array.from(phrasesOf(model), (phrase) => `m${phrase}`),
  ...Array.from(phrasesOf(tools), (phrase) => `t${phrase}`),
];

/** The beginning of the phrase for a language; its capital occurs in no other phrase. */
const IN_LANGUAGE = 'written in ';

/** The language that a phrase names; null for an ordinary phrase. */
export const languageSaid = (phrase: string): string | null =>
  phrase.startsWith(IN_LANGUAGE) && phrase !== phrase.toLowerCase() ? phrase.slice(IN_LANGUAGE.length) : null;

/**
 * Words and pairs of words in one sentence, numbers as 0, and the language if it is not English. Texts phrased
 * differently each time share none; copied texts do.
 */
function phrasesOf(text: string): Set<string> {
  const words = wordsOf(text);
  const phrases = new Set<string>();
  let before = '';
  const plain: string[] = [];
  for (const word of words) {
    if (word === SENTENCE_END) {
      before = '';
      continue;
    }
    const one = /^\d/.test(word) ? '0' : word.replace(/\.+$/, '').replaceAll(/\d+/g, '0').slice(0, 40);
    phrases.add(one);
    plain.push(one);
    if (before !== '') phrases.add(`${before} ${one}`);
    before = word.endsWith('.') ? '' : one;
  }
  const language = foreignLanguage(plain);
  if (language !== null) phrases.add(`${IN_LANGUAGE}${language}`);
  return phrases;
}
