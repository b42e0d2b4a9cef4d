import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { segmentChat } from '../../src/chat/segment.ts';
import { conversation, type Message, render, style } from './render.ts';

const turnsOf = (prompt: string, response: string) => {
  const text = prompt + response;
  return segmentChat(prompt, response).map((turn) => ({
    role: turn.role,
    confidence: turn.confidence,
    content: turn.pieces
      .filter((piece) => piece.kind === 'text')
      .map((piece) => text.slice(piece.start, piece.end))
      .join(''),
  }));
};
const truth = (messages: readonly Message[]) => messages.map(({ role, content }) => ({ role, content }));
const found = (prompt: string, response: string) =>
  turnsOf(prompt, response).map(({ role, content }) => ({ role, content }));

/** Strings that are rich in what a template writes, to provoke the reader. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'system\n',
        'user\n',
        'assistant\n',
        'tool\n',
        '\n',
        '<tool_call>',
        '</tool_call>',
        '<tool_response>',
        '</tool_response>',
        '<think>',
        '</think>',
        '```\n',
        '```python\n',
        '~~~\n',
        '<|im_start|>',
        '<|im_end|>',
        '<|im_start|>user\n',
        'user',
        'assistant',
        ' ',
        '{}',
        '\u2028',
        '\r\n',
        '\ud800',
        '🙂',
      ),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('the turns of a conversation', () => {
  test('cover any prompt and response exactly', () => {
    fc.assert(
      fc.property(hostile, hostile, (prompt, response) => {
        let at = 0;
        for (const { pieces } of segmentChat(prompt, response)) {
          for (const piece of pieces) {
            expect(piece.start).toBe(at);
            expect(piece.end).toBeGreaterThan(piece.start);
            at = piece.end;
          }
        }
        expect(at).toBe((prompt + response).length);
      }),
      { numRuns: 2000 },
    );
  });

  test('are the true ones where role words stand in code, quotes and reasoning', () => {
    fc.assert(
      fc.property(conversation(false), style, (messages, how) => {
        const { prompt, response } = render(messages, how);
        expect(found(prompt, response)).toEqual(truth(messages));
      }),
      { numRuns: 20000 },
    );
  });

  test('are the true ones, whatever the text, where the special tokens are kept', () => {
    fc.assert(
      fc.property(conversation(true), style, (messages, how) => {
        const { prompt, response } = render(messages, { ...how, marked: true });
        expect(turnsOf(prompt, response)).toEqual(truth(messages).map((turn) => ({ ...turn, confidence: 'marked' })));
      }),
      { numRuns: 500 },
    );
  });

  test('are never wrong without saying so: a turn that is marked is a true one', () => {
    fc.assert(
      fc.property(conversation(true), style, (messages, how) => {
        const { prompt, response } = render(messages, { ...how, marked: false });
        const real = new Set(messages.map(({ role, content }) => `${role}\n${content}`));
        for (const turn of turnsOf(prompt, response)) {
          if (turn.confidence === 'marked') expect(real).toContain(`${turn.role}\n${turn.content}`);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('are found in time that grows with the text', () => {
    for (const piece of [
      'user\n',
      'assistant\n',
      'user\nassistant\nx\n',
      '```\nuser\n',
      '</tool_call>\ntool\n',
      'user\n<tool_response>\n',
      '<think>user\n',
    ]) {
      expect(segmentChat('user\nq\nassistant\n', piece.repeat(1_000_000 / piece.length)).length).toBeGreaterThan(0);
    }
  });
});

describe('stripped text', () => {
  const prompt = 'system\nYou are helpful.\nuser\nWho plays?\nassistant\n';

  test('a line of model text that reads like a role is no turn without a reason', () => {
    expect(found(prompt, 'The roles are:\nuser\nadmin\nThat is all.').map((turn) => turn.role)).toEqual([
      'system',
      'user',
      'assistant',
    ]);
    expect(found(prompt, 'Roles:\nsystem\nuser\nassistant\ntool\nDone.').map((turn) => turn.role)).toEqual([
      'system',
      'user',
      'assistant',
    ]);
  });

  test('a reply that somebody answers is a turn, and says that it was inferred', () => {
    expect(turnsOf(prompt, 'Anna.\nuser\nWrong, try again.\nassistant\nBert.')).toEqual([
      { role: 'system', confidence: 'marked', content: 'You are helpful.' },
      { role: 'user', confidence: 'marked', content: 'Who plays?' },
      { role: 'assistant', confidence: 'inferred', content: 'Anna.' },
      { role: 'user', confidence: 'inferred', content: 'Wrong, try again.' },
      { role: 'assistant', confidence: 'inferred', content: 'Bert.' },
    ]);
  });

  test('the role line at the end of the prompt and again at the start of the response is one turn', () => {
    expect(found(prompt, 'assistant\nAnna.').slice(2)).toEqual([{ role: 'assistant', content: 'Anna.' }]);
  });

  test('several results in one user turn are several tool turns', () => {
    const response =
      '<tool_call>\n{}\n</tool_call>\nuser\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>\nassistant\nok';
    expect(turnsOf(prompt, response).slice(3)).toEqual([
      { role: 'tool', confidence: 'marked', content: '1' },
      { role: 'tool', confidence: 'marked', content: '2' },
      { role: 'assistant', confidence: 'marked', content: 'ok' },
    ]);
  });

  test('think tags that the template adds behind the generation prompt belong to the turn', () => {
    expect(found(`${prompt}<think>\n\n</think>\n\n`, 'Anna.').at(-1)).toEqual({
      role: 'assistant',
      content: '<think>\n\n</think>\n\nAnna.',
    });
    expect(found(`${prompt}<think>\n`, 'the\nuser\nsaid\nassistant\nso\n</think>\nAnna.').length).toBe(3);
  });

  test('a prompt without a template is one block', () => {
    expect(turnsOf('Question: 1+1?\nAnswer:', ' 2')).toEqual([
      { role: 'user', confidence: 'inferred', content: 'Question: 1+1?\nAnswer:' },
      { role: 'assistant', confidence: 'marked', content: ' 2' },
    ]);
  });
});
