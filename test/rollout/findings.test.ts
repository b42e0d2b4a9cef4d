import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseLine } from '../../src/dump/parse-line.ts';
import { CHECKS } from '../../src/rollout/checks.ts';

/** A record with the finding, one near it without, and one whose input is missing; `line` where it is no JSON. */
interface Case {
  finds: boolean;
  why: string;
  record?: object;
  line?: string;
}

const FOLDER = new URL('../../fixtures/findings/', import.meta.url);
const casesOf = (check: string): Case[] => JSON.parse(readFileSync(new URL(`${check}.json`, FOLDER), 'utf8'));

test('every check has a fixture, and every fixture a check', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(CHECKS.map((check) => `${check}.json`).sort());
});

describe.each(CHECKS)('%s', (check) => {
  const cases = casesOf(check);

  test('is shown with it and near it', () => {
    expect(new Set(cases.map(({ finds }) => finds))).toEqual(new Set([true, false]));
  });

  test.each(cases)('$why: $finds', ({ finds, record, line }) => {
    const { findings } = parseLine(line ?? JSON.stringify(record), { validation: false });
    expect(findings.some((finding) => finding.check === check)).toBe(finds);
  });
});
