import { printJson } from '../../src/core/json/print.ts';
import type { JsonObject } from '../../src/core/json/value.ts';

/** A recorded call whose truth follows from how it was built: what the program prints is worked out here, never by running it. */
export interface ReplayCase {
  line: string;
  truth: 'same' | 'drift' | 'flaky';
  /** How it was built: program, change, cut, tool. */
  about: string;
}

/** A program's output, as pieces: fixed text, or noise that is another in every run. */
interface Program {
  name: string;
  code: string;
  stdout: Piece[];
  /** A traceback, or what else goes there. */
  stderr?: Piece[];
  /** Its exit status; 1 where it raises. */
  status?: 0;
  /** All of it is drawn by chance. */
  isChance?: boolean;
}
type Piece = string | { noise: () => string };

/** mulberry32: the same cases on every machine. */
class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(count: number): number {
    return Math.floor(this.next() * count);
  }
  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
  word(length: number, letters = 'abcdefghijklmnopqrstuvwxyz'): string {
    return Array.from({ length }, () => this.of([...letters])).join('');
  }
  shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((one) => ({ one, at: this.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one);
  }
}

/** A number as Python prints a float. */
const floatText = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

const HEX = '0123456789abcdef';
const pathOf = (chance: Chance) => `/tmp/tmp${chance.word(8, 'abcdefghij0123456789_')}/tmp${chance.word(8)}.py`;

const raised = (chance: Chance, line: number, source: string, message: string, inside = '<module>'): Piece[] => [
  'Traceback (most recent call last):\n  File "',
  { noise: () => pathOf(chance) },
  `", line ${line}, in ${inside}\n    ${source}\n`,
  `${message}\n`,
];

/** Programs by a number each; a and b differ from case to case. */
const PROGRAMS: readonly ((chance: Chance, a: number, b: number) => Program)[] = [
  (_, a, b) => ({ name: 'product', code: `print(${a} * ${b})`, stdout: [`${a * b}\n`] }),
  (_, a, b) => ({
    name: 'power',
    code: `x = ${a} ** ${b % 30}\nprint("x =", x)`,
    stdout: [`x = ${BigInt(a) ** BigInt(b % 30)}\n`],
  }),
  (_, a, b) => ({
    name: 'lines',
    code: `for i in range(${20 + (b % 60)}):\n    print(i, i * ${a})`,
    stdout: Array.from({ length: 20 + (b % 60) }, (_v, i) => `${i} ${i * a}\n`),
  }),
  (_, a, b) => ({
    name: 'list',
    code: `print([x * ${a} for x in range(${3 + (b % 9)})])`,
    stdout: [`[${Array.from({ length: 3 + (b % 9) }, (_v, i) => i * a).join(', ')}]\n`],
  }),
  (_, a, b) => ({
    name: 'dict',
    code: `d = {"a": ${a}, "b": [${b}, None], "c": (True, "${a}")}\nprint(d)`,
    stdout: [`{'a': ${a}, 'b': [${b}, None], 'c': (True, '${a}')}\n`],
  }),
  (chance, a) => {
    const word = chance.word(4 + (a % 12));
    return {
      name: 'text',
      code: `w = "${word}"\nprint(w[::-1], len(w), w.upper())`,
      stdout: [`${[...word].reverse().join('')} ${word.length} ${word.toUpperCase()}\n`],
    };
  },
  (_, a, b) => ({
    name: 'division by zero',
    code: `a = ${a}\nprint("first", a)\nprint(a / (${b} - ${b}))`,
    stdout: [`first ${a}\n`],
    stderr: raised(_, 3, `print(a / (${b} - ${b}))`, 'ZeroDivisionError: division by zero'),
  }),
  (chance, a) => ({
    name: 'value error',
    code: `def f(x):\n    raise ValueError("no " + str(x))\nf(${a})`,
    stdout: [],
    stderr: [
      ...raised(chance, 3, `f(${a})`, '').slice(0, -1),
      '  File "',
      { noise: () => pathOf(chance) },
      '", line 2, in f\n    raise ValueError("no " + str(x))\n',
      `ValueError: no ${a}\n`,
    ],
  }),
  (chance, a) => ({
    name: 'key error',
    code: `d = {"a": 1}\nprint(d["k${a}"])`,
    stdout: [],
    stderr: raised(chance, 2, `print(d["k${a}"])`, `KeyError: 'k${a}'`),
  }),
  (chance, a) => ({
    name: 'address',
    code: `class Thing:\n    pass\nprint(${a}, Thing())`,
    stdout: [`${a} <__main__.Thing object at `, { noise: () => `0x7f${chance.word(10, HEX)}` }, '>\n'],
  }),
  (chance, a) => ({
    name: 'elapsed',
    code: `import time\nt = time.time()\ns = sum(range(${a * 10}))\nprint("sum", s)\nprint(f"took {time.time() - t:.6f} seconds")`,
    stdout: [
      `sum ${(a * 10 * (a * 10 - 1)) / 2}\ntook `,
      { noise: () => `0.000${chance.word(3, '0123456789')}` },
      ' seconds\n',
    ],
  }),
  (chance, a) => ({
    name: 'set of texts',
    code: `print({"x${a}", "y${a}", "z${a}", "w${a}"})`,
    stdout: [
      '{',
      { noise: () => chance.shuffled(['x', 'y', 'z', 'w'].map((one) => `'${one}${a}'`)).join(', ') },
      '}\n',
    ],
  }),
  (chance, a) => ({
    name: 'temporary folder',
    code: `import tempfile\nd = tempfile.mkdtemp()\nprint("in", d)\nprint(${a})`,
    stdout: ['in ', { noise: () => `/tmp/tmp${chance.word(8, 'abcdefghij0123456789_')}` }, `\n${a}\n`],
  }),
  (chance, a) => ({
    name: 'uuid',
    code: `import uuid\nprint(uuid.uuid4())\nprint(${a})`,
    stdout: [
      {
        noise: () =>
          `${chance.word(8, HEX)}-${chance.word(4, HEX)}-4${chance.word(3, HEX)}-a${chance.word(3, HEX)}-${chance.word(12, HEX)}`,
      },
      `\n${a}\n`,
    ],
  }),
  (_, a, b) => ({
    name: 'floats',
    code: `print([x / ${b} for x in range(${1 + (a % 7)})], ${a} / 7)`,
    // Both languages print the shortest text that is the same double; whole ones bear a point in Python.
    stdout: [`[${Array.from({ length: 1 + (a % 7) }, (_v, i) => floatText(i / b)).join(', ')}] ${floatText(a / 7)}\n`],
  }),
  (_, a, b) => ({
    name: 'stderr',
    code: `import sys\nprint(${a})\nprint("warned", ${b}, file=sys.stderr)`,
    stdout: [`${a}\n`],
    stderr: [`warned ${b}\n`],
    status: 0,
  }),
  (_, a, b) => ({
    name: 'JSON text',
    code: `import json\nprint(json.dumps({"n": ${a}, "é": ["ü", ${b}]}, ensure_ascii=False))`,
    stdout: [`{"n": ${a}, "é": ["ü", ${b}]}\n`],
  }),
  (_, a, b) => ({
    name: 'set of numbers',
    code: `print(sorted({x % ${2 + (a % 9)} for x in range(${20 + (b % 9)})}))`,
    stdout: [`[${Array.from({ length: 2 + (a % 9) }, (_v, i) => i).join(', ')}]\n`],
  }),
  (chance, a) => ({
    name: 'identity',
    code: `x = [${a}]\nprint("id", id(x))\nprint(x)`,
    stdout: ['id ', { noise: () => `1${chance.word(14, '0123456789')}` }, `\n[${a}]\n`],
  }),
  (chance, a) => ({
    name: 'objects',
    code: `print("n", ${a})\nprint([object() for _ in range(2)])`,
    stdout: [
      `n ${a}\n[<object object at `,
      { noise: () => `0x7f${chance.word(10, HEX)}` },
      '>, <object object at ',
      { noise: () => `0x7f${chance.word(10, HEX)}` },
      '>]\n',
    ],
  }),
  (chance, a, b) => ({
    name: 'long and failed',
    code: `for i in range(${30 + (b % 40)}):\n    print("row", i, i % ${a})\nassert i < 0, "too many: " + str(i)`,
    stdout: Array.from({ length: 30 + (b % 40) }, (_v, i) => `row ${i} ${i % a}\n`),
    stderr: raised(chance, 3, 'assert i < 0, "too many: " + str(i)', `AssertionError: too many: ${29 + (b % 40)}`),
  }),
  (_, a, b) => ({
    name: 'seeded',
    code: `import random\nrandom.seed(${a})\nx = [random.random() for _ in range(3)]\nrandom.seed(${a})\nprint(x == [random.random() for _ in range(3)], ${b})`,
    stdout: [`True ${b}\n`],
  }),
  (chance, a) => ({
    name: 'chance',
    code: `import random\nprint([random.randrange(10**6) for _ in range(3)], ${a})`,
    stdout: [
      '[',
      { noise: () => Array.from({ length: 3 }, () => chance.below(10 ** 6)).join(', ') },
      `], ${a}\n`.replace(',', ''),
    ],
    isChance: true,
  }),
];

/** A change to a text made by construction; null if it does not change the text. */
const TAMPERS: readonly { name: string; of(text: string, chance: Chance): { text: string; at: number } | null }[] = [
  {
    name: 'a digit',
    of(text, chance) {
      const places = [...text.matchAll(/\d/g)].map(({ index }) => index);
      if (places.length === 0) return null;
      const at = chance.of(places);
      return { text: `${text.slice(0, at)}${(Number(text[at]) + 1 + chance.below(8)) % 10}${text.slice(at + 1)}`, at };
    },
  },
  {
    name: 'a line more',
    of(text, chance) {
      const lines = text.split('\n');
      const at = chance.below(lines.length);
      const more = [...lines.slice(0, at), `and ${chance.word(5)}`, ...lines.slice(at)];
      return { text: more.join('\n'), at: lines.slice(0, at).join('\n').length };
    },
  },
  {
    name: 'a line less',
    of(text, chance) {
      const lines = text.split('\n');
      const whole = lines.map((line, at) => ({ line, at })).filter(({ line }) => line.trim() !== '');
      if (whole.length < 2) return null;
      const { at } = chance.of(whole);
      return { text: lines.filter((_line, i) => i !== at).join('\n'), at: lines.slice(0, at).join('\n').length };
    },
  },
  {
    name: 'a letter',
    of(text, chance) {
      const places = [...text.matchAll(/[a-z]/g)].map(({ index }) => index);
      if (places.length === 0) return null;
      const at = chance.of(places);
      const other = chance.of([...'abcdefghijklmnopqrstuvwxyz'].filter((one) => one !== text[at]));
      return { text: text.slice(0, at) + other + text.slice(at + 1), at };
    },
  },
];

const LIMIT = 256;
const CUTS: readonly { name: string; of(text: string): string; shows(at: number, length: number): boolean }[] = [
  { name: 'whole', of: (text) => text, shows: () => true },
  {
    name: 'end cut',
    of: (text) => `${text.slice(0, LIMIT)}...(truncated)`,
    shows: (at) => at < LIMIT - 12,
  },
  {
    name: 'start cut',
    of: (text) => `(truncated)...${text.slice(-LIMIT)}`,
    shows: (at, length) => at >= length - LIMIT + 12,
  },
  {
    name: 'middle cut',
    of: (text) => `${text.slice(0, LIMIT / 2)}...(truncated)...${text.slice(-LIMIT / 2)}`,
    shows: (at, length) => at < LIMIT / 2 - 12 || at >= length - LIMIT / 2 + 12,
  },
];

/** The ways in which tools show a run. `fits` says whether this one can show such a program. */
const TOOLS: readonly {
  name: string;
  args(code: string): unknown;
  text(stdout: string, stderr: string, status: number): string;
  fits(program: Program): boolean;
  /** Its text is cut as verl cuts. */
  cuts: boolean;
}[] = [
  { name: 'verl', args: (code) => ({ code }), text: (out, err) => out + err, fits: () => true, cuts: true },
  {
    name: 'stdout',
    args: (code) => ({ code }),
    text: (out) => out,
    fits: ({ stderr }) => stderr === undefined,
    cuts: true,
  },
  {
    name: 'fence',
    args: (code) => ({ code: `\`\`\`python\n${code}\n\`\`\`` }),
    text: (out, err) => out + err,
    // A fence that is not taken off fails to parse, and so does what the record shows of it.
    fits: ({ stderr }) => stderr === undefined,
    cuts: true,
  },
  {
    name: 'JSON',
    args: (code) => printJson({ code }),
    text: (stdout, stderr, status) => printJson({ stdout, stderr, exit_code: status }),
    fits: () => true,
    cuts: false,
  },
];

const textOf = (pieces: readonly Piece[] = []): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.noise())).join('');

/** As many cases as are asked for: programs × noise × changes × cuts × tools. */
export function replayCases(count: number, seed = 1): ReplayCase[] {
  const chance = new Chance(seed);
  const cases: ReplayCase[] = [];
  while (cases.length < count) {
    const program = chance.of(PROGRAMS)(chance, 2 + chance.below(997), 2 + chance.below(997));
    const tool = chance.of(TOOLS);
    const cut = chance.of(CUTS);
    if (!tool.fits(program) || (cut.name !== 'whole' && !tool.cuts)) continue;
    const made = caseOf(program, tool, cut, chance);
    if (made !== null) cases.push(made);
  }
  return cases;
}

function caseOf(
  program: Program,
  tool: (typeof TOOLS)[number],
  cut: (typeof CUTS)[number],
  chance: Chance,
): ReplayCase | null {
  const tamper = chance.next() < 0.5 && !program.isChance ? chance.of(TAMPERS) : null;
  // Only fixed text is changed: what is done to noise is noise.
  const streams = { stdout: program.stdout, stderr: program.stderr ?? [] };
  const texts = { stdout: textOf(streams.stdout), stderr: textOf(streams.stderr) };
  let at = 0;
  if (tamper !== null) {
    const name = streams.stdout.length > 0 ? 'stdout' : 'stderr';
    const pieces = streams[name];
    // The pieces of a traceback follow Python's; the last one is the raised exception.
    const fixed = pieces.flatMap((piece, i) =>
      typeof piece === 'string' && (name === 'stdout' || i === pieces.length - 1) ? [i] : [],
    );
    const which = chance.of(fixed);
    const changed = tamper.of(pieces[which] as string, chance);
    if (changed === null) return null;
    const parts = pieces.map((piece, i) => (i === which ? changed.text : textOf([piece])));
    texts[name] = parts.join('');
    if (texts[name].trim() === textOf(pieces).trim()) return null;
    at = parts.slice(0, which).join('').length + changed.at + (name === 'stderr' ? texts.stdout.length : 0);
  }
  const whole = tool.text(texts.stdout, texts.stderr, program.status ?? (program.stderr === undefined ? 0 : 1));
  if (cut.name !== 'whole' && [...whole].length <= LIMIT) return null;
  // A change that the cut hides is nobody's to see.
  if (tamper !== null && !cut.shows(at, whole.length)) return null;
  const call = `<tool_call>\n${printJson({ name: 'code_interpreter', arguments: tool.args(program.code) } as JsonObject)}\n</tool_call>`;
  const result = `\nuser\n<tool_response>\n${cut.of(whole)}\n</tool_response>\nassistant\nDone.`;
  return {
    line: printJson({ input: 'user\nGo on.\nassistant\n', output: call + result, gts: '4', score: 1, step: 1 }),
    truth: program.isChance ? 'flaky' : tamper === null ? 'same' : 'drift',
    about: [program.name, tamper === null ? 'as built' : `${tamper.name} changed`, cut.name, tool.name].join(', '),
  };
}
