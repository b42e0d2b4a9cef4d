/** A file whose values expand to more than this with every alias written out was made to fill the memory. */
const MOST_VALUES = 10_000_000;

/**
 * The problem of a value with shared parts, as YAML's aliases and pickles make them: it contains itself, or would be
 * enormous as JSON. null without a problem. Iterative, because nesting may be deep.
 */
export function sharedProblem(root: unknown): string | null {
  /** How many values each container expands to; null while it is open. */
  const sizes = new Map<object, number | null>();
  if (typeof root !== 'object' || root === null) return null;
  const open: { value: object; parts: unknown[]; next: number; size: number }[] = [];
  const enter = (value: object) => {
    sizes.set(value, null);
    open.push({ value, parts: Object.values(value), next: 0, size: 1 });
  };
  enter(root);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.next === top.parts.length) {
      if (top.size > MOST_VALUES) return `its aliases expand to more than ${MOST_VALUES} values`;
      sizes.set(top.value, top.size);
      open.pop();
      const above = open.at(-1);
      if (above !== undefined) above.size += top.size;
      continue;
    }
    const part = top.parts[top.next++];
    if (typeof part !== 'object' || part === null) top.size++;
    else {
      const size = sizes.get(part);
      if (size === null) return 'it contains itself';
      if (size === undefined) enter(part);
      else top.size += size;
    }
  }
  return null;
}
