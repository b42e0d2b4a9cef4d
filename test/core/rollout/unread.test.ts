import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { unknownText } from '../../../src/core/dump/unknown-records.ts';
import { suggestedMap } from '../../../src/core/formats/suggested-map.ts';
import { printJson } from '../../../src/core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/core/json/value.ts';
import { unreadOf } from '../../../src/core/rollout/unread.ts';
import { recordJson } from '../../../src/viewer/commands/row-json.ts';

function unread(record: JsonObject) {
  const { json, rollout } = parseLine(JSON.stringify(record), { validation: false });
  if (json === undefined || rollout === null) throw new Error('not read');
  return unreadOf(json, rollout);
}
const long = 'a text that is longer than twenty characters';

describe('content that is not shown', () => {
  test('a whole record leaves nothing', () => {
    expect(unread({ messages: [{ role: 'user', content: long }], note: `${long}!`, plan: { steps: [long] } })).toEqual(
      [],
    );
  });

  test('content below a key that no reader knows is counted by its path', () => {
    const blocks = [{ mystery: { text: long } }, { mystery: { text: `${long} and more` } }];
    expect(
      unread({
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: blocks },
        ],
      }),
    ).toEqual([{ path: 'messages[].content[].mystery.text', kind: 'text', size: 97, count: 2 }]);
  });

  test('JSON inside a string is compared by its parts', () => {
    const inner = JSON.stringify([{ shown: long }, { hidden: `${long} that nobody sees` }]);
    const messages = [{ role: 'user', content: long, secret: inner }];
    expect(unread({ messages }).map(({ path }) => path)).toEqual(['messages[].secret→[].hidden']);
  });

  test('attributes of OpenTelemetry are named by their keys', () => {
    const attributes = [{ key: 'some.input', value: { stringValue: long } }];
    expect(unread({ messages: [{ role: 'user', content: 'hi', attributes }] }).map(({ path }) => path)).toEqual([
      'messages[].attributes[]{some.input}',
    ]);
  });

  test('a list of numbers as long as tokens is content, ids and times are named last', () => {
    const ids = Array.from({ length: 30 }, (_, at) => at);
    const messages = [
      { role: 'assistant', content: 'yes', ids, span: 'd4e0159b-c3b6-4683-8dac-b8481177d823', few: [1, 2] },
    ];
    expect(unread({ messages })).toEqual([
      { path: 'messages[].ids', kind: 'numbers', size: 30, count: 1 },
      { path: 'messages[].span', kind: 'id', size: 36, count: 1 },
    ]);
  });

  test("an item's id and kind are no content, what it holds is", () => {
    const callId = 'call_abcdefghijklmnopqrstuvwxyz';
    const output = [
      { type: 'function_call', id: 'fc_abcdefghijklmnopqrstuvwxyz', call_id: callId, name: 'look', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: callId,
        output: 'sunny',
        note: long,
        itemTypes: ['a_kind_of_its_own_here'],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is sunny.' }] },
    ];
    const responses_create_params = { input: [{ role: 'user', content: 'How is the weather?' }] };
    const found = unread({ responses_create_params, response: { output } });
    const content = found.filter(({ kind }) => kind !== 'id');
    expect(content.map(({ path }) => path)).toEqual(['response.output[].note']);
    // A sentence or a blob is content under whatever key.
    const messages = [
      { role: 'user', content: 'hi', id: long, call_id: 'x'.repeat(201), valid: 'not_an_identifier_at_all' },
    ];
    expect(unread({ messages }).map(({ path, kind }) => [path, kind])).toEqual([
      ['messages[].call_id', 'text'],
      ['messages[].id', 'text'],
      ['messages[].valid', 'text'],
    ]);
  });
});

describe('records of no known form', () => {
  test.each([
    [{ conv: [{ who: 'user', said: 'a' }], quality: 0.5 }, 'turns=conv,role=who,text=said,score=quality'],
    [{ run: { dialog_turns: [{ role: 'user', content: 'a' }] } }, 'turns=run.dialog_turns'],
    [{ the_question: 'why?', final_answer: 'so' }, 'prompt=the_question,response=final_answer'],
    [{ x: 1, y: 'b' }, null],
  ])('%j is read by --map %s', (record, map) => {
    expect(suggestedMap(record as JsonObject)).toBe(map);
  });

  test('the keys of the first are named, and the map that may read it', () => {
    expect(unknownText({ count: 3, first: { conv: [{ who: 'user', said: 'a' }] } })).toBe(
      '3 records of no known form; keys of the first: conv; --map turns=conv,role=who,text=said may read them',
    );
  });
});

const samples = join(import.meta.dirname, '../../../../shared/data/traces');
const filesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : /\.(jsonl?|db)$/.test(name) ? [path] : [];
  });
const isThere = statSync(samples, { throwIfNoEntry: false }) !== undefined;

/** Strings of 20 characters and more, also those in JSON inside a string. */
function longTexts(value: JsonValue): string[] {
  if (typeof value === 'string') {
    if (value.length < 20) return [];
    try {
      const inner = JSON.parse(value) as JsonValue;
      if (typeof inner === 'object' && inner !== null) return longTexts(inner);
    } catch {}
    return [value];
  }
  if (Array.isArray(value)) return value.flatMap(longTexts);
  // The name of an attribute is part of the path.
  if (isJsonObject(value) && typeof value.key === 'string' && isJsonObject(value.value)) return longTexts(value.value);
  return isJsonObject(value) ? Object.values(value).flatMap((one) => (one === undefined ? [] : longTexts(one))) : [];
}

test.skipIf(!isThere)(
  'every long text of every sample is in `show --json`, or its path is (skipped without ../shared/data)',
  async () => {
    const lost: string[] = [];
    const dump = Dump.open(filesIn(samples));
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      for (let record = 0; record < file.count; record++) {
        const row = file.read(record);
        if (row.rollout === null || row.json === undefined) continue;
        const shown = JSON.parse(printJson(recordJson(row, null, null))) as JsonObject;
        const texts = new Set(longTexts(shown));
        const whole = [...texts].join('\n');
        const said = unreadOf(row.json, row.rollout).reduce((sum, one) => sum + one.size, 0);
        const missing = longTexts(row.json).filter((text) => !texts.has(text) && !whole.includes(text.trim()));
        const size = missing.reduce((sum, text) => sum + text.length, 0);
        if (size > said) lost.push(`${row.locator}: ${size} characters are missing, ${said} are named: ${missing[0]}`);
      }
    }
    dump.close();
    expect(lost).toEqual([]);
  },
);
