// The memory of the whole process, beside a record that would take more than it is allowed.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bin, directoryWith } from '../../program.ts';

const turns = Array.from({ length: 20_000 }, (_, i) => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: `turn ${i} ${'lorem ipsum '.repeat(160)}`,
}));
const folder = directoryWith({
  'dump/1.jsonl': `${JSON.stringify({ messages: turns, score: 1 })}\n${JSON.stringify({ messages: turns.slice(0, 2), score: 0 })}\n`,
  'unknown/1.jsonl': `${JSON.stringify({ notes: turns })}\n${JSON.stringify({ messages: turns.slice(0, 2) })}\n`,
  'peak.cjs':
    "process.on('exit', () => require('fs').writeSync(2, 'peak ' + Math.round(process.resourceUsage().maxRSS / 1e3) + '\\n'));",
});

/** MB at the most. */
function peak(...args: string[]): number {
  const script = 'exec "$@" 2>&1 >/dev/null';
  const command = [process.execPath, '--require', join(folder, 'peak.cjs'), bin, ...args];
  const said = execFileSync('sh', ['-c', script, 'sh', ...command], { cwd: folder, encoding: 'utf8' });
  // Threads that end by themselves say it, too.
  return Math.max(...[...said.matchAll(/^peak (\d+)$/gm)].map(([, megabytes]) => Number(megabytes)));
}

test.each([
  ['show', 'dump/1.jsonl:1', '--json'],
  ['stats', 'dump'],
  ['ls', 'dump'],
  ['grep', 'lorem', 'dump'],
])('%s %s stays below 400 MB where that is asked', (...args) => {
  expect(peak(...args, '--no-cache', '--memory', '400M')).toBeLessThan(400);
});

test('which takes half as much again without being asked', () => {
  const command = ['show', 'dump/1.jsonl:1', '--json', '--no-cache'];
  expect(peak(...command)).toBeGreaterThan(1.5 * peak(...command, '--memory', '400M'));
});

test('a file that begins with such a record is not parsed to find its format', () => {
  const command = ['ls', 'unknown', '--no-cache'];
  const most = peak(...command, '--memory', '400M');
  expect(most).toBeLessThan(200);
  expect(peak(...command)).toBeGreaterThan(1.5 * most);
});
