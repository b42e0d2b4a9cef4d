import { describe, expect, it } from 'vitest';
import { segmentChat } from '../../../src/core/chat/segment.ts';

/** Role, certainty and text of each turn. */
const turnsOf = (prompt: string, response: string): string[] =>
  segmentChat(prompt, response).turns.map(({ role, confidence, pieces }) => {
    const words = pieces
      .filter(({ kind }) => kind === 'text')
      .map(({ start, end }) => (prompt + response).slice(start, end));
    return `${role} ${confidence}: ${words.join('').trim()}`;
  });

const TOOLS = '[{"type": "function", "function": {"name": "get_user", "parameters": {}}}]';

describe('a dialogue of which a template leaves nothing between the texts', () => {
  it('is told by texts that touch and speak like an assistant and its user', () => {
    expect(
      turnsOf(
        `You are an airline agent.${TOOLS}Hi! I'd like to change my flight.`,
        'I can help you with that. Could you please provide your user ID?Sure, my user ID is mia_li_3668.Thank you, Mia. Which of your flights is it?',
      ).slice(2),
    ).toEqual([
      'assistant inferred: I can help you with that. Could you please provide your user ID?',
      'user inferred: Sure, my user ID is mia_li_3668.',
      'assistant inferred: Thank you, Mia. Which of your flights is it?',
    ]);
  });

  it('has calls, results by their ids, empty results and results in words', () => {
    expect(
      turnsOf(
        `You are an agent.${TOOLS}Who am I?`,
        'get_userabcdefgh0{"id": "7"}abcdefgh0get_userabcdefgh1{"id": "8"}abcdefgh1Error: no user 8I apologize, but there is no such user.',
      ).slice(2),
    ).toEqual([
      'assistant inferred: get_userabcdefgh0{"id": "7"}',
      'tool inferred: abcdefgh0',
      'assistant inferred: get_userabcdefgh1{"id": "8"}',
      'tool inferred: abcdefgh1Error: no user 8',
      'assistant inferred: I apologize, but there is no such user.',
    ]);
  });

  it('is unknown where no voice says who speaks', () => {
    const [, reply] = turnsOf('What is 7 + 8?', 'The sum is 15.So the answer is 15.');
    expect(reply).toBe('assistant unknown: The sum is 15.So the answer is 15.');
  });

  it('is unknown where one side speaks with the voice of the other', () => {
    const roles = turnsOf(
      'What is 7 + 8?',
      "I want my flight, I need my ticket.Please confirm your name, and let me know your seat, and your bags.I don't have my seat, and my bags are here.",
    );
    expect(roles[1]).toMatch(/^assistant unknown/);
  });

  it.each([
    'The reservation is IFOYYZ. See https://a.example/x.Html and e.g.The list.',
    'Use `np.random.Generator` and `=STDEV.P()`.',
    'Say \\[\\sqrt{10}x^4\\] or "yes." to go on.',
    '𝑥.𝑦 is 𝑧.𝑥 and 🙂 is 𝑤',
  ])('names, formulas and quotations are no place where two texts touch: %s', (reply) => {
    expect(turnsOf('Say it.', reply)[1]).toBe(`assistant inferred: ${reply}`);
  });
});

describe('a stripped text of GLM', () => {
  it("divides a reply from the user's next words at their line break, and the system text from the user's", () => {
    expect(
      turnsOf(
        '\nYou are an agent of an airline.\nI need help with my flight.',
        '\n<think></think>\nHere are your options:\n- a\n- b\n\nWhich one would you like?\nI want the first one.\n<think></think>\nDone.',
      ),
    ).toEqual([
      'system inferred: You are an agent of an airline.',
      'user inferred: I need help with my flight.',
      'assistant inferred: <think></think>\nHere are your options:\n- a\n- b\n\nWhich one would you like?',
      'user inferred: I want the first one.',
      'assistant inferred: <think></think>\nDone.',
    ]);
  });

  it('is unknown where several line breaks would do', () => {
    const roles = turnsOf('\nYou are an agent.\nGo.', '\n<think></think>\nOne.\nTwo.\nThree.\n<think></think>\nDone.');
    expect(roles[2]).toMatch(/^unknown unknown/);
  });
});

describe('a stripped text of Gemma 4', () => {
  const prompt = 'user\nMy booking, please.<|tool>declaration:get{}<tool|>\nmodel\n';
  const call = '<|tool_call>call:get{}<tool_call|><|tool_response>response:get{value:1}<tool_response|>';

  it('divides what a message with a call says from the message after it', () => {
    expect(turnsOf(prompt, `${call}I will look it up.\nYour booking is 1.\n`).slice(1)).toEqual([
      'assistant marked: <|tool_call>call:get{}<tool_call|>',
      'tool marked: {value:1}',
      'assistant inferred: I will look it up.',
      'assistant inferred: Your booking is 1.',
    ]);
  });

  it('a message with a call begins with the call', () => {
    expect(turnsOf(prompt, `${call}I look.\n${call}`)[3]).toBe('assistant marked: I look.');
  });

  it('a line break that may be one between two messages makes the turn inferred', () => {
    expect(turnsOf(prompt, `${call}It is one.\nIt is booked.`).at(-1)).toBe(
      'assistant inferred: It is one.\nIt is booked.',
    );
  });
});

describe('a stripped text of Seed-OSS', () => {
  it('is known by a response that begins with the header, too', () => {
    expect(turnsOf('system\nSolve it.user\nWhat is 7 × 3?', 'assistant\n21')).toEqual([
      'system marked: Solve it.',
      'user marked: What is 7 × 3?',
      'assistant marked: 21',
    ]);
  });
});

describe('a text of Command-R7B', () => {
  it('has a turn for each result of a list', () => {
    const result = (id: string): string =>
      `    {\n        "tool_call_id": "${id}",\n        "results": {\n            "0": "${id}${id}"\n        },\n        "is_error": null\n    }`;
    const roles = turnsOf(
      '<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Go.<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>',
      `<|START_ACTION|>[]<|END_ACTION|><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[\n${result('0')},\n${result('1')}\n]<|END_TOOL_RESULT|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>Done.`,
    );
    expect(roles.filter((one) => one.startsWith('tool'))).toHaveLength(2);
  });
});
