import { describe, expect, test } from 'vitest';
import { FaultLog } from '../../src/engine/collect/fault-log.ts';
import { pythonFloat } from '../../src/engine/common/python.ts';
import { budgetOf } from '../../src/engine/request/budget.ts';
import { DEFAULT_LIMITS } from '../../src/engine/request/limits.ts';
import { failedCallText, rulesOf, unknownToolText } from '../../src/engine/request/rules.ts';
import { TokenCount } from '../../src/engine/request/token-count.ts';
import { truncateToolText } from '../../src/engine/request/truncate.ts';
import { guessTokens, ModelWindow, readRefusal } from '../../src/engine/request/window.ts';
import { mathScore } from '../../src/engine/rewards/verl/math.ts';

describe('the tokens of the next turn', () => {
  const OWN = rulesOf(null);
  const known = { prompt: 100, all: 300, guessed: 0, window: null };

  test('are those left of the response, tool results counted', () => {
    expect(budgetOf({ ...DEFAULT_LIMITS, max_response_length: 1000 }, OWN, known)).toEqual({
      tokens: 800,
      ends: 'cut_by_length',
    });
  });

  test('and of the window, with one free; guessed tokens count there alone', () => {
    const limits = { ...DEFAULT_LIMITS, max_response_length: 1000, max_model_len: 512 };
    expect(budgetOf(limits, OWN, { ...known, guessed: 11 })).toEqual({ tokens: 200, ends: 'context_full' });
    expect(budgetOf({ ...limits, max_model_len: null }, OWN, { ...known, window: 501, guessed: 100 })).toEqual({
      tokens: 100,
      ends: 'context_full',
    });
    expect(budgetOf(limits, OWN, { ...known, window: 400 }).tokens).toBe(99);
    expect(budgetOf({ ...limits, max_model_len: 1101 }, OWN, known)).toEqual({ tokens: 800, ends: 'cut_by_length' });
  });

  test('are not limited by a window where nobody has counted', () => {
    expect(
      budgetOf({ ...DEFAULT_LIMITS, max_model_len: 100 }, OWN, { prompt: null, all: null, guessed: 0, window: 100 }),
    ).toEqual({
      tokens: DEFAULT_LIMITS.max_response_length,
      ends: 'cut_by_length',
    });
  });

  test('are in verl what is left of prompt and response together; of late no more than a response', () => {
    const limits = { ...DEFAULT_LIMITS, max_prompt_length: 500, max_response_length: 400 };
    expect(budgetOf(limits, rulesOf('2026-01-29'), known).tokens).toBe(600);
    expect(budgetOf(limits, rulesOf('2026-08-22'), known).tokens).toBe(400);
    expect(budgetOf(limits, rulesOf('2026-08-22'), { ...known, all: 700 }).tokens).toBe(200);
  });
});

describe('a long tool result', () => {
  test.each<[string, number | null, 'left' | 'right' | 'middle', string]>([
    ['abcdef', null, 'middle', 'abcdef'],
    ['abcdef', 6, 'middle', 'abcdef'],
    ['🙂🙂🙂🙂', 4, 'middle', '🙂🙂🙂🙂'],
    ['abcdef', 4, 'middle', 'ab...(truncated)...ef'],
    ['abcdef', 5, 'middle', 'ab...(truncated)...ef'],
    ['abcdef', 1, 'middle', '...(truncated)...'],
    ['abcdef', 4, 'left', '(truncated)...cdef'],
    ['abcdef', 4, 'right', 'abcd...(truncated)'],
    ['a🙂🙂b', 2, 'right', 'a🙂...(truncated)'],
  ])('%s to %s on the side %s', (text, limit, side, cut) => {
    expect(truncateToolText(text, limit, side)).toBe(cut);
  });

  test('was cut on the other side by verl until May 2026', () => {
    expect(truncateToolText('abcdef', 4, 'left', { leftKeepsStart: true })).toBe('abcd...(truncated)');
    expect(truncateToolText('abcdef', 4, 'right', { leftKeepsStart: true })).toBe('(truncated)...cdef');
  });
});

describe("a server's words about its window", () => {
  test.each<[string, number | null, { window: number | null; prompt: number | null }]>([
    [
      "This model's maximum context length is 4,096 tokens. However, you requested 4500 tokens (4000 in the messages, 500 in the completion).",
      500,
      { window: 4096, prompt: 4000 },
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 4500 tokens.",
      500,
      { window: 4096, prompt: 4000 },
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 4500 tokens.",
      null,
      { window: 4096, prompt: null },
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 4500 tokens.",
      4500,
      { window: 4096, prompt: null },
    ],
    ['{"n_prompt_tokens": 5000, "n_ctx": 4096}', null, { window: 4096, prompt: 5000 }],
    ['no numbers', null, { window: null, prompt: null }],
  ])('%s', (text, asked, read) => {
    expect(readRefusal(text, asked)).toEqual(read);
  });

  test('the least that was heard holds', () => {
    const window = new ModelWindow();
    for (const size of [8192, null, 4096, 16_384, 0]) window.learn(size);
    expect(window.size).toBe(4096);
  });

  test('a token is guessed at three bytes', () => {
    expect([guessTokens(''), guessTokens('abcd'), guessTokens('é')]).toEqual([0, 2, 1]);
  });
});

describe('the count of a rollout', () => {
  const transcript = (promptTokens: number | null) =>
    ({ promptTokens, ids: [1, 2, 3], input: 'x'.repeat(30) }) as never;
  const generation = (promptTokens: number | null, completionTokens: number | null) =>
    ({ promptTokens, completionTokens }) as never;

  test('is its own ids, else the figures of the server and what came since', () => {
    expect(new TokenCount(true).lengths(transcript(2), DEFAULT_LIMITS, new ModelWindow())).toEqual({
      window: null,
      guessed: 0,
      prompt: 2,
      all: 3,
    });
    const count = new TokenCount(false);
    count.sampled(generation(100, 20));
    count.given({ ids: [1, 2], pieces: [] });
    count.given({ ids: null, pieces: [{ turn: 0, kind: 'text', text: 'x'.repeat(30) }] });
    expect(count.lengths(transcript(null), DEFAULT_LIMITS, new ModelWindow(4096))).toEqual({
      window: 4096,
      prompt: 100,
      all: 122,
      guessed: 10,
    });
    count.sampled(generation(140, 10));
    expect(count.lengths(transcript(null), DEFAULT_LIMITS, new ModelWindow())).toMatchObject({
      prompt: 100,
      all: 150,
      guessed: 0,
    });
    count.sampled(generation(null, 5));
    expect(count.lengths(transcript(null), DEFAULT_LIMITS, new ModelWindow())).toMatchObject({ all: 150 });
    count.refused(170);
    expect(count.lengths(transcript(null), DEFAULT_LIMITS, new ModelWindow())).toMatchObject({ prompt: 100, all: 170 });
  });

  test('before the first turn is guessed only where a window must be kept', () => {
    const count = new TokenCount(false);
    expect(count.lengths(transcript(null), DEFAULT_LIMITS, new ModelWindow())).toMatchObject({
      prompt: null,
      all: null,
    });
    expect(count.lengths(transcript(null), DEFAULT_LIMITS, new ModelWindow(100))).toMatchObject({
      prompt: 0,
      all: 0,
      guessed: 10,
    });
    expect(count.lengths(transcript(7), DEFAULT_LIMITS, new ModelWindow(100))).toMatchObject({
      prompt: 7,
      all: 7,
      guessed: 0,
    });
  });

  test('goes on from its notes', () => {
    const count = new TokenCount(false);
    count.sampled(generation(100, 20));
    count.given({ ids: [1], pieces: [] });
    expect(
      new TokenCount(false, count.state()).lengths(transcript(null), DEFAULT_LIMITS, new ModelWindow()),
    ).toMatchObject({ prompt: 100, all: 121 });
  });
});

describe('faults of a run', () => {
  test('are said once a cause and counted then; what every training run has is only counted', () => {
    const said: string[] = [];
    const log = new FaultLog((message) => said.push(message));
    log.note('cut_by_length', 'task 1', 'cut');
    log.note('timeout', 'task 1', 'too slow');
    log.note('timeout', 'task 2', 'too slow');
    log.note('model_gone', 'task 3', 'gone');
    log.warn({ kind: 'image', message: 'no picture' } as never, 'task 1');
    log.warn({ kind: 'image', message: 'no picture' } as never, 'task 2');
    expect(said).toEqual([
      'task 1: too slow [timeout: kept without a score; more of them are counted]',
      'task 3: gone [model_gone: no line; --resume makes it again; more of them are counted]',
      'task 1: no picture',
    ]);
    expect(log.unscored).toBe(2);
    expect(log.summary()).toEqual([
      '1 cut by length',
      '1 failed by the model server: no line; --resume makes it again',
      '2 over the time limit of a rollout: kept without a score',
      '2 warnings of the kind image',
    ]);
  });
});

test("each of verl's trees has its own ways", () => {
  const [own, old, now] = [rulesOf(undefined), rulesOf('2026-01-29'), rulesOf('2026-08-22')];
  expect([own.answersEveryCall, old.answersEveryCall, now.answersEveryCall]).toEqual([true, false, false]);
  expect([own.instancePerCall, old.instancePerCall]).toEqual([false, true]);
  expect([own.failedCallReward, old.failedCallReward]).toEqual([null, 0]);
  expect([own.separator, old.separator, now.separator]).toEqual(['template', 'nothing', 'newline after the end token']);
  expect([own.cutsPrompt, old.cutsPrompt, now.cutsPrompt]).toEqual([false, false, true]);
  expect([own.keepsOpenHeader, old.keepsOpenHeader]).toEqual([false, true]);
  expect([own.readsCutTurns, old.readsCutTurns]).toEqual([false, true]);
  expect([own.selectsTools, old.selectsTools, now.selectsTools]).toEqual([true, false, true]);
  expect([own.checksUserLength, old.checksUserLength]).toEqual([true, false]);
  expect([own.leftKeepsStart, old.leftKeepsStart, now.leftKeepsStart]).toEqual([false, true, false]);
  expect([own.scoresWholeResponse, now.scoresWholeResponse]).toEqual([false, true]);
  expect(unknownToolText(old, 'g', ['f'])).toBe("Error when executing tool: 'g'");
  expect(unknownToolText(own, 'g', ['f', 'h'])).toBe("Unknown function 'g'. Available tools: ['f', 'h']");
  expect([failedCallText(old, 'f', 'x'), failedCallText(now, 'f', 'x')]).toEqual([
    'Error when executing tool: x',
    "Error executing tool 'f': x",
  ]);
});

test('a float is printed as Python prints it, the exponent from 1e16 on and below 1e-4', () => {
  expect(
    [1, -0, 0.5, 1e15, 1e16, 1.5e300, 0.0001, 0.00001, Number.NaN, Number.NEGATIVE_INFINITY].map(pythonFloat),
  ).toEqual(['1.0', '-0.0', '0.5', '1000000000000000.0', '1e+16', '1.5e+300', '0.0001', '1e-05', 'nan', '-inf']);
});

test('of a boxed equation the right side is the answer, where the left one is a name', () => {
  expect(['x=5', 'k = 5', 'total=5', '5'].map((answer) => mathScore(`\\boxed{${answer}}`, '5').score)).toEqual([
    1, 1, 0, 1,
  ]);
});
