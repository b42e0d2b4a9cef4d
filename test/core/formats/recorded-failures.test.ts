import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { isJsonObject, type JsonValue } from '../../../src/core/json/value.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { recordedLines, sharedData } from '../../support/shared-data.ts';

const isWord = (value: JsonValue, words: RegExp): boolean => typeof value === 'string' && words.test(value);

/** Any writer's key for a failure. The readers' own lists are not used. */
function saysFailure(key: string, value: JsonValue): boolean {
  if (/^(?:is_?error|timed_?out|is_timeout|has_error|interrupted)$/i.test(key)) return value === true;
  if (/^(?:exit_?code|return_?code|exit_?status)$/i.test(key)) return typeof value === 'number' && value > 0;
  if (key === 'status') return isWord(value, /^(?:error(?:ed)?|fail(?:ed|ure)|timed?_?out|aborted|cancell?ed)$/i);
  return key === 'error' && (value === true || isJsonObject(value) || isWord(value, /\S/));
}

/** The innermost elements of lists in which a failure is recorded: one item may say it under several keys. */
function failedItems(value: JsonValue | undefined, item = '', path = ''): Set<string> {
  if (Array.isArray(value))
    return new Set(value.flatMap((one, at) => [...failedItems(one, `${path}/${at}`, `${path}/${at}`)]));
  const found = new Set<string>();
  if (!isJsonObject(value)) return found;
  for (const [key, one] of Object.entries(value)) {
    // The status of a whole log is not that of each of its samples.
    if (one === undefined || key === 'eval_log') continue;
    if (saysFailure(key, one)) found.add(item);
    else for (const inner of failedItems(one, item, `${path}/${key}`)) found.add(inner);
  }
  return found;
}

/** Failed results, calls that could not be parsed, and an end that was none of the model's. */
function saidBy({ findings, ended, contexts = [] }: Rollout): number {
  const calls = findings.filter(({ check }) => check === 'tool_error' || check === 'call_unparsed').length;
  const end = ended.how === 'aborted' || ended.how === 'length' ? 1 : 0;
  return contexts.reduce((sum, { own }) => sum + (own === undefined ? 0 : saidBy(own)), calls + end);
}

/** Records whose rollout says less than its keys, and why that is right. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'request-log/retry.jsonl': 'the request was sent again and answered: the rollout itself did not fail',
  'e/pi.jsonl': 'a command that the user ran is no call of the model',
  'goose/session.jsonl': 'a request noted as failed holds no call that could fail; its result is noted, too',
  'codex/agent-sessions-record-types.jsonl': 'a line of each type: the session goes on after the error',
};

interface Era {
  name: string;
  files: Record<string, string>;
  isFolder: boolean;
}

/** A key that may note a failure, outside of JSON in a string. */
const NOTED = /"(?:\w*error|exit_?(?:code|status)|return_?code|status|timed_?out|is_timeout|interrupted)"\s*:/i;

/** A text of JSON whose notes of success are notes of failure. */
const failed = (text: string): string =>
  text
    .replace(/("(?:is_?error|timed_?out|is_timeout|has_error|interrupted)"\s*:\s*)false/gi, '$1true')
    .replace(/("(?:exit_?code|return_?code|exit_?status)"\s*:\s*)0(?=\s*[,}])/gi, (_, key: string) => `${key}1`)
    .replace(/("status"\s*:\s*)"(?:success|succeeded|ok)"/g, '$1"error"');

interface Found {
  place: string;
  recorded: number;
  said: number;
}

/** All records of a file or a folder in which a failure is recorded. */
async function failuresOf(path: string, name: string): Promise<Found[]> {
  const dump = Dump.open([path]);
  const found: Found[] = [];
  for (const file of dump.files) {
    await file.buildIndex(() => true);
    for (let record = 0; record < file.count; record++) {
      const { json, rollout } = file.read(record);
      const recorded = failedItems(json).size;
      if (recorded > 0 && rollout !== null)
        found.push({ place: `${name} record ${record}`, recorded, said: saidBy(rollout) });
    }
  }
  dump.close();
  return found;
}

const home = mkdtempSync(join(tmpdir(), 'recorded-failures-'));
afterAll(() => rmSync(home, { recursive: true }));

describe('a failure that a record notes under any key is said by its rollout', () => {
  const met = new Set<string>();
  const told = (found: readonly Found[], name: string): Found[] => {
    const silent = found.filter(({ recorded, said }) => said < recorded);
    if (silent.length > 0 && OTHERWISE[name] !== undefined) met.add(name);
    return OTHERWISE[name] === undefined ? silent : [];
  };

  /** The records of each writer by hand, with its texts changed. */
  async function ofWriters(changed: (text: string) => string): Promise<{ count: number; silent: Found[] }> {
    let count = 0;
    const silent: Found[] = [];
    const folder = mkdtempSync(join(home, 'all-'));
    for (const line of readFileSync(join(import.meta.dirname, 'eras.jsonl'), 'utf8').split('\n')) {
      if (line === '') continue;
      const { name, files, isFolder } = JSON.parse(line) as Era;
      if (!Object.values(files).some((text) => NOTED.test(text))) continue;
      for (const [file, text] of Object.entries(files)) {
        const place = isFolder ? join(folder, name, file) : join(folder, name);
        mkdirSync(dirname(place), { recursive: true });
        writeFileSync(place, changed(text));
      }
      const found = await failuresOf(join(folder, name), name);
      count += found.length;
      silent.push(...told(found, name));
    }
    return { count, silent };
  }

  test('records of writers by hand', async () => {
    const { count, silent } = await ofWriters((text) => text);
    expect(silent).toEqual([]);
    expect(count).toBeGreaterThanOrEqual(8);
    expect([...met]).toEqual(['request-log/retry.jsonl']);
  });

  test('the same records, with what worked noted as failed', async () => {
    const { count, silent } = await ofWriters(failed);
    expect(silent).toEqual([]);
    expect(count).toBeGreaterThanOrEqual(8);
  });

  const files = recordedLines(join(sharedData, 'formats/truth.jsonl')).filter(
    ({ rollouts }) => rollouts > 0 && rollouts <= 10,
  );
  test.skipIf(files.length === 0)('files of the writers (skipped without ../shared/data)', async () => {
    const silent: Found[] = [];
    for (const { file } of files) silent.push(...told(await failuresOf(join(sharedData, 'formats', file), file), file));
    expect(silent).toEqual([]);
  });
});
