import { itemAt } from '../../../core/lists/at.ts';
import { hendrycks } from './math.ts';
import type { Zero } from './sympy.ts';
import { isOneValue, UnknownFormula } from './value.ts';

/**
 * The grader of PRM800K, as in mathruler and verl's prime_math: equal after normalisation, or equal in value. sympy makes the final decision
 * there; here values do, and `zero` is asked about a formula that cannot be evaluated without it. null: it does not know either.
 */
export function gradeAnswer(given: string, truth: string, zero: Zero = () => null): boolean | null {
  if (mathd(given) === mathd(truth)) return true;
  const [mine, other] = [normalise(given), normalise(truth)];
  if (mine === other) return true;
  if (mine === '') return false;
  const [truths, givens] = [parts(other), parts(mine)];
  if (truths.length > 1 && (other[0] !== mine[0] || other.at(-1) !== mine.at(-1))) return false;
  if (truths.length !== givens.length) return false;
  let isUnsure = false;
  for (const [i, wanted] of truths.entries()) {
    const found = isPart(wanted, itemAt(givens, i), zero);
    if (found === false) return false;
    isUnsure ||= found === null;
  }
  return isUnsure ? null : true;
}

const FRACTION = /^-?[0-9]+.?\/0*[1-9][0-9]*.?$/;

function isPart(wanted: string, given: string, zero: Zero): boolean | null {
  if (FRACTION.test(wanted) && FRACTION.test(given)) return wanted === given;
  if (isInteger(wanted) !== isInteger(given)) return false;
  const difference = `(${wanted})-(${given})`;
  const letters = new Set(difference.replaceAll('sqrt', '').replaceAll('frac', '').match(/\p{L}/gu) ?? []);
  if (letters.size > 2 || /\^\{|\^\(|\^[0-9]+\^|\^[0-9][0-9]+/.test(difference)) return false;
  try {
    return isOneValue(wanted, given, { implicit: true }, 1e-9) ?? false;
  } catch (error) {
    if (error instanceof UnknownFormula) return zero(difference);
    throw error;
  }
}

/** Like mathd: the normalisation of the MATH data set, without an enclosing \text. */
function mathd(answer: string): string {
  const text = answer.trim();
  return hendrycks(/^\\text\{(.+?)\}$/.exec(text)?.[1]?.trim() ?? text) ?? text;
}

const UNITS = 'degree cm centimeter meter mile second minute hour day week month year foot feet inch yard liter'.split(
  ' ',
);

function normalise(answer: string): string {
  let text = /^\\text\{(.+?)\}$/.exec(answer)?.[1] ?? answer;
  text = text.replaceAll('\\%', '%').replaceAll('\\$', '$').replaceAll('$', '').replaceAll('%', '');
  text = text.replaceAll(' or ', ' , ').replaceAll(' and ', ' , ');
  text = text.replaceAll('million', '*10^6').replaceAll('billion', '*10^9').replaceAll('trillion', '*10^12');
  for (const unit of UNITS) text = text.replace(new RegExp(`${unit}(?:es)?s? *(?:\\^[0-9]+)?`, 'g'), '');
  text = text.replace(/\^ *\\circ/g, '');
  if (text.startsWith('{') && text.endsWith('}')) text = text.slice(1, -1);
  text = text.replace(/,\\! */g, '');
  const number = parsedPythonFloat(text);
  if (number !== null && Math.abs(number - Math.round(number)) <= 1e-7) text = String(Math.round(number));
  if (text.includes('\\')) text = plainLatex(text);
  text = text
    .replace(/- */g, '-')
    .replace(/([0-9]) +([0-9])/g, '$1+$2')
    .toLowerCase();
  return isInteger(text) ? String(Math.trunc(parsedPythonFloat(text.replaceAll(',', '')) ?? 0)) : text;
}

const parsedPythonFloat = (text: string): number | null => {
  // Python accepts the digits of every script.
  const plain = text
    .replace(/\p{Nd}/gu, (digit) => digit.normalize('NFKC'))
    .trim()
    .replace(/(\d)_(?=\d)/g, '$1');
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? Number(plain) : null;
};

function isInteger(text: string): boolean {
  const number = parsedPythonFloat(withoutCommas(text));
  return number !== null && Math.abs(number - Math.round(number)) <= 1e-7;
}

function withoutCommas(text: string): string {
  for (let before = text; ; ) {
    const after = before.replace(/(\d)(,)(\d\d\d)($|\D)/g, '$1$3$4');
    if (after === before) return after;
    before = after;
  }
}

const BRACKETS = '()[]';

/** The elements of a tuple or an interval. */
function parts(text: string): string[] {
  const plain = withoutCommas(text);
  if (plain === '') return [];
  const inner = plain.slice(1, -1);
  const isTuple =
    plain.length > 2 &&
    BRACKETS.includes(plain[0] as string) &&
    BRACKETS.includes(plain.at(-1) as string) &&
    ![...BRACKETS].some((bracket) => inner.includes(bracket));
  return isTuple ? inner.split(',').map((part) => part.trim()) : [plain];
}

const SIGNS: readonly [RegExp, string][] = [
  [/\\(?:left|right|[!,;: ]|quad|displaystyle)/g, ''],
  [/\\(?:times|cdot)(?![a-z])/g, '*'],
  [/\\div(?![a-z])/g, '/'],
  [/\\pi(?![a-z])/g, 'pi'],
  [/\\infty(?![a-z])/g, 'inf'],
  [/\\cup(?![a-z])/g, 'U'],
  [/\\boxed(?=\s*\{)/g, ''],
  [/\\(sin|cos|tan|log|ln|exp|min|max|gcd|lcm|sqrt(?=\())(?![a-z])/g, '$1'],
  [/\\(?:text|mathrm|mathbf|textbf|mbox)\{([^{}]*)\}/g, '$1'],
];

/** Evaluates LaTeX's fractions, roots and signs; other signs are replaced by their plain spelling. */
function plainLatex(latex: string): string {
  let text = latex.replace(/\\[td]frac/g, '\\frac').replaceAll('\\frac', ' \\frac');
  for (const [pattern, to] of SIGNS) text = text.replace(pattern, to);
  for (let before = ''; before !== text; ) {
    before = text;
    text = text
      .replace(/\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '$1/$2')
      .replace(/\\frac\s*(\d)\s*(\d)/g, '$1/$2')
      .replace(/\\sqrt\s*\{([^{}]*)\}/g, 'sqrt($1)')
      .replace(/\\sqrt\s*(\w)/g, 'sqrt($1)')
      .replace(/\^\{(\w+)\}/g, '^$1');
  }
  return text
    .replace(/\\(?:[a-zA-Z]+|.)/g, '∎')
    .replace(/[{}]/g, '')
    .trim();
}
