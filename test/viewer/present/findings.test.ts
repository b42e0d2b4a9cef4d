import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verl } from '../../../src/core/formats/verl.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { cellWidth } from '../../../src/core/text/graphemes.ts';
import { COLOURS, MONO, type Theme } from '../../../src/viewer/present/theme.ts';
import { type Folds, transcriptSections } from '../../../src/viewer/present/transcript/blocks.ts';
import { errorLine } from '../../../src/viewer/present/transcript/findings.ts';
import { Layout } from '../../../src/viewer/present/transcript/layout.ts';
import { rawTextSections } from '../../../src/viewer/present/transcript/raw-view.ts';
import { renderTranscript } from '../../../src/viewer/present/transcript/render.ts';
import { resultPreview } from '../../../src/viewer/present/transcript/results.ts';
import { inSections } from '../../../src/viewer/present/transcript/section.ts';
import { callId } from '../../../src/viewer/present/transcript/turn-blocks.ts';
import { blocksOf } from '../../support/blocks-of.ts';

const SGR = /\x1b\[[\d;]*m/g;
const INPUT = 'user\nGo.\nassistant\n';
const call = (text: string): string => `<tool_call>\n${text}\n</tool_call>`;
const CALL = call('{"name": "code_interpreter", "arguments": {"code": "print(1)\\nprint(2)"}}');
const answered = (result: string, rest = '#### 1'): string =>
  `${CALL}\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\n${rest}`;
const read = (output: string): Rollout =>
  verl.read({ input: INPUT, output, gts: '1', score: 1, step: 1 } as JsonObject, { validation: false });

function draw(rollout: Rollout, width: number, theme: Theme, folds: Folds = new Map()): string[] {
  const layout = new Layout(transcriptSections(rollout, folds), width, folds);
  return renderTranscript(layout, 0, layout.rows, theme, { turn: null });
}
const lines = (output: string, width = 90, folds: Folds = new Map()): string[] =>
  draw(read(output), width, MONO, folds).map((line) => line.replace(SGR, '').trimEnd());

const TRACEBACK =
  'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    1/0\nZeroDivisionError: zero';

describe('a finding is at the line that it speaks of', () => {
  test('a traceback: at the exception, its sign in the gutter, its message at the edge', () => {
    const shown = lines(answered(`out\n${TRACEBACK}\nafter`));
    expect(shown).toContainEqual(expect.stringMatching(/^ !ZeroDivisionError: zero {10,}a Python traceback$/));
    expect(shown.find((line) => line.endsWith('a Python traceback'))).toHaveLength(90);
    expect(shown.filter((line) => line.includes('a Python traceback'))).toHaveLength(1);
  });

  test('of two tracebacks the last one counts, and one that was cut off ends at its last line', () => {
    const two = `${TRACEBACK}\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "y"\nKeyError: 'k'`;
    const at = errorLine(two);
    expect(two.slice(at.start, at.end)).toBe("KeyError: 'k'");
    const torn = 'Traceback (most recent call last):\n  File "x.py", li';
    const end = errorLine(torn);
    expect(torn.slice(end.start, end.end)).toBe('  File "x.py", li');
    expect(errorLine('')).toEqual({ start: 0, end: 0 });
  });

  test('without room beside the line it is below it', () => {
    const shown = lines(answered('no stdout here'), 60);
    const at = shown.indexOf('  no stdout here');
    expect(shown.slice(at, at + 3)).toEqual([
      '  no stdout here',
      ' !↑ the sandbox did not finish (timeout, compile error or no',
      '  answer): "no stdout here"',
    ]);
  });

  test('a result that was cut: at the cut, also where a long result hides its middle', () => {
    const rows = (from: number) => Array.from({ length: 100 }, (_, i) => `row ${from + i}`).join('\n');
    const shown = lines(answered(`${rows(0)}\nleft...(truncated)...right\n${rows(200)}`));
    const at = shown.findIndex((line) => line.startsWith(' !left...(truncated)...right'));
    expect(shown[at]).toMatch(/the tool result was cut before the model saw it$/);
    expect(shown[at - 1]).toBe('  row 99');
    expect(shown[at - 2]).toMatch(/^ {2}⋯ \d+ more lines$/);
    expect(shown[at + 2]).toMatch(/^ {2}⋯ \d+ more lines$/);
  });

  test('a call that was never closed: at the end of what was written; one that is broken: at the character', () => {
    const open = lines('<tool_call>\n{"name": "code_interpreter", "argu');
    expect(open).toContain('▌ call  → not executed');
    expect(open).toContainEqual(expect.stringMatching(/^▌!.*"argu +the response ends inside <tool_call>$/));
    const broken = read(call('{"name": "f", "arguments": {"a": 1,, "b": 2}}'));
    const drawn = draw(broken, 120, COLOURS);
    const line = drawn.find((one) => one.includes('"name"'))!;
    expect(line.replace(SGR, '')).toMatch(
      /^▌! {2}\{"name".* {2,}not JSON: expected a key.*\(character 37 of the call\)$/,
    );
    expect(line).toContain('{"a": 1,\x1b[31m,\x1b[0m "b": 2}}');
  });

  test('reasoning that never ends is open, and says so at its end', () => {
    const shown = lines('<think>\nI wonder\nwhether');
    expect(shown).toContain('▌ ▾ think, 3 words');
    expect(shown).toContainEqual(expect.stringMatching(/^▌! {2}whether +the response ends inside <think>$/));
    const folded = lines('<think>\nI wonder\nwhether', 90, new Map([['t1.0', true]]));
    expect(folded).toContainEqual(expect.stringMatching(/^▌!▸ think, 3 words +the response ends inside <think>$/));
  });

  test('a turn that is folded to a line keeps a word for each', () => {
    const folds = new Map([['t2', true]]);
    expect(lines(answered(TRACEBACK), 90, folds)).toContainEqual(
      expect.stringMatching(/^ {2}▸ tool ← code_interpreter, \d+ words {2}error: ZeroDivisionError: zero +! error$/),
    );
  });

  test('its row is found: by turn, and by how serious it is', () => {
    const rollout = read(answered(`${'row\n'.repeat(50)}...(truncated)...\n${TRACEBACK}`));
    const layout = new Layout(transcriptSections(rollout, new Map()), 90);
    expect(layout.text(layout.findingRow(2, 'error')!).text).toBe('ZeroDivisionError: zero');
    expect(layout.text(layout.findingRow(2, 'warning')!).text).toBe('...(truncated)...');
    expect(layout.findingRow(1, 'error')).toBe(null);
    expect(layout.findingRow(3, 'warning')).toBe(null);
  });

  test('the raw text has them at the same words', () => {
    const layout = new Layout(rawTextSections(read(answered(TRACEBACK))), 90);
    const shown = renderTranscript(layout, 0, layout.rows, MONO, { turn: null }).map((line) => line.replace(SGR, ''));
    expect(shown).toContainEqual(expect.stringMatching(/^ !ZeroDivisionError: zero +a Python traceback$/));
  });
});

describe('results beside their calls', () => {
  const outcome = (output: string, width = 90): string => lines(output, width).find((line) => line.includes('→'))!;

  test('a call says what came of it, a result which call it answers', () => {
    expect(outcome(answered('220000.0'))).toBe('▌ code_interpreter  → 220000.0');
    expect(lines(answered('220000.0'))).toContain('  tool ← code_interpreter');
    expect(outcome(answered(TRACEBACK))).toBe('▌ code_interpreter  → error: ZeroDivisionError: zero');
    expect(outcome(answered("Error when executing tool: 'x'"))).toBe("▌ code_interpreter  → error: 'x'");
    expect(outcome(answered(''))).toBe('▌ code_interpreter  → empty');
    expect(outcome(CALL)).toBe('▌!code_interpreter  → no result');
    expect(outcome(call('{"name": "f"}'))).toBe('▌ f  → not executed');
  });

  test('a result of several lines is one line, cut to the room', () => {
    expect(outcome(answered('a\n\n  b\nc'))).toBe('▌ code_interpreter  → a␊b␊c');
    const long = outcome(answered('计算'.repeat(200)), 60);
    expect(long).toMatch(/^▌ code_interpreter {2}→ (计算)+计?…$/);
    expect(cellWidth(long)).toBeLessThanOrEqual(60);
    expect(outcome(answered('word '.repeat(200)), 180).length).toBeGreaterThan(170);
  });

  test('parallel calls have one each', () => {
    const named = (name: string) => call(`{"name": "${name}", "arguments": {}}`);
    const results = ['one', 'two'].map((text) => `<tool_response>\n${text}\n</tool_response>`).join('\n');
    const shown = lines(`${named('f')}\n${named('g')}\n${named('h')}\nuser\n${results}\nassistant\nok`);
    expect(shown.filter((line) => line.includes('→'))).toEqual(['▌ f()  → one', '▌ g()  → two', '▌!h()  → no result']);
    expect(shown).toContain('  tool ← f, call 1 of 3');
    expect(shown).toContain('  tool ← g, call 2 of 3');
  });

  test('a result that no call asked for says so', () => {
    const shown = lines(answered('5\n</tool_response>\n<tool_response>\n6'));
    expect(shown).toContain('  tool ← no call');
  });

  test('turns that are folded to a line are an outline of it', () => {
    const folds = new Map([0, 1, 2, 3].map((turn) => [`t${turn}`, true]));
    expect(lines(answered('220000.0', 'So it is.\n#### 220000'), 60, folds).slice(0, 4)).toEqual([
      '  ▸ user, 1 word  Go.',
      expect.stringMatching(/^▌ ▸ assistant, \d+ words {2}code_interpreter$/),
      '  ▸ tool ← code_interpreter, 1 word  220000.0',
      '▌ ▸ assistant, 5 words  #### 220000',
    ]);
    expect(lines(answered('1'.repeat(99)), 40, folds)[2]).toBe('  ▸ tool ← code_interpreter, 1 word');
  });

  test('a call whose line is full has it below', () => {
    const wide = call(`{"name": "search", "arguments": {"query": "${'q'.repeat(52)}"}}`);
    const shown = lines(`${wide}\nuser\n<tool_response>\nfound 3 documents\n</tool_response>\nassistant\nok`, 78);
    const at = shown.findIndex((line) => line.includes('search(query'));
    expect(shown[at + 1]).toBe('  → found 3 documents');
  });

  test('whatever a tool printed, the preview is one line of what it printed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 900 }), fc.boolean(), (text, failed) => {
        const shown = resultPreview(text, failed);
        expect(shown).not.toMatch(/[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
        expect(shown).not.toBe('');
      }),
    );
  });
});

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        TRACEBACK,
        '(truncated)...',
        '...(truncated)',
        '<think>',
        '</think>',
        CALL,
        '<tool_call>',
        '</tool_call>',
        call('{"name": 3}'),
        '\nuser\n<tool_response>\n',
        '\n</tool_response>\nassistant\n',
        '\x1b[2J',
        '\u202e',
        '👩‍👩‍👧‍👦',
        '计算',
        '\t',
        '\n',
        'x'.repeat(200),
      ),
      fc.string({ maxLength: 40 }),
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
    { maxLength: 14 },
  )
  .map((pieces) => pieces.join(''));

describe('whatever a model wrote', () => {
  test('each finding is drawn exactly once, no line is too wide, every place is found again', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 20, max: 200 }), fc.boolean(), (output, width, isRaw) => {
        const rollout = read(output);
        const sections = isRaw ? rawTextSections(rollout) : transcriptSections(rollout, new Map());
        const blocks = [...blocksOf(sections)];
        const layout = new Layout(inSections(blocks), width);
        const drawn = renderTranscript(layout, 0, layout.rows, COLOURS, { turn: null });
        expect(drawn).toHaveLength(layout.rows);
        for (const line of drawn) expect(cellWidth(line.replace(SGR, ''))).toBeLessThanOrEqual(width);
        const signs = drawn.filter((line) => /^(?:\x1b\[36m▌\x1b\[0m| )\x1b\[3[13]m!\x1b\[0m/.test(line));
        const told = rollout.findings.filter(({ turn }) => turn !== null);
        // Findings of one line share its sign only if one of them is below, with another.
        expect(signs.length).toBeGreaterThanOrEqual(Math.min(1, told.length));
        expect(
          blocks.flatMap(({ notes, sign }) => [...(notes ?? []).filter((note) => note.sign), ...(sign ? [sign] : [])]),
        ).toHaveLength(told.length);
        for (let row = 0; row < layout.rows; row++) {
          const { clipped } = layout.at(row);
          if (clipped === 0) expect(layout.row(layout.anchor(row))).toBe(row);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('a result that has no room beside its call is begun on one line below it', () => {
  const rollout = read(
    'I look.\n<tool_call>\n{"name": "look_for_the_long_name", "arguments": {"at": "somewhere"}}\n</tool_call>\n' +
      `user\n<tool_response>\n${'word '.repeat(60)}\n</tool_response>\nassistant\n#### 5`,
  );
  const shown = draw(rollout, 44, MONO).map((line) => line.replace(SGR, '').trimEnd());
  const at = shown.findIndex((line) => line.includes('→'));
  expect(shown[at]).toMatch(/^ {2}→ word .*…$/);
  expect(shown[at + 1]).toBe('');
});

describe('calls that the text does not show', () => {
  test('are behind it, with their results', () => {
    const rollout = read('I look.\nuser\n<tool_response>\n5\n</tool_response>\nassistant\n#### 5');
    const turn = rollout.turns[1]!;
    turn.toolCalls = [
      { index: 0, id: null, name: 'look', arguments: { at: 'x' }, raw: '', error: null, resultTurn: 2 },
      { index: 1, id: null, name: 'I look', arguments: {}, raw: 'I look.', error: null, resultTurn: null },
    ];
    const shown = draw(rollout, 80, MONO).map((line) => line.replace(SGR, '').trimEnd());
    const at = shown.indexOf('▌ I look.');
    expect(shown.slice(at + 1, at + 3)).toEqual([
      expect.stringMatching(/^ {2}look\(at="x"\) {2}→ /),
      ' !I look()  → no result',
    ]);
    expect(callId(turn, turn.toolCalls[1]!)).toBe('t1.call1');
  });
});
