/** The MATH score of verl (`verl/utils/reward_score/math_reward.py`): the last \boxed answer, equal after normalisation. */
export function mathScore(solution: string, groundTruth: string): { score: number; answer: string | null } {
  const answer = lastBoxed(solution);
  return { score: answer !== null && sameAnswer(answer, groundTruth) ? 1 : 0, answer };
}

/** What stands in the last `\boxed{…}` or `\fbox{…}`, or behind a `\boxed ` up to the next `$`; null without one, or when it is not closed. */
export function lastBoxed(text: string): string | null {
  const start = Math.max(text.lastIndexOf('\\boxed'), text.lastIndexOf('\\fbox'));
  if (start === -1) return null;
  const bare = /^\\boxed ([^$]*)/.exec(text.slice(start));
  if (bare) return bare[1]!;
  const open = text.indexOf('{', start);
  if (open === -1) return null;
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return text.slice(open + 1, at);
  }
  return null;
}

export const sameAnswer = (a: string, b: string): boolean => normalise(a) === normalise(b);

/** The normalisation of the MATH data set's own grader: layout, units, fractions and roots are written in one way. */
function normalise(answer: string): string {
  let text = answer
    .replaceAll('\n', '')
    .replaceAll('\\!', '')
    .replaceAll('\\\\', '\\')
    .replace(/[td]frac/g, 'frac')
    .replace(/\\left|\\right/g, '')
    .replace(/\^(\{\\circ\}|\\circ)/g, '')
    .replaceAll('\\$', '')
    .replace(/\\text\{ .*$/s, '')
    .replace(/\\?%/g, '')
    .replace(/(^|[ {])\./g, '$10.');
  if (text === '') return text;
  // "x = 5" and "k=5" mean the right side.
  const sides = text.split('=');
  if (sides.length === 2 && sides[0]!.length <= 2) text = sides[1]!;
  text = text
    .replace(/\\sqrt\s*([^{\s])/g, '\\sqrt{$1}')
    .replaceAll(' ', '')
    .replace(/\\frac([^{])([^{])/g, '\\frac{$1}{$2}')
    .replace(/\\frac([^{])(\{[^{}]*\})/g, '\\frac{$1}$2')
    .replace(/\\frac(\{[^{}]*\})([^{])/g, '\\frac$1{$2}');
  if (text === '0.5') return '\\frac{1}{2}';
  return text.replace(/^(-?\d+)\/(-?\d+)$/, '\\frac{$1}{$2}');
}
