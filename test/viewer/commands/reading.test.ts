import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ask, bin, directoryWith } from '../../program.ts';

/** The program with these settings. */
function rv(settings: string, ...args: string[]) {
  const home = directoryWith({});
  mkdirSync(join(home, 'rollout-viewer'));
  writeFileSync(join(home, 'rollout-viewer', 'config.yaml'), settings);
  const told = spawnSync(process.execPath, [bin, ...args], {
    encoding: 'utf8',
    env: { ...process.env, XDG_CONFIG_HOME: home },
  });
  const lines = told.stdout.split('\n').filter((line) => line.startsWith('{'));
  return { ...told, rows: lines.map((line) => JSON.parse(line)) };
}

const lines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

describe('a chat template of the user', () => {
  const settings = [
    'chat_templates:',
    '  alpaca:',
    '    user: "### Instruction:\\n"',
    '    assistant: "### Response:\\n"',
    '    tool: "### Result:\\n"',
    '    end: "</s>\\n"',
    'errors:',
    "  - {pattern: '^E-\\d+', kind: unavailable, fault: world, says: the index is down}",
  ].join('\n');
  let dir: string;
  beforeAll(() => {
    dir = directoryWith({
      'a.jsonl': lines({
        input: '### Instruction:\nWho?</s>\n### Response:\n',
        output: 'I ask.</s>\n### Result:\nE-12 gone</s>\n### Response:\nNobody.</s>',
        score: 0,
      }),
      'b.jsonl': lines({
        env_class: 'x',
        input_prompt: '### Instruction:\nWho?</s>\n### Response:\n',
        output_response: 'I ask.</s>\n### Result:\nE-12 gone</s>\n### Response:\nNobody.</s>',
        score: 0,
        stop_reason: 'stop',
      }),
    });
  });

  test.each(['a.jsonl', 'b.jsonl'])(
    'finds the turns of every reader of texts, and errors come in its words: %s',
    (file) => {
      const { rows, stderr } = rv(settings, 'show', join(dir, `${file}:1`), '--json');
      expect(stderr).toBe('');
      expect(rows[0].turns.map(({ role, text }: { role: string; text: string }) => [role, text])).toEqual([
        ['user', 'Who?'],
        ['assistant', 'I ask.'],
        ['tool', 'E-12 gone'],
        ['assistant', 'Nobody.'],
      ]);
      expect(rows[0].findings).toContainEqual(
        expect.objectContaining({ check: 'tool_error', message: 'the index is down' }),
      );
    },
  );

  test('a template that is named declares the mask of every reader of texts', () => {
    const { rows } = rv(settings, 'show', join(dir, 'b.jsonl:1'), '--json', '--chat-template', 'alpaca');
    expect(rows[0].loss_mask.source).toBe('declared');
  });

  test('a mistake is reported with its line, and costs its own description', () => {
    const wrong = `${settings}\n  - pattern: '(?<=x)'\n  - {pattern: a, kind: odd}\nformats:\n  f: {trns: a}\n`;
    const { stderr, rows } = rv(wrong.replace('    end:', '    ned:'), 'show', join(dir, 'a.jsonl:1'), '--json');
    const told = stderr
      .trim()
      .split('\n')
      .map((line) => /config\.yaml:(\d+): (\w+)/.exec(line)?.slice(1));
    expect(told).toEqual([
      ['12', 'no'],
      ['6', 'the'],
      ['9', 'pattern'],
      ['10', 'kind'],
    ]);
    expect(rows[0].turns.map(({ confidence }: { confidence: string }) => confidence)).toEqual(['unknown', 'inferred']);
  });
});

describe('--group-by', () => {
  let file: string;
  beforeAll(() => {
    const record = (task: string, trial: number) => ({
      input: `user\nTask ${task}, seed ${trial}\nassistant\n`,
      output: 'Yes.',
      score: trial,
      step: 1,
      task_id: task,
      extra_info: { index: task },
    });
    file = join(
      directoryWith({ '1.jsonl': lines(record('a', 0), record('b', 0), record('a', 1), record('b', 1)) }),
      '1.jsonl',
    );
  });
  const groups = (...args: string[]) => rv('', 'ls', file, '--json', ...args).rows.map(({ group }) => group);

  test('takes a key of the record, also a deeper one', () => {
    expect(new Set(groups()).size).toBe(4);
    expect(groups('--group-by', 'task_id')).toEqual(['a', 'b', 'a', 'b']);
    expect(groups('--group-by', 'extra_info.index')).toEqual(['a', 'b', 'a', 'b']);
    expect(new Set(groups('--group-by', 'nothing')).size).toBe(4);
  });

  test('is offered where a key makes even groups', () => {
    expect(rv('', 'ls', file, '--json').stderr).toContain('--group-by task_id');
    expect(rv('', 'ls', file, '--json', '--group-by', 'task_id').stderr).toBe('');
  });

  test('points at the mistake in a key', () => {
    const { status, stderr } = rv('', 'ls', file, '--group-by', 'a..b');
    expect([status, stderr.split('\n').at(-2)]).toEqual([2, '   ^']);
  });
});

test('--memory leaves out what needs more, says so, and is forgotten by the next run', async () => {
  const messages = Array.from({ length: 20_000 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: 'x',
  }));
  const folder = directoryWith({
    'dump/1.jsonl': [messages, messages.slice(0, 2)].map((m) => `${JSON.stringify({ messages: m })}\n`).join(''),
  });
  const rows = async (...flags: string[]) =>
    (await ask(['ls', 'dump', ...flags], { cwd: folder })).stdout.split('\n').slice(1, 3);
  const limited = await rows('--memory', '400M');
  expect(limited[0]).toMatch(/bad record: to read it takes some 8\d\.\d MB, and --memory leaves 50\.0 MB for a record/);
  expect(limited[1]).not.toContain('bad record');
  expect((await rows()).join('\n')).not.toContain('bad record');
  expect((await rows('--memory', '2G')).join('\n')).not.toContain('bad record');
});

test.each([
  ['100M', '100M is too little: the least is 400M.'],
  ['much', '"much" is not a size; write 600M or 2G.'],
])('--memory %s is refused', async (size, problem) => {
  const { code, stderr } = await ask(['ls', 'fixtures/rollout_data', '--memory', size]);
  expect(stderr).toContain(problem);
  expect(code).toBe(2);
});
