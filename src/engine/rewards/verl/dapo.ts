import { closedFrom } from './math.ts';

/**
 * The score of DAPO (`verl/utils/reward_score/math_dapo.py`): 1 or −1 for the text after the last "Answer:". In verl of August 2026 an answer
 * without these words counts if there is a box in the last 100 characters; versions up to January 2026 give −1.
 */
export function dapoScore(solution: string, groundTruth: string): DapoScore {
  const text = lastOf(solution, 300);
  const stated = [...text.matchAll(/Answer\s*:\s*([^\n]+)/gi)].at(-1)?.[1];
  const pred = stated === undefined ? boxed(lastOf(text, 100)) : finalAnswer(stated);
  if (pred === null) return { score: -1, acc: false, pred: '[INVALID]' };
  const acc = pred === (stated === undefined ? groundTruth : finalAnswer(groundTruth));
  const score = acc ? 1 : -1;
  return stated === undefined && acc
    ? { score, acc, pred, older: { verl: 'of January 2026', score: -1 } }
    : { score, acc, pred };
}

export interface DapoScore {
  score: number;
  acc: boolean;
  pred: string;
  /** The score of older versions, if different. */
  older?: { verl: string; score: number };
}

/** The last characters as Python counts them. */
const lastOf = (text: string, count: number): string => [...text].slice(-count).join('');

function boxed(text: string): string | null {
  const start = text.lastIndexOf('\\boxed{');
  return start === -1 ? null : (closedFrom(text, start)?.slice(7, -1) ?? null);
}

const SUBSTITUTED: readonly [string, string][] = [
  ['an ', ''],
  ['a ', ''],
  ['.$', '$'],
  ['\\$', ''],
  ['\\ ', ''],
  [' ', ''],
  ['mbox', 'text'],
  [',\\text{and}', ','],
  ['\\text{and}', ','],
  ['\\text{m}', '\\text{}'],
];
const REMOVED = [
  ...'square ways integers dollars mph inches hours km units \\ldots sue points feet minutes digits cents degrees cm gm'.split(
    ' ',
  ),
  ...'pounds meters meals edges students childrentickets multiples \\text{s} \\text{.}'.split(' '),
  ...['\\text{\ns}', '\\text{}^2', '\\text{}^3', '\\text{\n}', '\\text{}', '\\mathrm{th}', '^\\circ', '^{\\circ}'],
  ...['\\;', ',\\!', '{,}', '"', '\\dots'],
];

/** Normalises an answer as Minerva does. */
function finalAnswer(answer: string): string {
  let text = answer.split('=').at(-1) ?? '';
  for (const [before, after] of SUBSTITUTED) text = text.replaceAll(before, after);
  for (const words of REMOVED) text = text.replaceAll(words, '');
  text = text
    .replace(/(.*?)(\$)(.*?)(\$)(.*)/g, (_match, _a, _b, inner: string) => `$${inner}$`)
    .replace(/\\text\{(.*?)\}/g, '$1')
    .replace(/\\textbf\{(.*?)\}/g, '$1')
    .replace(/\\overline\{(.*?)\}/g, '$1')
    .replace(/\\boxed\{(.*)\}/g, '$1')
    .replace(/frac([^{])(.)/gu, 'frac{$1}{$2}')
    .replace(/sqrt([^{])/gu, 'sqrt{$1}')
    .replaceAll('$', '');
  if (/^\p{Nd}+$/u.test(text.replaceAll(',', ''))) text = text.replaceAll(',', '');
  return text.trim();
}
