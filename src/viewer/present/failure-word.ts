import { checkWord } from '../../core/rollout/checks.ts';
import type { Finding } from '../../core/rollout/finding.ts';
import { truncate } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';

/** Other words for kinds, the last of at most seven cells: the column's width in a terminal of 80 columns. */
const KIND_WORDS: Record<string, readonly string[]> = {
  exception: ['exception', 'raised'],
  missing_module: ['no module', 'module'],
  out_of_memory: ['memory'],
  unknown_tool: ['no tool'],
  bad_json: ['bad json', 'json'],
  bad_arguments: ['arguments', 'args'],
  rejected: ['rejected', 'refused'],
  rate_limit: ['rate limit', 'rate'],
  unavailable: ['no server', 'server'],
  tool_failure: ['tool broke', 'broke'],
  no_answer: ['no answer', 'silent'],
  other: ['error'],
};

/** A shorter part of a tool's name says nothing. */
const LEAST_NAME = 3;
/** The width of a column for a word, and for the longest kind and the colon before it. */
const KIND_WIDTH = 10;
const MOST_WIDTH = 28;

/** A failed call in a few words, `search: timeout`. If there is too little room, the tool's name is cut first. */
export function failureWord(tool: string | null, kind: string, width = Number.POSITIVE_INFINITY): string {
  const kinds = KIND_WORDS[kind] ?? [kind.replaceAll('_', ' ')];
  const word = kinds.find((one) => cellWidth(one) <= width) ?? kinds.at(-1) ?? kind;
  const name = tool === null ? '' : sanitiseLine(tool).trim();
  if (name === '') return word;
  const whole = `${name}: ${word}`;
  if (cellWidth(whole) <= width) return whole;
  const room = width - cellWidth(word) - 2;
  return room < LEAST_NAME ? word : `${truncate(name, room)}: ${word}`;
}

/** A finding in a few words: the check's name, or for a failed call its tool and the kind of failure. */
const findingWord = ({ check, error }: Finding): string =>
  error === undefined || check !== 'tool_error' ? checkWord(check) : failureWord(error.tool, error.kind);

/** Each different word once. */
export const findingWords = (findings: readonly Finding[]): string =>
  [...new Set(findings.map(findingWord))].join(', ');

/** The width that a column of such words wants. @param longest of the tools' names */
export const failureWidth = (longest: number): number =>
  longest === 0 ? KIND_WIDTH : Math.min(MOST_WIDTH, longest + 2 + KIND_WIDTH);
