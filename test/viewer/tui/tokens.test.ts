import { afterEach, expect, test } from 'vitest';
import { shownSections } from '../../../src/viewer/tui/rows/shown-sections.ts';
import { blocksOf } from '../../support/blocks-of.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen | undefined;
afterEach(() => screen?.close());

const exported = {
  schema_version: 1,
  step: 3,
  env_name: 'math',
  token_ids: [1, 2, 3, 4, 5],
  loss_mask: [false, true, true, true, true],
  inference_logprobs: [null, -0.1, -5, -0.2, -4],
  mismatch_kl: [null, 0, 0, 0, 0],
};

const textOf = (): string => {
  const { state, data } = screen!;
  const record = data.record(state.list.cursor!);
  const nothing = { group: '', groupFrom: '', advantage: null, labels: [] };
  const blocks = blocksOf(shownSections(record, state.display, new Map(), nothing, null));
  return [...blocks].map(({ text }) => text).join('\n');
};

test('the next unlikely token opens the view of tokens and goes from one to the next', async () => {
  screen = await TestScreen.open({ '3.jsonl': [JSON.stringify(exported)] });
  screen.do({ type: 'surprise', by: 1 });
  expect([screen.state.display.view, screen.state.transcript.turn]).toEqual(['tokens', 2]);
  screen.do({ type: 'surprise', by: 1 });
  expect(screen.state.transcript.turn).toBe(4);
  screen.do({ type: 'surprise', by: 1 });
  expect([screen.state.transcript.turn, screen.state.message?.text]).toEqual([4, 'no later token of less than 5 %']);
  screen.do({ type: 'surprise', by: -1 });
  expect(screen.state.transcript.turn).toBe(2);
  expect(textOf()).toContain('ids as they were recorded');
});

test('the mapping shows which key became what', async () => {
  screen = await TestScreen.open({ '3.jsonl': [JSON.stringify(exported)] });
  screen.do({ type: 'view', view: 'mapping' });
  expect(textOf()).toContain('prime-rl-tokens');
});

test('an object that no format knows is a tree, below what was looked for', async () => {
  screen = await TestScreen.open({ '3.jsonl': [JSON.stringify({ tot: { steps: [1] }, final: 2 })] });
  expect(textOf()).toMatch(
    /no format knows these keys: tot, final\n[\s\S]*--map turns=PLACE[\s\S]*▾ \{[\s\S]*final: 2/,
  );
});
