// Every command on a dump whose text, keys and names are hostile, in a pseudo-terminal: nothing reaches it that it would obey. A pipe gets it exactly.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { expect, it } from 'vitest';
import { VERBS } from '../../../src/viewer/commands/commands.ts';
import { bin, directoryWith, execute } from '../../program.ts';

/** The clipboard, the title, a cleared screen, concealed text, the same by C1, and an order reversed. */
const EVIL =
  '\u001b]52;c;ZXZpbA==\u0007\u001b]0;evil\u0007\u001b[2J\u001b[8m\u009b2J\u009d0;x\u009c\u202eabc\r\u0008\u007f';
/** In a name there is no NUL and no slash. */
const NAME = `1${EVIL}.jsonl`;

const call = `<tool_call>\n{"name": "run${EVIL}", "arguments": {"code": "${EVIL}print(1)"}}\n</tool_call>`;
const row = (at: number) => ({
  input: `<|im_start|>user\n${EVIL}${at % 2}<|im_end|>\n<|im_start|>assistant\n`,
  output: `${EVIL}${call}<|im_end|>\n<|im_start|>tool\nTraceback ${EVIL}Error: ${EVIL}<|im_end|>\n<|im_start|>assistant\n${EVIL}`,
  gts: EVIL,
  score: at % 3,
  step: at,
  uid: `${EVIL}${at % 2}`,
  data_source: EVIL,
  [`key${EVIL}`]: EVIL,
  status: EVIL,
  tools: [{ name: EVIL }],
});

const text = `${Array.from({ length: 6 }, (_, at) => JSON.stringify(row(at))).join('\n')}\n{"${EVIL}\n`;
function corpus(): string {
  const cwd = directoryWith({ 'plain/1.jsonl': text, 'tasks.jsonl': `{"prompt":"x"}\n{"${EVIL}` });
  mkdirSync(join(cwd, 'dump', `sub${EVIL}`), { recursive: true });
  writeFileSync(join(cwd, 'dump', NAME), text);
  writeFileSync(join(cwd, 'dump', `sub${EVIL}`, NAME), text);
  writeFileSync(join(cwd, `broken${EVIL}.parquet`), 'PAR1');
  return cwd;
}

const FILE = join('dump', NAME);
const ONE = `${FILE}:1`;
const AWAY = 'http://127.0.0.1:9/v1';

/** Some ways to call each command. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ls: [[], ['--csv'], ['--json'], ['--filter', 'score > 0'], ['--by', 'step']],
  show: [
    ['@', '--plain'],
    ['@', '--json'],
    ['@', '--jsonl'],
    ['@', '--csv'],
    ['@', '--markdown'],
    ['@', '--mapping'],
    ['@', '--tokens'],
    ['@', '--html', '-'],
    ['@', '--redact'],
  ],
  grep: [['Traceback'], ['Traceback', '--json'], ['Traceback', '--count']],
  stats: [[], ['--csv'], ['--json'], ['--by', 'data_source'], ['--by', 'data_source', '--csv']],
  errors: [[], ['--csv'], ['--json']],
  audit: [[], ['--json']],
  groups: [[], ['--csv'], ['--json']],
  matrix: [[], ['--csv']],
  movement: [[], ['--csv']],
  incidents: [[], ['--csv'], ['--json']],
  facts: [['--csv'], ['--parquet', `facts${EVIL}.parquet`], ['--csv', '--filter', EVIL]],
  sql: [
    ['dump', 'select * from rollouts'],
    ['dump', `select '${EVIL}' from rollouts`],
    ['dump', 'select 1', '--python', EVIL],
  ],
  compare: [['dump', 'plain']],
  triage: [[], ['--json']],
  label: [
    ['@', EVIL],
    ['@', 'good', '--note', EVIL],
  ],
  judge: [['--model-url', AWAY, '--model', EVIL]],
  labels: [[], ['--json']],
  signal: [[], ['--csv']],
  files: [['@']],
  set: [[], [EVIL, 'show']],
  export: [['--to', 'out'], []],
  state: [
    ['@', '--image', 'host'],
    ['@', '--image', EVIL, '--yes', '--json'],
  ],
  record: [['--model-url', AWAY, '--out', `recorded${EVIL}`, '--', `none${EVIL}`]],
  replay: [['--no-exec'], ['--no-exec', '--json'], ['--tool', `run${EVIL}=python`, '--no-exec']],
  fork: [['@', '--turn', '1', '--model-url', AWAY, '--model', 'm']],
  rescore: [
    ['--reward', 'gsm8k'],
    ['--reward', 'gsm8k', '--json'],
    ['--reward', EVIL],
  ],
  rollout: [['tasks.jsonl', '--model-url', AWAY, '--model', EVIL, '--out', `out${EVIL}`, '--wait-for-model', '0']],
  worker: [['--queue', `redis://${EVIL}`]],
  queue: [[`http://${EVIL}`]],
  sandbox: [
    ['--backend', EVIL],
    ['--config', `broken${EVIL}.parquet`],
  ],
  doctor: [['--toolchain', EVIL]],
  mcp: [[`none${EVIL}`]],
  retrieve: [[`none${EVIL}`]],
  completion: [[EVIL]],
  manual: [[EVIL]],
};

const OURS = /\u001b\[(?:[0-7]|[34][0-7]|39|9[0-7]|2[1-9]|38;5;\d+)(?:;\d+)*m|\u001b\[K|\r/g;
const OBEYED = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

function inTerminal(args: readonly string[], cwd: string): Promise<string> {
  const env = {
    ...process.env,
    TERM: 'xterm-256color',
    XDG_STATE_HOME: join(cwd, 'state'),
    XDG_CONFIG_HOME: join(cwd, 'config'),
  };
  const pty = spawn(process.execPath, [bin, ...args], { cwd, cols: 120, rows: 40, env: env as Record<string, string> });
  let output = '';
  pty.onData((data) => {
    output += data;
  });
  // The end of the input, for what serves until then; whatever else it waits for is broken off.
  pty.write('\x04');
  const timer = setTimeout(() => pty.kill('SIGKILL'), 60_000);
  return new Promise((resolve) =>
    pty.onExit(() => {
      clearTimeout(timer);
      resolve(output);
    }),
  );
}

const argsOf = (name: string, given: readonly string[]): string[] => {
  const at = given.includes('@');
  const words = given.map((one) => (one === '@' ? ONE : one));
  const takesPath = [
    'ls',
    'stats',
    'errors',
    'audit',
    'groups',
    'matrix',
    'movement',
    'incidents',
    'facts',
    'triage',
    'judge',
    'labels',
    'signal',
    'export',
    'replay',
    'rescore',
  ];
  if (name === 'grep') return [name, words[0]!, 'dump', ...words.slice(1)];
  return takesPath.includes(name) && !at ? [name, 'dump', ...words] : [name, ...words];
};

it('knows every command', () => {
  expect(Object.keys(CALLS).sort()).toEqual(Object.keys(VERBS).sort());
});

it.each(Object.entries(CALLS))('%s', async (name, calls) => {
  const cwd = corpus();
  for (const given of calls) {
    const output = await inTerminal(argsOf(name, given), cwd);
    const [found] = output.replace(OURS, '').match(OBEYED) ?? [];
    expect([given, found, output.includes('\u001b[8m')]).toEqual([given, undefined, false]);
  }
});

it('a pipe gets the text as it is', async () => {
  const cwd = corpus();
  const { stdout } = await execute(
    process.execPath,
    [bin, 'show', 'plain/1.jsonl:1', '--csv', '--columns', 'data_source'],
    { cwd },
  );
  expect(stdout).toContain(EVIL);
  const { stdout: line } = await execute(process.execPath, [bin, 'show', 'plain/1.jsonl:1', '--jsonl'], { cwd });
  expect(line).toBe(`${text.split('\n')[0]}\n`);
});
