// verl's own parsers on texts (recorded outside of this repository), beside the grammars that the engine reads with.
import { expect, test } from 'vitest';
import { toolGrammar } from '../../src/engine/request/tool-grammar.ts';
import { parseJson } from '../../src/json/parse.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { recorded } from './verl-truth.ts';

interface Call {
  name: string;
  arguments: string;
}
interface Case {
  format: string;
  text: string;
  tools: JsonObject[];
  verl: { content: string; calls: Call[] };
}

const cases: Case[] = recorded('parsers.jsonl');

const jsonOf = (text: string) => {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
};
const plain = (calls: readonly Call[]) => calls.map(({ name, arguments: args }) => [name, jsonOf(args)]);

const ours = ({ format, text, tools }: Case) => {
  const { calls, content } = toolGrammar(format).read(text, tools);
  return {
    calls: plain(calls.filter(({ error }) => error === null)),
    content,
    errors: calls.map(({ error }) => error),
  };
};

/** What verl runs and what the text means are two things here: each way in which they part, and why this engine keeps to the text. */
const PARTS: { why: string; holds: (one: Case) => boolean }[] = [
  {
    why: 'verl wants <|start|>assistant before a call of gpt-oss, and <|call|> behind it: tokens that a server takes away',
    holds: ({ format, text }) => format === 'gpt-oss' && !(text.startsWith('<|start|>') && text.includes('<|call|>')),
  },
  {
    why: 'verl takes reasoning that does not end for everything up to the next <|end|>, the call in it too',
    holds: ({ format, text }) => format === 'gpt-oss' && text.includes('analysis<|message|><|start|>'),
  },
  { why: 'no tool has a name with a blank', holds: ({ text }) => /functions\.\w+ \w+ /.test(text) },
  {
    why: 'verl gives an integer only from digits, and null for the text "null" where a text is asked for',
    holds: ({ format, text }) => format === 'qwen3_coder' && /\n\d+\.0\n|>\nnull\n/.test(text),
  },
  {
    why: 'verl runs a call of qwen3_coder that was cut in the middle of an argument',
    holds: ({ format, text }) =>
      format === 'qwen3_coder' && text.includes('<tool_call>') && !text.includes('</tool_call>'),
  },
  {
    why: 'without a schema verl makes JSON of what could be JSON, and trims it; a text stays a text here',
    holds: ({ format, text }) => ['seed', 'minimax'].includes(format) && /[">]\s?1<|> x </.test(text),
  },
  {
    why: 'verl runs no call of seed whose parameter does not end',
    holds: ({ format, text }) => format === 'seed' && !text.includes('</function>'),
  },
  {
    why: 'verl guesses a name that no tool has from the call’s number',
    holds: ({ format, text }) => format === 'kimi' && text.includes('mystery'),
  },
  {
    why: 'verl runs a call whose arguments are no JSON with none; here the model is told',
    holds: ({ format, text }) => format === 'kimi' && />bad</.test(text),
  },
  {
    why: 'verl splits a list of gemma4 at its commas, reads Python’s numbers and no name with a dash',
    holds: ({ format, text }) => format === 'gemma4' && /\[|_|\w-\w/.test(text.replace(/tool_call/g, '')),
  },
];

test.skipIf(cases.length === 0)('the calls are those that verl finds, but for the ways in which they part', () => {
  const differ = cases.filter((one) => {
    const { calls } = ours(one);
    return JSON.stringify(calls) !== JSON.stringify(plain(one.verl.calls));
  });
  expect(differ.filter((one) => !PARTS.some(({ holds }) => holds(one))).map((one) => [one.text, ours(one)])).toEqual(
    [],
  );
  expect(PARTS.filter(({ holds }) => !differ.some(holds)).map(({ why }) => why)).toEqual([]);
});

test.skipIf(cases.length === 0)('what is not a call is the turn’s text, as verl has it', () => {
  // verl keeps a byte order mark, drops the text behind a call of qwen3_coder, and takes reasoning and end tokens away.
  const isOther = ({ format, text }: Case) =>
    text.startsWith('\ufeff') ||
    (format === 'qwen3_coder' && /<\/tool_call>(?: y|<)|<tool_call><\/tool/.test(text)) ||
    text.includes('</think>') ||
    text === '<|endoftext|>' ||
    /^<[^>]*(?:section_begin\|>|DSML｜tool_calls>)$/.test(text);
  const same = cases.filter((one) => !PARTS.some(({ holds }) => holds(one)) && !isOther(one));
  expect(same.length).toBeGreaterThan(cases.length / 2);
  for (const one of same) expect([one.text, ours(one).content]).toEqual([one.text, one.verl.content.trimEnd()]);
});
