import { expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { saidBy } from '../../src/analysis/movement/said.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { writeDump } from '../support/dump.ts';

test('a result without a word is said in one, so that a tool that gives only such can be seen to begin', async () => {
  const answered = (result: string) => ({
    input: 'user\nq\nassistant\n',
    output: `<tool_call>\n{"name": "search", "arguments": {"q": "a"}}\n</tool_call>\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\nso 4`,
    score: 1,
    step: 1,
  });
  const empty = ['(0 rows)', 'No results found.', '{"result": []}', '{"results": null}', 'Empty set'];
  const full = ['(3 rows)', 'found 3', 'No one lives there.', '{"result": ["none of it"]}'];
  const { dir, remove } = writeDump({ '1.jsonl': ['[]', '{}', ...empty, ...full].map(answered) });
  const dump = Dump.open([dir]);
  try {
    const facts = await readFactRows(dump, null);
    const tools = (row: number) => saidBy(facts, row)?.tools;
    expect([0, 1].map(tools)).toEqual(['result_without_words', 'result_without_words']);
    for (const [at, text] of empty.entries())
      expect([text, tools(2 + at)?.endsWith('result_without_words')]).toEqual([text, true]);
    expect(full.map((_, at) => tools(2 + empty.length + at))).toEqual(full);
  } finally {
    dump.close();
    remove();
  }
});

test('empty answer tags, and several different boxed answers, are said in a word of their own', async () => {
  const outputs = [
    '<answer></answer>',
    '<answer> </answer><answer>4</answer>',
    '<answer>4</answer>',
    '\\boxed{4} or \\boxed{5}',
    '\\boxed{4}, so \\boxed{4}',
  ];
  const { dir, remove } = writeDump({
    '1.jsonl': outputs.map((output) => ({ input: 'user\nq\nassistant\n', output, score: 1, step: 1 })),
  });
  const dump = Dump.open([dir]);
  try {
    const facts = await readFactRows(dump, null);
    expect(outputs.map((_, row) => /[a-z]+_[a-z]+_[a-z]+/.exec(saidBy(facts, row)?.model ?? '')?.[0] ?? null)).toEqual([
      'empty_answer_tags',
      'empty_answer_tags',
      null,
      'several_boxed_answers',
      null,
    ]);
  } finally {
    dump.close();
    remove();
  }
});
