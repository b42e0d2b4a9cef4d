import { itemAt } from '../../../core/lists/at.ts';
import { gradeAnswer } from './grade.ts';
import type { Zero } from './sympy.ts';
import { isOneValue, numberAt } from './value.ts';

/** The score of the NuminaMath sources (`verl/utils/reward_score/prime_math`): 1 if the text's final answer equals the truth. null: only sympy could decide. */
export function primeMathScore(solution: string, truth: string, zero?: Zero): { score: number | null; pred: string } {
  const pred = answerIn(solution);
  const graded = gradeAnswer(pred, truth, zero);
  if (graded === true) return { score: 1, pred };
  const pis = /\\pi/.test(pred) || /\\pi/.test(truth) ? [Math.PI, 3.14] : [null];
  const equal = pis.map((pi) => mathEqual(pred, truth, pi));
  if (equal.includes(true)) return { score: 1, pred };
  return { score: graded === null || equal.includes(null) ? null : 0, pred };
}

const BEFORE = ['answer:', 'answer is', 'answers are'];
const AFTER = ['is answer', 'is the answer', 'are answers', 'are the answers'];
const LEADS = ['be ', 'is ', 'are ', '=', ': ', 'get ', 'be\n', 'is\n', 'are\n', ':\n', 'get\n'];

/** The text after the last phrase that announces an answer. */
function answerIn(solution: string): string {
  let text = solution;
  const lastOf = (words: string): number => text.toLowerCase().lastIndexOf(words);
  for (const words of BEFORE) if (lastOf(words) !== -1) text = text.slice(lastOf(words) + words.length).trim();
  for (const words of AFTER) if (lastOf(words) !== -1) text = text.slice(0, lastOf(words)).trim();
  text = boxedIn(text) || text;
  if (text.includes('. ')) text = text.slice(0, text.lastIndexOf('. ')).trim();
  for (const words of LEADS) if (lastOf(words) !== -1) text = text.slice(lastOf(words) + words.length).trim();
  return text;
}

function boxedIn(text: string): string | null {
  const boxed = text.lastIndexOf('\\boxed');
  const start = boxed === -1 ? text.lastIndexOf('\\fbox') : boxed;
  if (start === -1) return null;
  let open = -1;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') {
      depth++;
      if (open === -1) open = at;
    } else if (text[at] === '}' && --depth === 0) return open === -1 ? null : text.slice(open + 1, at).trim();
  }
  return null;
}

type MathValue = string | number;

function mathEqual(given: MathValue, truth: MathValue, pi: number | null): boolean | null {
  let a = normalise(given, pi);
  const b = normalise(truth, pi);
  if (a === null || b === null) return false;
  if (typeof a === 'string' && a.length > 1000) a = a.slice(0, 1000);
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.trim().toLowerCase() === b.trim().toLowerCase()) return true;
    if (a.replaceAll(' ', '') === b.replaceAll(' ', '')) return true;
  }
  const [one, other] = [digits(a), digits(b)];
  if (one !== null && other !== null) return [other / 100, other, other * 100].some((item) => isClose(item, one));
  if (a === '') return false;
  return sameForm(interval(String(a).trim()), String(b).trim());
}

function sameForm(a: string, b: string): boolean | null {
  let [mine, wanted] = [a, b];
  if (
    (a.startsWith('[') && a.endsWith(']') && !b.startsWith('(')) ||
    (a.startsWith('(') && a.endsWith(')') && !b.startsWith('['))
  ) {
    mine = mine.replace(/^[[\]()]+|[[\]()]+$/g, '');
    wanted = wanted.replace(/^[[\]()]+|[[\]()]+$/g, '');
  }
  if (mine.replace(/[{}()]/g, '') === wanted.replace(/[{}()]/g, '')) return true;
  const all = (first: string[], second: string[]): boolean | null => {
    const found = first.map((part, i) => mathEqual(part, second[i] ?? '', Math.PI));
    return found.includes(false) ? false : found.includes(null) ? null : true;
  };
  const ends = (text: string): string => `${text[0]}${text.at(-1)}`;
  if (/^[([]/.test(a) && /[)\]]$/.test(a) && b !== '' && ends(a) === ends(b)) {
    const [first, second] = [a.slice(1, -1).split(','), b.slice(1, -1).split(',')];
    if (first.length === second.length && all(first, second) === true) return true;
  }
  if (a.includes(',') && b.includes(',')) {
    const [first, second] = [a.split(',').map((part) => part.trim()), b.split(',').map((part) => part.trim())];
    if (first.length === second.length) return all(first, second);
  }
  if (a.startsWith('Matrix') && b.includes('\\begin{pmatrix}')) return null;
  // verl wraps sympy in a time limit that is not a context manager: it raises at once, so formulas are never compared.
  return false;
}

const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-4 * Math.max(Math.abs(a), Math.abs(b));

function digits(value: MathValue): number | null {
  if (typeof value === 'number') return value;
  const text = value.includes('{,}') ? value.replaceAll('{,}', '') : value.replaceAll(',', '');
  return /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : null;
}

/** null: the scorer raises here, and the answer counts as wrong. */
function normalise(value: MathValue, pi: number | null): MathValue | null {
  if (typeof value === 'number') return value;
  if (/^\$\d+(?:\.\d+)?/.test(value)) return value.slice(1);
  if (/^\d+(?:\.\d+)?\\?%$/.test(value)) return value.replace(/\\?%/, '');
  if (value.includes('_')) {
    const base = digits(itemAt(value.split('_'), 0));
    return base === null ? null : Math.trunc(base);
  }
  if (!value.includes('\\pi') || pi === null) return value;
  const text = value.replace(/(\d?)\\pi/g, (_match, digit: string) => (digit === '' ? `1*${pi}` : `${digit}*${pi}`));
  try {
    return isOneValue(text, text, { implicit: false }, 1) === true ? evaluated(text) : text;
  } catch {
    return text;
  }
}

function evaluated(text: string): MathValue {
  const found = /^[\d\s.*+/()e-]+$/.test(text) ? mathNumber(text) : null;
  return found ?? text;
}

const mathNumber = (text: string): number | null => numberAt(text, () => Number.NaN, { implicit: false });

const INTERVALS: readonly [RegExp, string, string][] = [
  [/^Interval\((.*)\)$/, '[', ']'],
  [/^Interval\.Ropen\((.*)\)$/, '[', ')'],
  [/^Interval\.Lopen\((.*)\)$/, '(', ']'],
  [/^Interval\.open\((.*)\)$/, '(', ')'],
];

function interval(text: string): string {
  for (const [pattern, open, close] of INTERVALS) {
    const inner = pattern.exec(text)?.[1];
    if (inner !== undefined) return `${open}${inner}${close}`;
  }
  return text;
}
