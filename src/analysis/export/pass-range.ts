const NUMBER = String.raw`(\d*\.?\d+)`;
const RANGE = new RegExp(String.raw`^\s*(?:${NUMBER}\s*(<=?)\s*)?(pass|solved)\s*(?:(<=?|>=?|==)\s*${NUMBER}\s*)?$`);

const TESTS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
};

/**
 * `0<pass<1`, `solved==1`: a test of a prompt's scores. `pass` is the share of positive ones, `solved` their number; no scores pass no test.
 * @throws Error that shows the forms
 */
export function parsePassRange(text: string): (scores: readonly number[]) => boolean {
  const [, low, lowSign, word, sign, high] = RANGE.exec(text) ?? [];
  if (low === undefined && high === undefined)
    throw new Error(`"${text}" is not a range; examples: 0<pass<1, pass>=0.25, solved==1`);
  return (scores) => {
    if (scores.length === 0) return false;
    const solved = scores.filter((score) => score > 0).length;
    const value = word === 'solved' ? solved : solved / scores.length;
    return (
      (low === undefined || (TESTS[lowSign ?? '']?.(Number(low), value) ?? false)) &&
      (high === undefined || (TESTS[sign ?? '']?.(value, Number(high)) ?? false))
    );
  };
}
