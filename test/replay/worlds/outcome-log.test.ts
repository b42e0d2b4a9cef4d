import { appendFileSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RecordedAction } from '../../../src/analysis/actions/action.ts';
import { OutcomeLog } from '../../../src/replay/worlds/outcome-log.ts';
import type { WorldOutcome } from '../../../src/replay/worlds/replay-world.ts';
import { LayerStore } from '../../../src/sandbox/worlds/layers.ts';

const outcome = (call: number): WorldOutcome => ({
  ...{
    call,
    turn: call,
    name: 'bash',
    verdict: 'same',
    rules: ['times'],
    tainted: false,
    exit: 0,
    recorded_exit: null,
  },
  ...{ reason: null, recorded: 'a', result: 'a', seconds: 0.5, processes: [] },
  changed: [{ path: '/a', type: 'file', mode: '0644', size: 1, sha256: null, change: 'added' }],
});
const action = (call: number): RecordedAction => ({
  ...{ call, turn: call, name: 'bash', result: 'a', resultTurn: null },
  action: { kind: 'none', mayChange: false, code: null, reason: '' },
});

function logOf(calls: readonly number[]): { log: OutcomeLog; say: (line: string) => void } {
  const store = new LayerStore(mkdtempSync(join(tmpdir(), 'outcomes-')), 'image');
  const log = new OutcomeLog(store, ['1'], { actions: calls.map(action) });
  log.add(outcome(0));
  const folder = join(store.folder, 'outcomes');
  const [name = ''] = readdirSync(folder);
  return { log, say: (line) => appendFileSync(join(folder, name), line) };
}

it('gives back the outcomes of an interrupted run', () => {
  const { log } = logOf([0, 2]);
  log.add(outcome(2));
  expect(log.read()).toEqual([outcome(0), outcome(2)]);
});

it.each([
  ['a cut line', JSON.stringify(outcome(1)).slice(0, 40)],
  ['a line without its end', JSON.stringify(outcome(1))],
  ['another verdict', `${JSON.stringify({ ...outcome(1), verdict: 'fine' })}\n`],
  ['a missing key', `${JSON.stringify({ ...outcome(1), changed: undefined })}\n`],
  ['another call', `${JSON.stringify(outcome(2))}\n`],
  ['no object', 'null\n'],
])('stops at %s', (_, line) => {
  const { log, say } = logOf([0, 1, 2]);
  say(line);
  say(`${JSON.stringify(outcome(1))}\n`);
  expect(log.read()).toEqual([outcome(0)]);
});
