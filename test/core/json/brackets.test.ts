// A line made of brackets ends as a bad record before it fills the memory; a long record of a trainer is read.
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/core/json/parse.ts';
import { sharedProblem } from '../../../src/core/json/shared.ts';

const LENGTH = 30_000_000;
const filled = (text: string) => text.repeat(LENGTH / text.length);

describe('a long line', () => {
  it.each([
    ['of open lists', filled('['), 'nested too deep'],
    ['of open objects', filled('{"a":'), 'nested too deep'],
    ['of lists in lists', filled('[') + filled(']'), 'nested too deep'],
    ['of empty objects', `[${filled('{},')}{}]`, 'more brackets than a record has'],
    ['of empty lists in strings’ company', `["${filled('[')}",${filled('[],')}1]`, 'more brackets than a record has'],
    ['of small lists', `[${filled('[1],')}1]`, 'more brackets than a record has'],
    ['that is cut in a list', `[${filled('0,')}`, 'the text ends before the value does'],
    ['that is cut in a string', `["${filled('\\"')}`, 'the text ends before the value does'],
  ])('%s is refused', (_, text, reason) => {
    expect(() => parseJson(text)).toThrow(reason);
  });

  it('of log probabilities, of ids, of text full of brackets and escapes is read', () => {
    const triples = `[${'[-0.1234567, 12345, null], '.repeat(100_000)}[0]]`;
    expect((parseJson(triples) as unknown[]).length).toBe(100_001);
    expect((parseJson(`[${'12345,'.repeat(1_000_000)}0]`) as unknown[]).length).toBe(1_000_001);
    const text = '[{"\\'.repeat(1_000_000);
    expect(parseJson(JSON.stringify({ text }))).toEqual({ text });
    expect(parseJson(`{"a":[1,NaN],"b":"${'x'.repeat(2_000_000)}"}`)).toMatchObject({ a: [1, Number.NaN] });
  });
});

describe('parts that are one another’s', () => {
  it('are refused if they never end, or expand to too much', () => {
    const self: unknown[] = [];
    self.push([{ self }]);
    expect(sharedProblem(self)).toBe('it contains itself');
    let many: unknown[] = [1, 2, 3];
    for (let level = 0; level < 20; level++) many = [many, many, many];
    expect(sharedProblem(many)).toContain('more than 10000000 values');
  });

  it('are read where they are used twice, or lie deep', () => {
    const part = { a: [1] };
    expect(sharedProblem([part, part])).toBeNull();
    let deep: unknown[] = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(sharedProblem(deep)).toBeNull();
  });
});
