import { isUnclosed } from './call-error.ts';
import type { Ended } from './ended.ts';
import type { Part, Turn } from './rollout.ts';

/** How the text of the last response turn ends. @param endToken the end token after it, null if none is recorded */
export function endedByText(response: readonly Turn[], endToken: string | null = null): Ended {
  const last = response.at(-1);
  if (last === undefined || response.every(({ text }) => text.trim() === ''))
    return { how: 'unknown', evidence: 'the response is empty' };
  if (last.role !== 'assistant') return { how: 'unknown', evidence: `it ends in a ${last.role} turn` };
  if (last.toolCalls.some(isUnclosed)) return { how: 'mid_json', evidence: 'the text ends inside a tool call' };
  if (endToken !== null) return { how: 'stop', evidence: `${endToken} is at its end` };
  const thought = openThought(last);
  if (thought !== null && !GAVE_ANSWER.test(last.text.slice(thought.start, thought.end)))
    return { how: 'unclosed_think', evidence: 'the text ends inside of its reasoning' };
  const broken = brokenWord(last.text);
  if (broken !== null) return { how: 'mid_word', evidence: `the text ends in "…${broken}"` };
  const open = openEnd(last.text);
  if (open !== null) return { how: 'mid_word', evidence: open };
  return { how: 'unknown', evidence: 'nothing recorded says how it ended' };
}

/** Unclosed reasoning up to the end of the turn; a tag mentioned in prose opens none. */
function openThought(turn: Turn): Part | null {
  const last = turn.parts.at(-1);
  return last?.kind === 'think' && last.open === true ? last : null;
}

/** A final answer in a form that tasks request: the writer forgot the closing tag, and was not cut off. */
const GAVE_ANSWER = /<\/answer>|<\|answer_(?:start|end)\|>|\\boxed\s*\{|^#{4}\s*\S/m;

export const gaveAnswer = (text: string): boolean => GAVE_ANSWER.test(text);

/** Shorter last lines may be the end of a list, a name or a number. */
const PROSE = 60;
/** A letter, or a character that requires a continuation. */
const BREAKS_OFF = /[\p{L},([{=+*/\\<-]$/u;

export const endsInMidSentence = (text: string): boolean => brokenWord(text) !== null;

/** The last word of prose that breaks off; null if the text ends normally, or might. */
function brokenWord(text: string): string | null {
  const line = text.slice(text.lastIndexOf('\n') + 1);
  if (line.length < PROSE || line.trimEnd() !== line || !BREAKS_OFF.test(line)) return null;
  return line.slice(-20).replace(/^\S*\s/, '');
}

/** A word that no sentence ends with. */
const LEADS_ON = /\s(?:the|an?|of|and|or|because|than|which|with|from|is|are|its|their|but|whose|my|our|your|every)$/i;
/** A shorter text may be a name or a list. */
const FEWEST_WORDS = 4;
/** No line of code ends with these. */
const CODE_LEADS_ON =
  /(?:[,([{=+*/\\]|[\w)\]] -|\b(?:return|def|class|import|from|if|elif|while|for|in|and|or|not|lambda))$/;
const LATEX = [
  ['\\[', '\\]'],
  ['\\(', '\\)'],
] as const;
/** A command of LaTeX whose argument is not closed: `\frac{1}{`, `\boxed{42`. */
const OPEN_BRACE = /\\[A-Za-z]{2,20}(?:\{[^{}\n]*\})*\{[^{}\n]*$/;

/** Why a text that is no long line breaks off: inside of code or a formula, or after a word that leads on. */
function openEnd(text: string): string | null {
  if (text.trimEnd() !== text) return null;
  const end = text.slice(-MAX_TAIL);
  if ((text.match(/^[ \t]*```/gm)?.length ?? 0) % 2 === 1)
    return CODE_LEADS_ON.test(end) || opensBracket(lastLine(end)) ? 'the text ends inside of a line of code' : null;
  if (isHalfRow(end)) return 'the text ends inside of a row of a table';
  const opened = LATEX.some(([open, close]) => text.lastIndexOf(open) > text.lastIndexOf(close));
  if (opened || OPEN_BRACE.test(end)) return 'the text ends inside of a formula';
  return LEADS_ON.test(end) && end.trim().split(/\s+/).length >= FEWEST_WORDS
    ? `the text ends in "…${end.slice(end.lastIndexOf(' ') + 1)}"`
    : null;
}

const MAX_TAIL = 400;

const lastLine = (text: string): string => text.slice(text.lastIndexOf('\n') + 1);

/** A bracket of the line stays open; brackets in quotes and comments do not count. */
function opensBracket(line: string): boolean {
  const code = line.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g, '').replace(/(?:#|\/\/|--).*$/, '');
  const count = (kind: RegExp): number => code.match(kind)?.length ?? 0;
  return count(/[([{]/g) > count(/[)\]}]/g);
}

/** The row before begins and ends with a bar, and the last one begins with it alone. */
const isHalfRow = (text: string): boolean => /(?:^|\n)[ \t]*\|[^\n]*\|[ \t]*\n[ \t]*\|[^\n]*[^|\s]$/.test(text);
