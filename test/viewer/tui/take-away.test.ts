import { expect, test } from 'vitest';
import { failureText } from '../../../src/viewer/tui/runner/take-away.ts';
import { TAKE_AWAY } from '../../../src/viewer/tui/update/take-away.ts';

const command = TAKE_AWAY.find(({ name }) => name === 'export');

test.each([
  [`--filter 'step == 40 && tool_errors > 0' --drop`, ['--filter', 'step == 40 && tool_errors > 0', '--drop']],
  [`--filter="label == 'good'"`, [`--filter=label == 'good'`]],
  ['--pass solved==1 --limit 500', ['--pass', 'solved==1', '--limit', '500']],
])('the options of :export are cut at spaces outside of quotes: %s', (text, options) => {
  expect(command?.action(`prompts it's.jsonl ${text}`, {} as never, {} as never)).toEqual({
    type: 'write-set',
    format: 'prompts',
    path: "it's.jsonl",
    options,
  });
});

test('an open quote is named before anything is written', () => {
  const check = (text: string) => command?.check?.(text, {} as never, {} as never);
  expect(check(`trl a.jsonl --filter 'step == 40`)).toBe('a quote is not closed');
  expect(check(`trl it's.jsonl --filter 'step == 40'`)).toBe(null);
});

test.each([
  ["rollout-viewer: --filter: no closing '\n  step == 'a\n          ^\n", "--filter: no closing '"],
  [
    'rollout-viewer: trl refuses a cut rollout (3 of them)\nrollout-viewer: nothing was written; --drop leaves them out\n',
    'nothing was written; --drop leaves them out: trl refuses a cut rollout (3 of them)',
  ],
  ['Killed\n', 'Killed'],
  ['', ''],
])('a failed export says one sentence, what to do first: %j', (errors, sentence) => {
  expect(failureText(errors)).toBe(sentence);
});
