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

describe('a dialogue whose template leaves nothing between the texts', () => {
  it('is recognised by texts that touch and speak like an assistant and its user', () => {
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

  it('has results in words that begin with a bracket, and parallel ones up to the next id', () => {
    const calls = 'get_userabcdefgh0{"id": "7"}get_userabcdefgh1{"id": "8"}';
    expect(
      turnsOf(
        `You are an agent.${TOOLS}Who am I?`,
        `${calls}abcdefgh0[Read a.txt: lines 1 to 9]\n\nThe first.abcdefgh1[Read b.txt]get_userabcdefgh2{"id": "9"}abcdefgh2{"name": "Mia"}`,
      ).slice(2),
    ).toEqual([
      `assistant inferred: ${calls}`,
      'tool inferred: abcdefgh0[Read a.txt: lines 1 to 9]\n\nThe first.',
      'tool inferred: abcdefgh1[Read b.txt]',
      'assistant inferred: get_userabcdefgh2{"id": "9"}',
      'tool inferred: abcdefgh2{"name": "Mia"}',
    ]);
  });

  it('keeps results in words together, as unknown, where several calls have no ids', () => {
    const calls = 'get_user{"id": "7"}get_user{"id": "8"}';
    const found = turnsOf(
      `You are an agent.${TOOLS}Who am I?`,
      `${calls}no user 7no user 8get_user{"id": "9"}{"a": 1}`,
    );
    expect(found.slice(3, 6)).toEqual([
      'assistant inferred: get_user{"id": "8"}',
      'unknown unknown: no user 7no user 8',
      'assistant inferred: get_user{"id": "9"}',
    ]);
  });

  it('does not take words that plan the next call for the end of a result', () => {
    const found = turnsOf(
      `You are an agent.${TOOLS}Who am I?`,
      'get_user{"id": "7"}bash-$We found the user. Let\'s ask for the other one get_user{"id": "8"}{"a": 1}',
    );
    expect(found[3]).toMatch(/^unknown unknown: bash-\$We found/);
  });

  it('is parted by the names of its speakers', () => {
    expect(
      turnsOf(
        'Solve it. What is 7 + 8?',
        'Assistant:\n<execute>7 + 8</execute>Observation:\n15Assistant:\nIt is <solution>15</solution>Observation:\nYour answer is right.',
      ).slice(1),
    ).toEqual([
      'assistant inferred: Assistant:\n<execute>7 + 8</execute>',
      'user inferred: Observation:\n15',
      'assistant inferred: Assistant:\nIt is <solution>15</solution>',
      'user inferred: Observation:\nYour answer is right.',
    ]);
  });

  it('begins with a system text that ends in a quotation or before a heading', () => {
    expect(turnsOf('Answer only "Yes" or "No"Is the sky blue?', 'Yes')).toEqual([
      'system inferred: Answer only "Yes" or "No"',
      'user inferred: Is the sky blue?',
      'assistant inferred: Yes',
    ]);
    expect(turnsOf('Think first.### Question\nWhy?', 'So.')[1]).toBe('user inferred: ### Question\nWhy?');
  });

  it.each(['Say <|im_end|> to stop.', 'As in\nassistant\nthat is all.', '[INST] is a token.'])(
    'is unknown where a text quotes what may part turns: %s',
    (said) => {
      for (const turn of turnsOf(`You are an airline agent.${TOOLS}Hi!`, said)) expect(turn).toContain(' unknown: ');
    },
  );

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

describe('a prompt of GLM without a system text', () => {
  it.each([
    'Please output CSV code:\n\nTask:\nGiven a recipe, write a row. No other words, please use commas.',
    '## Instruction\n\nYour task is to grade it.\nRead the rules.\nThere are no others.',
  ])('is not divided by its own words: %s', (said) => {
    expect(
      turnsOf(`\n${said}`, '\n<think></think>\nDone.').filter((turn) => /^(?:system|user) inferred/.test(turn)),
    ).toEqual([]);
  });

  it("parts a reply and the environment's words by its name", () => {
    expect(
      turnsOf(
        '\nWhat is 7 + 8?',
        '\n<think></think>\nAssistant:\nIt is 16.\nObservation:\nYour answer is wrong.\n<think></think>\nIt is 15.',
      ).slice(1),
    ).toEqual([
      'assistant inferred: <think></think>\nAssistant:\nIt is 16.',
      'user inferred: Observation:\nYour answer is wrong.',
      'assistant inferred: <think></think>\nIt is 15.',
    ]);
  });
});

describe('a stripped text of Gemma', () => {
  it('has a system text in the user turn, if one empty line is behind it', () => {
    const roles = (said: string) => turnsOf(`user\n${said}\nmodel\n`, 'Hi.').map((turn) => turn.split(' ')[0]);
    expect(roles('You are a poet.\n\nWrite a line.')).toEqual(['system', 'user', 'assistant']);
    expect(roles('You are a poet.\n\nYou know rhymes.\n\nWrite a line.')).toEqual(['user', 'assistant']);
    expect(roles('You are given a list.\n\nSort it.')).toEqual(['user', 'assistant']);
  });

  it('has code behind a word of announcement in the same turn', () => {
    expect(turnsOf('user\nRun it.\nmodel\n', 'Let me run it.\n```\nls\n```')).toHaveLength(2);
  });
});

describe('a stripped text of Kimi', () => {
  it("has the user's turn behind the template's own system prompt, however it begins", () => {
    const own = 'systemYou are Kimi, an AI assistant created by Moonshot AI.\n';
    for (const said of ['# Task', 'add 13', '[image]What?', '11. To mean'])
      expect(turnsOf(`${own}user${said}assistant`, 'Yes.')[1]).toBe(`user marked: ${said}`);
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
