// update is a function of its state, its action and what the store holds: it changes nothing that it is given, and reaches nothing else.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMANDS } from '../../../src/viewer/tui/keys/commands.ts';
import type { Action } from '../../../src/viewer/tui/state/action.ts';
import type { PromptId } from '../../../src/viewer/tui/state/prompt.ts';
import { initialState, type State } from '../../../src/viewer/tui/state/state.ts';
import { PROMPTS } from '../../../src/viewer/tui/update/prompt-kinds.ts';
import { update } from '../../../src/viewer/tui/update/update.ts';
import { smallRun } from '../../support/dump.ts';
import { withNothingOutside } from '../../support/nothing-outside.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
beforeAll(async () => {
  screen = await TestScreen.open({ ...smallRun(2, 8), '3.jsonl': ['{"broken', { text: 'no rollout' }] });
});
afterAll(() => screen.close());

/** Makes a write to any part of a value an error; what the dump owns is left alone. */
function frozen<Value>(value: Value, seen = new Set<unknown>()): Value {
  if (typeof value !== 'object' || value === null || seen.has(value)) return value;
  seen.add(value);
  if (value instanceof Map) {
    for (const [key, one] of value) {
      frozen(key, seen);
      frozen(one, seen);
    }
    const refuse = () => {
      throw new TypeError('a map of the state was written to');
    };
    if (Object.isExtensible(value)) Object.assign(value, { set: refuse, delete: refuse, clear: refuse });
    return Object.freeze(value);
  }
  const isOwn = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isOwn) return value;
  for (const one of Object.values(value)) frozen(one, seen);
  return Object.freeze(value);
}

const by = fc.integer({ min: -4, max: 4 }).filter((step) => step !== 0);
const place = fc.tuple(fc.nat(2), fc.nat(7)).map(([step, record]) => {
  const file = screen.dump.files[step]!;
  return { file, record: Math.min(record, file.count - 1) };
});
const text = fc.constantFrom('', 'John', '!', 'score==0', 'step 2', '2.jsonl:3', 'turns>', '(', '\\V+', 'raw', '7');
const keyName = fc.constantFrom(
  ...'abdefkloqsxy?9',
  'enter',
  'esc',
  'tab',
  'space',
  'up',
  'down',
  'left',
  'ctrl+s',
  'ctrl+w',
);
const where = { name: 'bubblewrap', why: '', asks: null, problem: null, before: [], stateful: false };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc
    .constantFrom(...COMMANDS)
    .chain((command) => fc.option(fc.integer({ min: 1, max: 5 })).map((n) => command.action(n))),
  fc.constantFrom(...(Object.keys(PROMPTS) as PromptId[])).map((prompt): Action => ({ type: 'prompt-open', prompt })),
  text.map((value): Action => ({ type: 'prompt-change', value })),
  text.map((value): Action => ({ type: 'prompt-edit', value, cursor: 0 })),
  fc.constantFrom<Action>({ type: 'prompt-submit' }, { type: 'prompt-close' }),
  by.map((step): Action => ({ type: 'prompt-move', by: step })),
  by.map((step): Action => ({ type: 'prompt-complete', by: step })),
  keyName.map((key): Action => ({ type: 'menu-key', key })),
  keyName.map((key): Action => ({ type: 'replay-key', key })),
  keyName.map((key): Action => ({ type: 'editor-key', key, text: key.length === 1 ? key : '' })),
  text.map((filter): Action => ({ type: 'filter', text: filter })),
  place.map((to): Action => ({ type: 'go', place: to, turn: null })),
  place.map((at): Action => ({ type: 'replay-where', place: at, call: 0, way: { repeat: 1, session: false }, where })),
  place.map(
    (at): Action => ({
      type: 'editor-open',
      subject: { kind: 'turn', place: at, turn: 1 },
      title: 't',
      text: 'x\ny',
    }),
  ),
  fc
    .record({ x: fc.nat(159), y: fc.nat(29), by, kind: fc.constantFrom('wheel' as const, 'press' as const) })
    .map((event): Action => ({ type: 'mouse', event })),
  fc
    .record({ columns: fc.integer({ min: 10, max: 220 }), rows: fc.integer({ min: 3, max: 60 }) })
    .map((size): Action => ({ type: 'resize', ...size })),
  fc.constantFrom<Action>(
    { type: 'dump-changed' },
    { type: 'rows-changed' },
    { type: 'search-found' },
    { type: 'alarm', text: 'low' },
    { type: 'replay-tick', now: 5 },
    { type: 'replay-idle', now: 6 },
    { type: 'filter-cancel' },
  ),
);

/** The result of an action once all the data that update needs on its way has been supplied. */
function outside(state: State, action: Action): ReturnType<typeof update> {
  const result = withNothingOutside(() => update(state, action, screen.data.known));
  const [effect] = result.effects;
  if (effect?.type !== 'load' || screen.data.bring(effect.want) !== null) return result;
  expect(result.state).toBe(state);
  return outside(state, effect.action);
}

test('any actions leave the state that they got as it was, give the same again, and reach no file, timer, clock or chance', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 25 }), (actions) => {
      let state: State = initialState(160, 30);
      for (const one of [{ type: 'dump-changed' } as const, ...actions]) {
        const before = frozen(state);
        const first = outside(before, frozen(one));
        const second = outside(before, one);
        screen.data.settle();
        expect(second.effects.map(({ type }) => type)).toEqual(first.effects.map(({ type }) => type));
        expect(second.state.transcript).toEqual(first.state.transcript);
        expect(second.state.message).toEqual(first.state.message);
        state = first.state;
        screen.data.look(state);
      }
    }),
    { numRuns: 100 },
  );
});

test('what reaches outside is caught where it is called', () => {
  const reaches: readonly (() => unknown)[] = [
    () => readFileSync('/dev/null'),
    () => setImmediate(() => {}),
    () => new Date(),
    () => performance.now(),
  ];
  for (const reach of reaches) expect(() => withNothingOutside(reach)).toThrow('was called');
  expect(readFileSync('/dev/null')).toHaveLength(0);
});

test('what the store does not hold is asked for, and the state stays until it is there', async () => {
  const other = await TestScreen.open(smallRun(2, 8));
  try {
    const { file } = other.state.list.cursor ?? {};
    const place = { file: file!, record: 6 };
    const { state, effects } = update(other.state, { type: 'go', place, turn: 2 }, other.data.known);
    expect(state).toBe(other.state);
    expect(effects).toMatchObject([{ type: 'load', action: { type: 'go' } }]);
    expect(other.do({ type: 'go', place, turn: 2 }).state.list.cursor).toEqual(place);
  } finally {
    other.close();
  }
});
