/** File system errors in words; paths on other people's clusters fail in all of these ways. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'no such file or directory';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ELOOP':
      return 'a symbolic link that points to itself';
    case 'ESTALE':
      return 'the file system was remounted (stale handle)';
    case 'EISDIR':
      return 'a directory';
    default:
      return message;
  }
}

/** An issue of a value with an unexpected shape, as zod reports it. */
export interface ShapeIssue {
  code?: string | undefined;
  path: readonly PropertyKey[];
  message: string;
  keys?: readonly string[];
  errors?: readonly (readonly ShapeIssue[])[];
}

/** Longer input is not read. */
const MAX_ISSUES = 3;

/** The mistake in a value written by a person: `tools[0].config.rate_limit: expected number, got string`. */
export function shapeProblem(issues: readonly ShapeIssue[]): string {
  const problems = [...new Set(issues.map((issue) => issueText(issue, [])))];
  const more = problems.length - MAX_ISSUES;
  return [...problems.slice(0, MAX_ISSUES), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

function issueText(issue: ShapeIssue, above: readonly PropertyKey[]): string {
  const path = [...above, ...issue.path];
  const at = placeText(path);
  const own = (words: string) => (at === '' ? words : `${at}: ${words}`);
  if (issue.code === 'invalid_union' && issue.errors !== undefined) return unionText(issue.errors, path);
  if (issue.code === 'unrecognized_keys') return own(`unknown key ${issue.keys?.map((key) => `'${key}'`).join(', ')}`);
  const [, expected, received] = /^Invalid input: expected (.+), received (\w+)$/.exec(issue.message) ?? [];
  if (expected === undefined) return own(issue.message.replace(/^Invalid input: /, ''));
  if (received === 'undefined') return at === '' ? `expected ${expected}` : `${at} is missing`;
  return own(`expected ${expected}, got ${received}`);
}

/** The shape that the value almost matches; all shapes if it matches none. */
function unionText(errors: readonly (readonly ShapeIssue[])[], path: readonly PropertyKey[]): string {
  const deepest = errors
    .map((branch) => branch[0])
    .filter((issue) => issue !== undefined)
    .sort((a, b) => b.path.length - a.path.length)[0];
  const isAtTop = errors.every((branch) => branch.every((issue) => issue.path.length === 0));
  if (deepest === undefined) return `${placeText(path)}: expected something else`;
  if (!isAtTop) return issueText(deepest, path);
  const all: (readonly string[])[] = [];
  for (const [first] of errors) {
    const wanted = /^Invalid input: expected (.+), received (\w+)$/.exec(first?.message ?? '');
    // For a value of the right type, its wrong content says more than the types that it does not have.
    if (wanted === null && first !== undefined) return issueText(first, path);
    if (wanted !== null) all.push(wanted);
  }
  const received = all[0]?.[2];
  if (received === 'undefined') return `${placeText(path)} is missing`;
  return `${placeText(path)}: expected ${all.map(([, expected]) => expected).join(' or ')}, got ${received}`;
}

/** `tools[0].config`. */
const placeText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  );
