import { expect, test } from 'vitest';
import type { ExportConversation } from '../../../src/analysis/export/conversation.ts';
import { Contamination, Copies } from '../../../src/analysis/export/copies.ts';

const WORDS = 'sum pear river nine green stone quick table under light seven house bird copper lamp paper'.split(' ');

/** Words that another number gives in another order. */
function words(count: number, seed: number): string {
  let state = seed * 2654435761 + 1;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    return `${WORDS[state % WORDS.length]}${state % 97}`;
  }).join(' ');
}

const conversation = (question: string, answer: string): ExportConversation =>
  ({
    prompt: question,
    response: 1,
    messages: [
      { role: 'user', text: question },
      { role: 'assistant', text: answer },
    ],
  }) as unknown as ExportConversation;

test('passages of an evaluation are found in 50 places, and none in a clean set', () => {
  const evaluation = Array.from({ length: 200 }, (_, at) => words(40, at));
  const against = new Contamination();
  for (const text of evaluation) against.add(text);
  for (let at = 0; at < 50; at++) {
    const passage = (evaluation[at * 3] ?? '')
      .split(' ')
      .slice(at % 20, (at % 20) + 13)
      .join(' ');
    expect(against.of(conversation(words(20, 1000 + at), `${words(30, 2000 + at)} ${passage}, ${words(9, at)}`))).toBe(
      'passage',
    );
    expect(against.of(conversation(`${evaluation[at]?.toUpperCase()}!`, words(30, 3000 + at)))).toBe('prompt');
    expect(against.of(conversation(words(20, 4000 + at), words(60, 5000 + at)))).toBe(null);
  }
});

test('an instruction that entries of the evaluation share is no passage of any', () => {
  const instruction = 'Think step by step, and give the final answer alone on the last line, within a box.';
  const asked = (seed: number) => `${words(20, seed)} altogether? ${instruction}`;
  const against = new Contamination();
  for (let at = 0; at < 40; at++) against.add(asked(at), `${at}`);
  for (let at = 0; at < 40; at++) {
    expect(against.of(conversation(asked(1000 + at), words(40, 2000 + at)))).toBe(null);
    const passage = asked(at).split(' ').slice(9);
    expect(against.of(conversation(asked(3000 + at), `As asked: ${passage.join(' ')}`))).toBe('passage');
  }
});

test('a short question is only found whole', () => {
  const against = new Contamination();
  against.add('What is 2+2?');
  expect(against.of(conversation('what is 2 + 2', 'Four.'))).toBe('prompt');
  expect(against.of(conversation('What is 2+2? And then?', 'Four.'))).toBe(null);
});

test('copies are answers to one prompt that are equal, or share most of their passages', () => {
  const copies = new Copies();
  const answer = words(200, 1);
  expect(copies.seen(conversation('p', answer))).toBe(null);
  expect(copies.seen(conversation('p', answer))).toBe('exact');
  expect(copies.seen(conversation('p', `${answer} indeed`))).toBe('near');
  expect(copies.seen(conversation('p', words(200, 2)))).toBe(null);
  expect(copies.seen(conversation('q', answer))).toBe(null);
});
