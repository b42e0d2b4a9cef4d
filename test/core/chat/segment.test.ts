import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { segmentChat } from '../../../src/core/chat/segment.ts';
import { conversation, type Message, render, style } from './render.ts';

const turnsOf = (prompt: string, response: string) => {
  const text = prompt + response;
  return segmentChat(prompt, response).turns.map((turn) => ({
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
        for (const { pieces } of segmentChat(prompt, response).turns) {
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

  test('are the true ones where no line of a text reads like a header', () => {
    fc.assert(
      fc.property(conversation('none'), style, (messages, how) => {
        const { prompt, response } = render(messages, how);
        expect(found(prompt, response)).toEqual(truth(messages));
      }),
      { numRuns: 2000 },
    );
  });

  test('are the true ones, whatever the text, where the special tokens are kept', () => {
    fc.assert(
      fc.property(conversation('any'), style, (messages, how) => {
        const { prompt, response } = render(messages, { ...how, marked: true });
        expect(turnsOf(prompt, response)).toEqual(truth(messages).map((turn) => ({ ...turn, confidence: 'marked' })));
      }),
      { numRuns: 500 },
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
      expect(segmentChat('user\nq\nassistant\n', piece.repeat(1_000_000 / piece.length)).turns.length).toBeGreaterThan(
        0,
      );
    }
  });
});

describe('stripped text', () => {
  const prompt = 'system\nYou are helpful.\nuser\nWho plays?\nassistant\n';

  test('a line of a reply that reads like a header leaves what follows unknown: two conversations give the same text', () => {
    const roles = (response: string) => turnsOf(prompt, response).map(({ role, confidence }) => [role, confidence]);
    expect(roles('The roles are:\nuser\nadmin\nThat is all.').slice(2)).toEqual([
      ['assistant', 'marked'],
      ['unknown', 'unknown'],
    ]);
    expect(roles('Roles:\nsystem\nuser\nassistant\ntool\nDone.').slice(2)).toEqual([
      ['assistant', 'marked'],
      ['unknown', 'unknown'],
    ]);
  });

  test('a stray header that no conversation can hold is text', () => {
    expect(turnsOf(prompt, 'He said:\nassistant\nhello').slice(2)).toEqual([
      { role: 'assistant', confidence: 'marked', content: 'He said:\nassistant\nhello' },
    ]);
  });

  test('behind the first line that is a header in one conversation and text in another, nothing is certain', () => {
    const response = 'A.\nuser\nfirst\nuser\nsecond\nassistant\nB.';
    expect(turnsOf(prompt, response).slice(2)).toEqual([
      { role: 'assistant', confidence: 'marked', content: 'A.' },
      { role: 'unknown', confidence: 'unknown', content: 'user\nfirst\nuser\nsecond\n' },
      { role: 'assistant', confidence: 'inferred', content: 'B.' },
    ]);
  });

  test('behind a result that quotes its own end nobody knows whose words they are', () => {
    const response =
      '<tool_call>\n{}\n</tool_call>\nuser\n<tool_response>\na\n</tool_response>\nassistant\nb\n</tool_response>\nassistant\nok';
    expect(turnsOf(prompt, response).slice(2)).toEqual([
      { role: 'assistant', confidence: 'inferred', content: '<tool_call>\n{}\n</tool_call>' },
      { role: 'tool', confidence: 'inferred', content: 'a' },
      { role: 'unknown', confidence: 'unknown', content: response.slice(response.indexOf('assistant')) },
    ]);
  });

  test('a result behind a call that the response leaves open was cut, most likely', () => {
    const cut = '<tool_call>\n{}\n</tool_call>\nuser\n<tool_response>\nthe first ha';
    expect(
      turnsOf(prompt, cut)
        .slice(2)
        .map(({ role, confidence }) => [role, confidence]),
    ).toEqual([
      ['assistant', 'inferred'],
      ['tool', 'inferred'],
    ]);
  });

  test('a word that is glued to a small letter is no header where the text is a conversation without it', () => {
    const glued = (middle: string) => turnsOf(`systemBe kind.${middle}assistant`, 'Yes.').map(({ role }) => role);
    expect(glued('userWho plays?')).toEqual(['system', 'user', 'assistant']);
    expect(glued('userwho plays?')).toEqual(['system', 'user', 'assistant']);
    expect(glued('userWho sees "user"?')).toEqual(['system', 'user', 'assistant']);
  });

  test('a reply that somebody answers is a turn; glued to the text before, it is judged', () => {
    expect(turnsOf(prompt, 'Anna.\nuser\nWrong, try again.\nassistant\nBert.').slice(2)).toEqual([
      { role: 'assistant', confidence: 'marked', content: 'Anna.' },
      { role: 'user', confidence: 'inferred', content: 'Wrong, try again.' },
      { role: 'assistant', confidence: 'marked', content: 'Bert.' },
    ]);
    expect(turnsOf(prompt, 'Anna.user\nWrong, try again.\nassistant\nBert.').slice(2)).toEqual([
      { role: 'assistant', confidence: 'inferred', content: 'Anna.' },
      { role: 'user', confidence: 'inferred', content: 'Wrong, try again.' },
      { role: 'assistant', confidence: 'inferred', content: 'Bert.' },
    ]);
  });

  test('words of a user in a response are certain if the environment says them twice: a model writes headers, too', () => {
    const twice = 'Go.\nuser\nYou have 3 moves left.\nassistant\nLeft.\nuser\nYou have 2 moves left.\nassistant\nDone.';
    const users = turnsOf(prompt, twice).filter(({ role }) => role === 'user');
    expect(users.map(({ confidence }) => confidence)).toEqual(['marked', 'marked', 'marked']);
  });

  test('the system prompt that a template writes before an observation is its text, and masked', () => {
    for (const before of ['', 'assistant\n'])
      expect(
        turnsOf(
          prompt,
          `My code.\n${before}system\nYou are a helpful assistant.\nuser\nOutput: 3\nassistant\nIt is 3.`,
        ).slice(2),
      ).toEqual([
        { role: 'assistant', confidence: 'inferred', content: 'My code.' },
        { role: 'system', confidence: 'inferred', content: 'You are a helpful assistant.' },
        { role: 'user', confidence: 'inferred', content: 'Output: 3' },
        { role: 'assistant', confidence: 'inferred', content: 'It is 3.' },
      ]);
  });

  test.each([
    ['on a line', '\n'],
    ['behind a generation prompt', '\nassistant\n'],
    ['glued', ''],
  ])('that system prompt is masked before a tagged result, too: %s', (_, before) => {
    const call = '<tool_call>\n{"name": "run", "arguments": {}}\n</tool_call>';
    const response = `${call}${before}system\nYou are a helpful assistant.\nuser\n<tool_response>\n3\n</tool_response>\nassistant\nIt is 3.`;
    expect(turnsOf(prompt, response).slice(2)).toEqual([
      { role: 'assistant', confidence: 'inferred', content: call },
      { role: 'system', confidence: 'inferred', content: 'You are a helpful assistant.' },
      { role: 'tool', confidence: 'inferred', content: '3' },
      { role: 'assistant', confidence: 'inferred', content: 'It is 3.' },
    ]);
  });

  test('what a loop appends behind a generation prompt is never text of the model', () => {
    const words = fc.constantFrom('Summarise the last result.', 'Two turns are left.', 'Go on with the task.');
    const reply = fc.constantFrom('', '', '<think>\nHm.\n</think>\nIt is 3.', 'It is 3.');
    const observation = fc.oneof(
      words.map((said) => [{ role: 'user', content: said }]),
      words.map((said) => [
        { role: 'system', content: 'You are a helpful assistant.' },
        { role: 'user', content: said },
      ]),
      fc.constant([{ role: 'tool', content: '{"result": 3}' }]),
    );
    const written = ({ role, content }: { role: string; content: string }): string =>
      role === 'tool' ? `user\n<tool_response>\n${content}\n</tool_response>\n` : `${role}\n${content}\n`;
    const call = '<tool_call>\n{"name": "run", "arguments": {}}\n</tool_call>\n';
    fc.assert(
      fc.property(fc.array(fc.tuple(observation, reply), { minLength: 1, maxLength: 5 }), (rounds) => {
        const response = rounds.map(([said, next]) => `${said.map(written).join('')}assistant\n${next && `${next}\n`}`);
        const appended = rounds.flatMap(([said]) => said.map(({ content }) => content));
        const turns = turnsOf(prompt, `${call}${response.join('')}It is 3.`).slice(2);
        for (const { role, content } of turns)
          if (role === 'assistant') for (const text of appended) expect(content).not.toContain(text);
      }),
      { numRuns: 300 },
    );
  });

  test("a dialogue's last word is the user's, most likely", () => {
    expect(turnsOf(prompt, 'Anna.\nuser\nThanks! ###STOP###').slice(2)).toEqual([
      { role: 'assistant', confidence: 'inferred', content: 'Anna.' },
      { role: 'user', confidence: 'inferred', content: 'Thanks! ###STOP###' },
    ]);
  });

  test('a role word within a name is prose', () => {
    const response =
      'It is there.<|tool_calls_section_end|>find_user## Return of call_7\n{"user_id": 7, "user_name": "A"}assistantFound.';
    expect(turnsOf('systemYou help.userWho is 7?assistant', response).slice(3)).toEqual([
      { role: 'tool', confidence: 'marked', content: '{"user_id": 7, "user_name": "A"}' },
      { role: 'assistant', confidence: 'marked', content: 'Found.' },
    ]);
  });

  test('a sample as documents print it, role lines indented behind blank lines, has its turns, judged', () => {
    const turns = turnsOf(
      '\n\n  system\nUse `run`.\n\n\n  user\n2 * 3?\n\n\n  assistant\n',
      'assistant\n<think>\nI ask.\n\n\n  <tool_call>\n{"name": "run", "arguments": {"code": "6"}}\n</tool_call>\n\n\n  tool\n6\n\n\n\n  assistant\nSix.',
    );
    expect(turns.map(({ role, confidence, content }) => [role, confidence, content.slice(-12)])).toEqual([
      ['system', 'inferred', 'Use `run`.'],
      ['user', 'inferred', '2 * 3?'],
      ['assistant', 'inferred', '</tool_call>'],
      ['tool', 'inferred', '6'],
      ['assistant', 'inferred', 'Six.'],
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
    expect(found(`${prompt}<think>\n`, 'the\nuser\nsaid\nassistant\nso\n</think>\nAnna.').length).toBeGreaterThan(2);
  });

  test("tags that end the generation prompt are the template's in later turns too, and stay in the text", () => {
    const asked = `${prompt}<think>\n\n</think>\n\n`;
    const last = segmentChat(asked, 'Anna.\nuser\nAnd?\nassistant\n<think>\n\n</think>\n\nBert.').turns.at(-1)!;
    expect(last.pieces.map(({ kind, isGiven }) => [kind, isGiven ?? false])).toEqual([
      ['marker', false],
      ['text', true],
      ['text', false],
    ]);
  });

  test('a response that is the prompt again was never said by a model', () => {
    expect(turnsOf(prompt, prompt).at(-1)).toEqual({ role: 'assistant', confidence: 'unknown', content: prompt });
  });

  test('a prompt that lost its start is known by its end', () => {
    expect(turnsOf('word word\nassistant\n', 'Anna.')).toEqual([
      { role: 'user', confidence: 'inferred', content: 'word word' },
      { role: 'assistant', confidence: 'marked', content: 'Anna.' },
    ]);
  });

  test('text without a template is the prompt and what the model made of it, most likely', () => {
    expect(turnsOf('Question: 1+1?\nAnswer:', ' 2')).toEqual([
      { role: 'user', confidence: 'inferred', content: 'Question: 1+1?\nAnswer:' },
      { role: 'assistant', confidence: 'inferred', content: ' 2' },
    ]);
  });

  test('text without a template that holds another voice is one block with an unknown mask', () => {
    for (const response of [
      ' 2\nHuman: And 2+2?\n',
      'Ask.\n<observation>\n3\n</observation>',
      'Where to?To Rome.Fine.',
    ])
      expect(turnsOf('Question: 1+1?\nAnswer:', response).at(-1)).toEqual({
        role: 'assistant',
        confidence: 'unknown',
        content: response,
      });
  });

  test('calls and results without a template are distinguished by the ids that join them', () => {
    const prompt = 'Be brief.[{"type": "function", "function": {"name": "calc", "parameters": {}}}]Six times seven?';
    const nemo =
      '[{"name": "calc", "arguments": {"e": "6*7"}, "id": "abcdefgh0"}]{"content": 42 so, "call_id": "abcdefgh0"}It is 42.';
    const small = 'calcabcdefgh0{"e": "6*7"}abcdefgh0{"value": 42}It is 42.';
    for (const response of [nemo, small])
      expect(turnsOf(prompt, response).map(({ role, confidence }) => [role, confidence])).toEqual([
        ['system', 'inferred'],
        ['user', 'inferred'],
        ['assistant', 'inferred'],
        ['tool', 'inferred'],
        ['assistant', 'inferred'],
      ]);
  });

  test('a header between a call and its result is no word of the model', () => {
    const call = '<tool_call>\n{"name": "calc", "arguments": {}}\n</tool_call>';
    const turns = (response: string) =>
      turnsOf('user\nq\nassistant\n', response)
        .slice(1)
        .map(({ role, confidence, content }) => [role, confidence, content.length]);
    const result = 'user\n<tool_response>\n1\n</tool_response>\nassistant\nSo.';
    expect(turns(`${call}\nassistant\n${result}`)).toEqual([
      ['assistant', 'inferred', call.length],
      ['tool', 'inferred', 1],
      ['assistant', 'inferred', 3],
    ]);
    expect(turns(`${call}\n${result}`).map(([, confidence]) => confidence)).toEqual(['marked', 'marked', 'marked']);
    expect(turns(`${call}\nassistant\nuser`)[0]).toEqual(['assistant', 'marked', call.length]);
  });

  test('a template that the user names is taken as it is; plain means no template', () => {
    const turns = (name: string) => segmentChat('Question: 1+1?\nAnswer:', ' 2', { name }).turns;
    expect(turns('plain').map(({ role, confidence }) => [role, confidence])).toEqual([
      ['user', 'marked'],
      ['assistant', 'marked'],
    ]);
    expect(turns('llama3').map(({ confidence }) => confidence)).toEqual(['unknown', 'unknown']);
  });
});
