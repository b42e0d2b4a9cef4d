import { expect, test } from 'vitest';
import { ask, bin, directoryWith, execute, root, verlLine } from '../../program.ts';

const dump = `${root}fixtures/rollout_data`;

test('bare --help is one screen with the commonest uses, and each works as printed', async () => {
  const { stdout, code } = await ask(['--help']);
  const lines = stdout.trimEnd().split('\n');
  expect([code, lines.length <= 24, lines.every((line) => line.length <= 80)]).toEqual([0, true, true]);
  const uses = lines.filter((line) => /^ {2}rollout-viewer (?!help|COMMAND)/.test(line));
  expect(uses).toHaveLength(5);
});

test('help lists commands and topics, a topic, a command, all flags', async () => {
  const all = await ask(['help']);
  expect(all.stdout).toMatch(/Commands[\s\S]*Topics[\s\S]*remote/);
  expect((await ask(['help', 'filter'])).stdout).toContain('!(score >= 1)');
  expect((await ask(['help', 'ls'])).stdout).toContain('--events');
  expect((await ask(['help', 'flags'])).stdout).toContain('--keys <preset>');
});

test('help lists topics or commands alone, and names the topic that a slip is nearest to', async () => {
  expect((await ask(['help', 'topics'])).stdout).toMatch(/^Topics[\s\S]* {2}flags /);
  expect((await ask(['help', 'commands'])).stdout).toMatch(/^Commands(?![\s\S]*Topics)/);
  expect((await ask(['help', 'keys'])).stdout).toMatch(/^ {2}Move\n {4}`l` `h` next, previous turn\n/m);
  const slip = await ask(['help', 'filtres']);
  expect([slip.code, slip.stderr]).toEqual([2, expect.stringContaining('did you mean `rollout-viewer help filters`?')]);
});

test('no line of the help of a command is wider than a terminal', async () => {
  for (const command of ['worker', 'mcp'])
    for (const line of (await ask([command, '--help'])).stdout.split('\n')) {
      expect(line.length, line).toBeLessThanOrEqual(80);
      expect(line).not.toContain('\\n');
    }
});

test('help whose reader has seen enough is no error', async () => {
  const { stderr } = await execute('sh', ['-c', `${process.execPath} ${bin} rollout --help | true`]);
  expect(stderr).toBe('');
});

test('--quiet leaves errors alone', async () => {
  const nothing = ['ls', dump, '--filter', 'score > 99'];
  expect((await ask(nothing)).stderr).toContain('nothing matches');
  expect(await ask([...nothing, '--quiet'])).toMatchObject({
    stderr: '',
    stdout: expect.any(String),
    code: 1,
  });
  expect((await ask(['ls', '/does/not/exist', '-q'])).stderr).toContain('no such file');
});

test('ls --csv is a line a rollout, ls --by what stats says', async () => {
  const hostile = directoryWith({ 'a,"b/1.jsonl': verlLine({ uid: '=1+1_0_0' }) });
  const rows = (await ask(['ls', hostile, '--csv'])).stdout.trimEnd().split('\n');
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatch(/^locator,stream,step,sample,score,turns,/);
  expect(rows[1]).toMatch(/^"[^"]*a,""b\/1\.jsonl:1","a,""b",1,1,1,2,/);
  const by = await ask(['ls', dump, '--by', 'step', '--csv']);
  expect(by.stdout).toBe((await ask(['stats', dump, '--csv'])).stdout);
});
