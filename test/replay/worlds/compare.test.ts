import { describe, expect, it } from 'vitest';
import { compareAnswers } from '../../../src/replay/worlds/answers.ts';
import { compareTexts } from '../../../src/replay/worlds/compare.ts';

const NOW = Date.parse('2026-11-23T08:00:00Z');
const verdict = (recorded: string, fresh: string, command = 'make') =>
  compareTexts(recorded, fresh, { command, now: NOW }).verdict;

describe('a recorded output against a new one', () => {
  it('is the same but for blank space at its end', () => {
    expect(verdict('a\nb', 'a\nb\n')).toBe('same');
  });

  it.each([
    ['date', 'Sun Nov 22 04:30:58 UTC 2026', 'Mon Nov 23 07:59:00 UTC 2026'],
    ['ls -l', '-rw-r--r-- 1 root root 12 Nov 22 04:30 a', '-rw-r--r-- 1 root root 12 Nov 23 08:00 a'],
    ['python3 -m unittest', 'Ran 3 tests in 0.002s\n\nOK', 'Ran 3 tests in 0.110s\n\nOK'],
    ['x', 'bash: line 4: x: command not found', 'bash: line 1: x: command not found'],
    ['echo $$', '5', '312'],
    ['sleep 1 &', '[1] 812', '[1] 9'],
    ['python3 -c "print(object())"', '<object object at 0x7f8922314180>', '<object object at 0x7fa000000010>'],
    ['mktemp', '/tmp/tmp.PPugpPfBTs', '/tmp/tmp.0aBcDeFgHi'],
    ['git commit -m x', '[main 1a2b3c4] x', '[main 99ffee1] x'],
    ['python3 -c "import random; print(random.random())"', '0.52', '0.91'],
    ['python3 s.py', "{'a', 'b', 'c'}", "{'c', 'a', 'b'}"],
    ['f 1', '+ f 1\n++ g\n1', '++ f 1\n+++ g\n1'],
    ['find .', './a\n./b', './b\n./a'],
    ['ls -la', 'drwxr-xr-x 5 root root 4096 Jan  1  2026 .', 'drwxr-xr-x 1 root root 4096 Jan  1  2026 .'],
  ])('%s: what no two runs share is normalised', (command, recorded, fresh) => {
    expect(verdict(recorded, fresh, command)).toBe('normalised');
  });

  it.each([
    ['python3 -m unittest', 'Ran 3 tests in 0.002s\n\nOK', 'Ran 4 tests in 0.002s\n\nOK'],
    ['python3 -m unittest', 'Ran 3 tests in 0.002s\n\nOK', 'Ran 3 tests in 0.002s\n\nFAILED (failures=1)'],
    ['cat a', '1\n2\n3', '1\n3'],
    ['cat log', '2019-05-01 10:00:00 start', '2019-05-01 10:00:01 start'],
    ['echo 5', '5', '6'],
    ['python3 -c "import random; random.seed(1); print(random.random())"', '0.52', '0.91'],
    ['find . | sort', './a\n./b', './b\n./a'],
    ['ls -l', '-rw-r--r-- 2 root root 4096 Jan  1  2026 a', '-rw-r--r-- 1 root root 4096 Jan  1  2026 a'],
    ['cat x', "{'a', 'b'}", "{'a', 'c'}"],
  ])('%s: another result stays one', (command, recorded, fresh) => {
    expect(verdict(recorded, fresh, command)).toBe('drift');
  });

  it('a cut text is compared at its ends, and by the length that it states', () => {
    const fresh = `${'a'.repeat(50)}${'b'.repeat(100)}${'c'.repeat(50)}`;
    const cut = (removed: number, end = 'c') =>
      `${'a'.repeat(50)}\n[... Command output truncated: removed ${removed} characters from the middle ...]\n${end.repeat(50)}`;
    expect(verdict(cut(100), fresh)).toBe('same');
    expect(verdict(cut(180), fresh)).toBe('drift');
    expect(verdict(cut(100, 'd'), fresh)).toBe('drift');
  });
});

describe('an answer of a tool', () => {
  const refused = { text: 'Error: File setup.py not found', ok: false, shows: null };
  it('that shows a file is not the refusal whose words the file holds', () => {
    const shown = '[File: /w/setup.py (2 lines total)]\n1:import re\n2:raise E("version not found")';
    expect(compareAnswers(shown, refused, { command: 'open', now: 0 }).verdict).toBe('drift');
    expect(compareAnswers('Error: File `setup.py` not found.', refused, { command: 'open', now: 0 }).verdict).toBe(
      'normalised',
    );
  });
});
