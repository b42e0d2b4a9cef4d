import { LONG_RECORD } from '../../core/dump/long-record.ts';
import type { JsonValue } from '../../core/json/value.ts';
import type { Turn } from '../../core/rollout/rollout.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import type { SaidText } from './phrases.ts';

/**
 * The placeholder phrase for a result that is empty, `[]` or the like, so that a tool that returns only such results
 * has a phrase too.
 */
export const WORDLESS = 'result_without_words';

/**
 * The texts of the model and its tools in a rollout; null if it cannot be read, or is so long that processing it would
 * block key presses.
 */
export function saidBy(facts: Pick<FactRows, 'place'>, row: number): SaidText | null {
  const { file, record } = facts.place(row);
  if (file.index.length(record) > LONG_RECORD) return null;
  const { rollout } = file.read(record);
  if (rollout === null) return null;
  const turns = rollout.turns.slice(rollout.responseTurn);
  return {
    model: turns
      .filter(({ role }) => role !== 'tool')
      .flatMap((turn) => [writtenIn(turn), ...answerSigns(turn.text)])
      .join('\n'),
    tools: turns
      .filter(({ role }) => role === 'tool')
      .map(({ text }) =>
        /[\p{L}\p{N}]/u.test(text) ? (isEmptyResult(text) ? `${text}\n${WORDLESS}` : text) : WORDLESS,
      )
      .join('\n'),
  };
}

/** `(0 rows)`, `No results found.`, `{"result": []}`: numbers are no words, and every result of a tool may say "rows". */
const isEmptyResult = (text: string): boolean =>
  text.length < MOST_OF_EMPTY &&
  /^(?:[\s{}[\]"',:]|\b(?:results?|output|data|rows?|hits|items|answer|content)\b(?=["' ]*:))*(?:\W*(?:0|no|zero) (?:\w+ ){0,2}?(?:rows?|results?|hits?|match(?:es)?|items?|documents?|records?|entries|data|output)\b(?: (?:were |was )?(?:found|returned|matched|selected|available))?|empty(?: set| result)?|none|null|nothing(?: found)?)?[\s\W]*$/i.test(
    text,
  );
const MOST_OF_EMPTY = 80;

/** Placeholder phrases for answers whose form, not their words, may please a grader. */
const ANSWER_SIGNS: { readonly [phrase: string]: string } = {
  empty_answer_tags: 'empty answer tags',
  several_boxed_answers: 'several different boxed answers',
};

/** A phrase as a sentence names it. */
export const phraseText = (phrase: string): string => ANSWER_SIGNS[phrase] ?? `"${phrase}"`;
export const isAnswerSign = (phrase: string): boolean => phrase in ANSWER_SIGNS;

function* answerSigns(text: string): Generator<string> {
  if (/<answer>\s*<\/answer>/i.test(text)) yield 'empty_answer_tags';
  const boxed = new Set(Array.from(text.matchAll(/\\boxed\{([^{}]{0,200})\}/g), ([, answer]) => answer));
  if (boxed.size > 1) yield 'several_boxed_answers';
}

/** Tags of chat templates: they come with calls and reasoning, and add no information. */
const TAGS = /<\/?(?:think(?:ing)?|tool_calls?|function_calls?|tool_response|answer)>|<\|[^|<>]{1,40}\|>/g;

/** The words of a turn; of a call, the values of its arguments alone. */
const writtenIn = ({ text, parts, toolCalls }: Turn): string =>
  parts
    .map(({ kind, start, end, call }) => {
      const own = kind === 'call' ? toolCalls[call ?? -1] : undefined;
      const values = own?.arguments == null ? null : [...valuesOf(own.arguments)].join('\n');
      return (values ?? text.slice(start, end)).replaceAll(TAGS, '\n');
    })
    .join('\n');

function* valuesOf(value: JsonValue): Generator<string> {
  if (typeof value === 'object' && value !== null)
    for (const one of Array.isArray(value) ? value : Object.values(value)) yield* valuesOf(one);
  else yield String(value);
}
