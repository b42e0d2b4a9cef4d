/** Something that a build would fetch by itself, and the line that asks for it. */
export interface Fetch {
  kind: 'image' | 'address' | 'frontend';
  /** As written, with the defaults of its arguments filled in. */
  name: string;
  line: number;
}

interface Instruction {
  word: string;
  rest: string;
  line: number;
}

/**
 * The names in a Dockerfile of things outside its folder: images that it is built from or copies from, addresses, and a frontend.
 * An ambiguous line counts: lines of a heredoc are instructions to older builders, and a directive may be a comment.
 */
export function fetchesOf(dockerfile: string): Fetch[] {
  const lines = dockerfile.replace(/^\uFEFF/, '').split(/\r?\n/);
  const found = fetched(instructions(lines, '\\'));
  const top = lines.slice(0, lines.findIndex((line) => !/^\s*(?:#|\/\/|$)/.test(line)) + 1 || undefined);
  for (const [i, line] of top.entries()) {
    const [, key = '', value = ''] = /^\s*(?:#|\/\/)\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key.toLowerCase() === 'syntax') found.push({ kind: 'frontend', name: value, line: i + 1 });
    if (key.toLowerCase() === 'escape' && value === '`') found.push(...fetched(instructions(lines, '`')));
    if (/^\s*\{/.test(line)) found.push({ kind: 'frontend', name: line.trim(), line: i + 1 });
  }
  return found;
}

function fetched(all: Iterable<Instruction>): Fetch[] {
  const found: Fetch[] = [];
  const stages = new Set<string>();
  const values = new Map<string, string>();
  let count = 0;
  const add = (kind: Fetch['kind'], name: string, line: number) => found.push({ kind, name, line });
  for (const { word, rest, line } of all) {
    const words = rest.split(/\s+/).filter((one) => one !== '');
    // A stage's own arguments change no FROM.
    if (word === 'ARG' && count === 0)
      for (const [, name = '', value = ''] of rest.matchAll(/([A-Za-z_]\w*)=("[^"]*"|'[^']*'|\S*)/g))
        values.set(name, unquoted(value));
    if (word === 'FROM') {
      const [written = '', as = '', name = ''] = words.filter((one) => !one.startsWith('--'));
      const from = filled(written, values);
      if (from !== 'scratch' && !stages.has(from.toLowerCase())) add('image', from, line);
      if (as.toUpperCase() === 'AS') stages.add(name.toLowerCase());
      count++;
    }
    const plain = rest.replace(/["'\\]/g, '');
    const from = word === 'COPY' ? /--from=([^\s,]*)/gi : /(?:--mount=\S*|,\s*)from=([^\s,]*)/gi;
    if (word === 'COPY' || (word === 'RUN' && plain.startsWith('--')))
      for (const [, name = ''] of plain.matchAll(from))
        if (!stages.has(name.toLowerCase()) && !(Number(name) < count)) add('image', name, line);
    if (word === 'RUN' && /^--/.test(plain) && /--network=(?!none\b)/.test(plain)) add('address', 'the network', line);
    if (word === 'ADD')
      for (const source of plain.split(/[\s,[\]]+/))
        if (/^(?:[a-z][a-z0-9+.-]*:\/\/|git@)/i.test(source) || /^[^/]*\$.*[^/]$/.test(source))
          add('address', source, line);
  }
  return found;
}

/** Instructions, joined over continued lines; blank lines and comments between those are skipped. */
function* instructions(lines: readonly string[], mark: string): Generator<Instruction> {
  let text: string | null = null;
  let line = 0;
  for (const [i, raw] of lines.entries()) {
    if (/^\s*(?:#.*)?$/.test(raw)) continue;
    const trimmed = raw.replace(/[ \t]+$/, '');
    const isContinued = trimmed.endsWith(mark);
    if (text === null) line = i + 1;
    text = `${text ?? ''}${isContinued ? trimmed.slice(0, -1) : trimmed}`;
    if (isContinued) continue;
    yield instruction(text, line);
    text = null;
  }
  if (text !== null) yield instruction(text, line);
}

/** The instruction of a line; ONBUILD's instruction for images built from this one counts too. */
function instruction(text: string, line: number): Instruction {
  const [, word = '', rest = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  return word.toUpperCase() === 'ONBUILD' ? instruction(rest, line) : { word: word.toUpperCase(), rest, line };
}

const unquoted = (text: string): string => text.replace(/^(["'])([\s\S]*)\1$/, '$2');

/** A text with the arguments' defaults. An unknown one stays as it is written, and is no name of an image. */
const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  unquoted(text).replace(
    /\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))/g,
    (whole, braced?: string, fallback?: string, plain?: string) =>
      values.get(braced ?? plain ?? '') ?? fallback ?? whole,
  );
