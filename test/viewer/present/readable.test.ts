import { expect, test } from 'vitest';
import { readableText } from '../../../src/viewer/present/readable.ts';
import { Results } from '../../../src/viewer/present/transcript/results.ts';

const turn = (index: number, role: string, text: string, more = {}) => ({
  index,
  role,
  text,
  trained: false,
  toolCalls: [],
  parts: [],
  ...more,
});
const record = (...turns: object[]) =>
  ({
    locator: '1.jsonl:1',
    file: { step: 7 },
    raw: '{"a\x1b"}',
    error: 'not JSON',
    rollout: { turns, score: 0.5, step: null, groundTruth: '4', findings: [] },
  }) as never;

test('a rollout reads as roles and texts, one turn of it alone too', () => {
  const row = record(turn(0, 'user', 'q\n\n'), turn(1, 'assistant', 'a\x1b'));
  expect(readableText(row)).toBe('[user]\n\nq\n\n[assistant]\n\na␛\n');
  expect(readableText(row, 1)).toBe('[assistant]\n\na␛\n');
  expect(readableText({ ...(row as object), rollout: null } as never)).toBe(
    '[bad record]\n\nnot JSON\n\n[raw]\n\n{"a␛"}\n',
  );
});

test('a result that two calls share answers the first; one that nobody asked for says so', () => {
  const call = (name: string, resultTurn: number | null) => ({ name, resultTurn, error: null });
  const turns = [
    turn(0, 'assistant', '', { toolCalls: [call('f', 1), call('g', 1)] }),
    turn(1, 'tool', '4'),
    turn(2, 'tool', '5'),
  ];
  const results = Results.of({ turns, findings: [] } as never);
  expect(turns.map((one) => results.asked(one as never))).toEqual(['', ' ← f, call 1 of 2', ' ← no call']);
  expect(results.summary(turns[0] as never)).toBe('f, g');
  expect(results.summary(turn(3, 'assistant', 'one\n  two\n') as never)).toBe('two');
  expect(results.summary(turn(3, 'user', '\n one\ntwo') as never)).toBe('one␊two');
});
