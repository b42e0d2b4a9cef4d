import { describe, expect, test } from 'vitest';
import { verl } from '../../../src/core/formats/verl.ts';

const read = (keys: object) =>
  verl.read({ input: '<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n', output: '2', ...keys } as never, {
    validation: false,
  });

test('a score or a step that is no number stays among the extras', () => {
  const rollout = read({ score: 'high', step: 'warmup', acc: 1 });
  expect([rollout.score, rollout.step, rollout.extras]).toEqual([
    null,
    null,
    { score: 'high', step: 'warmup', acc: 1 },
  ]);
  expect(read({ score: '0.5', step: 3 }).extras).toEqual({});
});

describe('the mask of what ends a turn', () => {
  const output = '2<|im_end|>\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n3<|im_end|>';
  const ends = (keys: object) =>
    read({ output, ...keys })
      .spans.filter(({ field, turn, kind }) => field === 'output' && turn === 1 && kind === 'marker')
      .map(({ start, end, trained }) => [output.slice(start, end), trained]);

  test.each<[string, object, (boolean | null)[]]>([
    ['the agent loop trains the token, which is sampled', { uid: 'a_0_0' }, [true, false]],
    ['the old engine trained the line break too', { request_id: 'r' }, [true, true]],
    ['without a sign of either nobody knows', {}, [null, null]],
  ])('%s', (_, keys, [token, newline]) => {
    expect(ends(keys)).toEqual([
      ['<|im_end|>', token],
      ['\n', newline],
    ]);
  });
});
