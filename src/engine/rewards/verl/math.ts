import { itemAt } from '../../../core/lists/at.ts';

/** The score of the MATH data set, as in verl (`verl/utils/reward_score/math_reward.py`): the last boxed answer, compared after normalising both. */
export function mathScore(solution: string, groundTruth: unknown): { score: number; answer: string | null } {
  const boxed = lastBoxed(solution);
  const answer = boxed === null ? null : withoutBox(boxed);
  return { score: answer !== null && sameAnswer(answer, groundTruth) ? 1 : 0, answer };
}

/** The last `\boxed{…}` or `\fbox{…}` with its braces, or the text after the last `\boxed ` up to a `$`; null if none is closed. */
export function lastBoxed(text: string): string | null {
  const spaced = text.lastIndexOf('\\boxed ');
  // One with a space anywhere takes precedence, as in verl.
  if (spaced !== -1) return `\\boxed ${text.slice(spaced + 7).split('$')[0]}`;
  const boxed = text.lastIndexOf('\\boxed');
  const start = boxed === -1 ? text.lastIndexOf('\\fbox') : boxed;
  return start === -1 ? null : closedFrom(text, start);
}

/** From `start` to the brace that closes the first one; null if it is not closed. */
export function closedFrom(text: string, start: number): string | null {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return text.slice(start, at + 1);
  }
  return null;
}

/** null: the box is not in the form the scorer expects (`\fbox`), so the answer counts as missing. */
function withoutBox(boxed: string): string | null {
  if (boxed.includes('\\boxed ')) return boxed.startsWith('\\boxed ') ? boxed.slice(7) : null;
  return boxed.startsWith('\\boxed{') && boxed.endsWith('}') ? boxed.slice(7, -1) : null;
}

/** Compares both unchanged if either cannot be normalised. */
function sameAnswer(a: string, b: unknown): boolean {
  if (typeof b !== 'string') return false;
  const [mine, other] = [hendrycks(a), hendrycks(b)];
  return mine === null || other === null ? a === b : mine === other;
}

/** The normalisation of the MATH data set's grader: unifies layout, units, fractions and roots; null if it fails. */
export function hendrycks(answer: string): string | null {
  let text = answer
    .replaceAll('\n', '')
    .replaceAll('\\!', '')
    .replaceAll('\\\\', '\\')
    .replaceAll('tfrac', 'frac')
    .replaceAll('dfrac', 'frac')
    .replaceAll('\\left', '')
    .replaceAll('\\right', '')
    .replaceAll('^{\\circ}', '')
    .replaceAll('^\\circ', '')
    .replaceAll('\\$', '');
  const units = text.split('\\text{ ');
  if (units.length > 2) return null;
  text = (units[0] ?? '').replaceAll('\\%', '').replaceAll(' .', ' 0.').replaceAll('{.', '{0.');
  if (text === '') return text;
  if (text.startsWith('.')) text = `0${text}`;
  // "x = 5" and "k=5" mean the right side.
  const sides = text.split('=');
  if (sides.length === 2 && [...itemAt(sides, 0)].length <= 2) text = itemAt(sides, 1);
  const roots = text.split('\\sqrt');
  if (roots.slice(1).includes('')) return null;
  text = roots
    .map((part, i) => (i === 0 ? part : part.startsWith('{') ? `\\sqrt${part}` : `\\sqrt{${part[0]}}${part.slice(1)}`))
    .join('')
    .replaceAll(' ', '');
  const fractions = shortFractions(text);
  if (fractions === null) return null;
  return slashed(fractions === '0.5' ? '\\frac{1}{2}' : fractions);
}

/** `\frac12` and `\frac1{72}` with their braces. */
function shortFractions(text: string): string | null {
  const [head = '', ...parts] = text.split('\\frac');
  let out = head;
  for (const part of parts) {
    if (part === '') return null;
    if (part.startsWith('{')) out += `\\frac${part}`;
    else if (part.length < 2) return text;
    else out += `\\frac{${part[0]}}${part[1] === '{' ? part.slice(1) : `{${part[1]}}${part.slice(2)}`}`;
  }
  return out;
}

const slashed = (text: string): string =>
  text.replace(/^(0|-?[1-9]\d*)\/(0|-?[1-9]\d*)$/, (_match, a: string, b: string) => `\\frac{${a}}{${b}}`);
