import { expect, it } from 'vitest';
import { comparedFiles } from '../../../src/analysis/files/compared-files.ts';
import { rolloutFiles } from '../../../src/analysis/files/rollout-files.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { hasWalls } from './drawn-commands.ts';
import { expectTrueComparisons } from './drawn-sessions.ts';

/** The files after these commands, each of which has no output. */
function filesAfter(...commands: string[]) {
  const messages: object[] = [{ role: 'user', content: 'Go. Commands start in /tmp.' }];
  for (const [i, command] of commands.entries())
    messages.push(
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `${i}`, type: 'function', function: { name: 'execute_bash', arguments: JSON.stringify({ command }) } },
        ],
      },
      { role: 'tool', tool_call_id: `${i}`, content: '' },
    );
  const { rollout, json } = parseLine(JSON.stringify({ messages }), { validation: false });
  if (rollout === null) throw new Error('no rollout');
  return rolloutFiles(rollout, json, { workdir: '/tmp' });
}

const write = (name: string, text: string) => `cat > /tmp/${name} <<'EOF'\n${text}\nEOF`;
const outcomes = (a: string[], b: string[]) =>
  comparedFiles(filesAfter(...a), filesAfter(...b)).map(({ path, outcome }) => `${path} ${outcome}`);

it('files of two branches: equal ones are left out, others are of one side, differ, or are not certain', () => {
  const a = filesAfter(write('same', 'x'), write('other', 'one'), write('mine', 'm'), write('run', 'r'));
  const b = filesAfter(write('same', 'x'), write('other', 'two'), write('run', 'r'), 'sed -i "s/$A/$B/" /tmp/run');
  const found = comparedFiles(a, b);
  expect(found.map(({ path, outcome }) => [path, outcome])).toEqual([
    ['/tmp/other', 'differs'],
    ['/tmp/mine', 'only_a'],
    ['/tmp/run', 'unsure'],
  ]);
  expect(found.map(({ diff }) => diff?.match(/^[-+]\w.*$/gm) ?? null)).toEqual([['-one', '+two'], ['+m'], null]);
});

it('is not certain that one side alone wrote a file where a command of the other could have done so', () => {
  for (const other of [
    'make',
    'python3 gen.py',
    'for f in a b; do sed -i s/x/y/ $f; done',
    'python3 -c "import own"',
    'rm -r /tmp/d',
  ])
    expect(outcomes([write('d/f', 'x')], [other]), other).toContain('/tmp/d/f unsure');
  for (const other of ['ls', 'cat /tmp/d/f', 'echo x > /tmp/g; cd /', 'rm /tmp/e', 'pytest -q'])
    expect(outcomes([write('d/f', 'x')], [other]), other).toContain('/tmp/d/f only_a');
  expect(comparedFiles(filesAfter(write('f', 'x')), filesAfter('pytest -q'))[0]?.unless).toEqual({ a: [], b: [0] });
});

it('calls that both begin with count for neither', () => {
  const begin = ['make', write('f', 'x'), write('g', 'y')];
  expect(outcomes([...begin, write('f', 'z')], [...begin, 'ls'])).toEqual(['/tmp/f only_a']);
  expect(outcomes(begin, begin)).toEqual([]);
  expect(outcomes([...begin, write('f', 'z')], [...begin, write('f', 'z')])).toEqual([]);
  expect(outcomes([...begin, write('f', 'z'), write('f', 'x')], begin)).toEqual([]);
});

it.skipIf(!hasWalls)(
  'no claim about two branches is false, whatever their shells do (skipped without bubblewrap)',
  () => {
    expectTrueComparisons(5, 38);
  },
);
