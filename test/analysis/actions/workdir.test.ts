import { expect, it } from 'vitest';
import { workdirOf } from '../../../src/analysis/actions/workdir.ts';
import type { JsonValue } from '../../../src/core/json/value.ts';

const found = (state: JsonValue, action = 'ls -F\n') =>
  workdirOf({ extras: {}, turns: [] }, [], { trajectory: [{ action, state }] })?.path ?? null;

it('a SWE-agent record names the directory in its first state, which older versions keep as a JSON text', () => {
  expect(found({ open_file: 'n/a', working_dir: '/testbed' })).toBe('/testbed');
  expect(found('{"open_file": "n/a", "working_dir": "/repo"}\n')).toBe('/repo');
  expect(found('{"open_file": "n/a", "working_dir": "/re')).toBeNull();
  expect(found('{"working_dir": "/repo/src"}', 'cd src')).toBeNull();
});
