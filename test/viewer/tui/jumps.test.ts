import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DumpFile } from '../../../src/core/dump/dump-file.ts';
import { type Jump, type JumpList, noJumps } from '../../../src/viewer/tui/state/jumps.ts';
import { firstList } from '../../../src/viewer/tui/state/list.ts';
import { initialState, type State } from '../../../src/viewer/tui/state/state.ts';
import { jumpTo, withJump } from '../../../src/viewer/tui/update/jumps.ts';

const FILE = {} as DumpFile;
const at = (record: number): Jump => ({ place: { file: FILE, record }, turn: null, top: null });
const stateAt = (record: number, jumps: JumpList): State => ({
  ...initialState(80, 24),
  list: { ...firstList, cursor: { file: FILE, record } },
  jumps,
});

/** The reader at a record; `go` is a jump, `walk` is not, `back` and `forward` are < and >. */
class Reader {
  record = 0;
  jumps = noJumps;

  go(record: number): void {
    const before = stateAt(this.record, this.jumps);
    const action = { type: 'go', place: { file: FILE, record }, turn: null } as const;
    this.jumps = withJump(before, action, stateAt(record, this.jumps)).jumps;
    this.record = record;
  }

  walk(record: number): void {
    const before = stateAt(this.record, this.jumps);
    this.jumps = withJump(before, { type: 'sample', by: 1 }, stateAt(record, this.jumps)).jumps;
    this.record = record;
  }

  move(by: number, isThere = (_record: number): boolean => true): boolean {
    const found = jumpTo(this.jumps, at(this.record), by, ({ place }) => isThere(place.record));
    if (found === null) return false;
    this.jumps = found.jumps;
    this.record = found.to.place.record;
    return true;
  }
}

describe('the list of jumps', () => {
  test('goes back through the places before each jump and forth to where it began', () => {
    const reader = new Reader();
    for (const record of [10, 20, 30]) reader.go(record);
    const seen = [];
    while (reader.move(-1)) seen.push(reader.record);
    expect(seen).toEqual([20, 10, 0]);
    expect(reader.move(3)).toBe(true);
    expect(reader.record).toBe(30);
    expect(reader.move(1)).toBe(false);
  });

  test('a jump from the midst goes to the end, and a place is there once', () => {
    const reader = new Reader();
    for (const record of [10, 20]) reader.go(record);
    reader.move(-1);
    reader.go(40);
    expect(reader.jumps.list.map(({ place }) => place.record)).toEqual([0, 20, 10]);
    reader.move(-1);
    expect(reader.record).toBe(10);
  });

  test('keeps the newest hundred places', () => {
    const reader = new Reader();
    for (let record = 1; record <= 150; record++) reader.go(record);
    const seen = [];
    while (reader.move(-1)) seen.push(reader.record);
    expect([seen.length, seen[0], seen.at(-1)]).toEqual([99, 149, 51]);
  });

  test('a search that stays in the rollout is no jump, one that leaves it is', () => {
    const from = stateAt(1, noJumps);
    const within: State = { ...from, transcript: { ...from.transcript, turn: 4 } };
    const action = { type: 'search-next', by: 1 } as const;
    expect(withJump(from, action, within).jumps).toBe(noJumps);
    expect(withJump(from, action, stateAt(2, noJumps)).jumps.list).toEqual([at(1)]);
    expect(withJump(from, { type: 'bottom', line: null }, within).jumps.list).toEqual([at(1)]);
  });

  test('steps over what is gone or filtered out', () => {
    const reader = new Reader();
    for (const record of [10, 20, 30]) reader.go(record);
    reader.move(-1, (record) => record !== 20);
    expect(reader.record).toBe(10);
    expect(reader.move(-1, () => false)).toBe(false);
    expect(reader.record).toBe(10);
  });

  test('whatever is done: < after a jump comes back, > after < too, no place twice, at most a hundred', () => {
    const step = fc.record({ kind: fc.constantFrom('go', 'walk', 'back', 'forward'), record: fc.nat(150) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.nat(150), (steps, target) => {
        const reader = new Reader();
        for (const { kind, record } of steps) {
          if (kind === 'go') reader.go(record);
          else if (kind === 'walk') reader.walk(record);
          else reader.move(kind === 'back' ? -1 : 1);
          const places = reader.jumps.list.map(({ place }) => place.record);
          expect(new Set(places).size).toBe(places.length);
          expect(places.length).toBeLessThanOrEqual(100);
        }
        const from = reader.record;
        if (target === from) return;
        reader.go(target);
        expect(reader.move(-1)).toBe(true);
        expect(reader.record).toBe(from);
        expect(reader.move(1)).toBe(true);
        expect(reader.record).toBe(target);
      }),
    );
  });
});
