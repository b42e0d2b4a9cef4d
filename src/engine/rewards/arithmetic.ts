/**
 * The value of an arithmetic expression: numbers, + - * / **, unary signs, parentheses. Null for anything else and for a division by zero.
 * `**` binds tighter than a sign on its left and to the right, as in Python.
 */
export function evaluate(text: string): number | null {
  const tokens = text.match(/\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|\*\*|[-+*/()]|\S/gi) ?? [];
  let at = 0;
  const take = (...wanted: string[]) => (wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined);

  const sum = (depth: number): number => {
    let left = product(depth);
    for (let op = take('+', '-'); op; op = take('+', '-'))
      left = op === '+' ? left + product(depth) : left - product(depth);
    return left;
  };
  const product = (depth: number): number => {
    let left = signed(depth);
    for (let op = take('*', '/'); op; op = take('*', '/'))
      left = op === '*' ? left * signed(depth) : left / signed(depth);
    return left;
  };
  const signed = (depth: number): number => {
    let sign = 1;
    for (let op = take('+', '-'); op; op = take('+', '-')) if (op === '-') sign = -sign;
    return sign * power(depth);
  };
  const power = (depth: number): number => {
    const base = atom(depth);
    return take('**') ? base ** signed(depth + 1) : base;
  };
  const atom = (depth: number): number => {
    if (depth > 200) return Number.NaN;
    if (take('(')) {
      const inner = sum(depth + 1);
      return take(')') ? inner : Number.NaN;
    }
    return /^[\d.]/.test(tokens[at] ?? '') ? Number(tokens[at++]) : Number.NaN;
  };

  const value = sum(0);
  return at === tokens.length && Number.isFinite(value) ? value : null;
}
