import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadEncoding } from '../../../src/core/chat/rendered.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { CHECKS, needOf } from '../../../src/core/rollout/checks.ts';
import { Facts, factRow } from '../../../src/core/rollout/fact-row.ts';
import { CHAT_TEMPLATE, TOKENIZER_JSON } from '../../engine/byte-tokenizer.ts';

/** A record with the finding, one near it without, and one whose input is missing (`observed` is false); `line` where it is no JSON. */
interface Case {
  finds: boolean;
  observed?: false;
  why: string;
  record?: object;
  line?: string;
  /** Read with the template and the tokenizer below. */
  encoding?: true;
}

const tokenizer = join(mkdtempSync(join(tmpdir(), 'rv-findings-')), 'tokenizer.json');
writeFileSync(tokenizer, JSON.stringify(TOKENIZER_JSON));
const ENCODING = {
  template: { source: CHAT_TEMPLATE, values: {}, specials: ['<|im_start|>', '<|im_end|>', '<|endoftext|>'] },
  tokenizer,
};
await loadEncoding(ENCODING);

const FOLDER = new URL('../../../fixtures/findings/', import.meta.url);
const casesOf = (check: string): Case[] => JSON.parse(readFileSync(new URL(`${check}.json`, FOLDER), 'utf8'));

test('every check has a fixture, and every fixture a check', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(CHECKS.map((check) => `${check}.json`).sort());
});

describe.each(CHECKS)('%s', (check) => {
  const cases = casesOf(check);

  test('is shown with it, near it, and where nothing can be seen', () => {
    const verdicts = cases.map(({ finds, observed }) => (observed === false ? 'unobserved' : finds));
    // Whether a line is a record can be seen of any line.
    const unobserved = needOf(check) === 'record' ? [] : ['unobserved'];
    expect(new Set(verdicts)).toEqual(new Set([true, false, ...unobserved]));
  });

  test.each(cases)('$why: $finds', ({ finds, observed, record, line, encoding }) => {
    const { rollout, findings } = parseLine(line ?? JSON.stringify(record), {
      validation: false,
      ...(encoding ? { encoding: ENCODING } : {}),
    });
    const facts = new Facts(factRow(rollout, findings));
    expect([facts.has(check), facts.isObserved(check)]).toEqual([finds, observed !== false]);
  });
});
