import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/core/json/value.ts';
import { rolloutsOf } from './rollouts-of.ts';

/** Files of all writers by hand, as the tests of eras have them. */
interface Era {
  name: string;
  files: Record<string, string>;
  isFolder: boolean;
}

const home = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'writer-options-'));
const each = (value: JsonValue, change: (object: JsonObject) => JsonObject): JsonValue =>
  Array.isArray(value)
    ? value.map((one) => each(one, change))
    : isJsonObject(value)
      ? change(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, each(one, change)])))
      : value;

const isMessage = (object: JsonObject): boolean => typeof object.role === 'string' && 'content' in object;
const ofMessages = (value: JsonValue, change: (message: JsonObject) => JsonObject): JsonValue =>
  each(value, (object) => (isMessage(object) ? change(object) : object));
const ofCalls = (value: JsonValue, change: (call: JsonObject) => JsonObject): JsonValue =>
  ofMessages(value, (message) =>
    Array.isArray(message.tool_calls)
      ? { ...message, tool_calls: message.tool_calls.map((call) => (isJsonObject(call) ? change(call) : call)) }
      : message,
  );
const isVoid = (content: JsonValue | undefined): boolean => content === '' || content === null;

/** Ways to write the same record: what a writer's versions and settings change, and what it adds. */
const OPTIONS: Record<string, (record: JsonValue) => JsonValue> = {
  'keys that nobody knows, and null ones': (record) => {
    const more = each(record, (object) =>
      'role' in object || ('id' in object && 'type' in object) ? { ...object, x_note: 'a note', x_null: null } : object,
    );
    return isJsonObject(more) ? { x_first: null, ...more, x_note: 'a note', x_object: { a: 1 } } : more;
  },
  'optional keys that are null': (record) =>
    ofMessages(record, (message) => ({
      tool_calls: null,
      function_call: null,
      refusal: null,
      audio: null,
      name: null,
      tool_call_id: null,
      reasoning_content: null,
      ...message,
    })),
  'a content as a list of one text': (record) =>
    ofMessages(record, (message) =>
      typeof message.content === 'string' && message.content !== ''
        ? { ...message, content: [{ type: 'text', text: message.content }] }
        : message,
    ),
  'arguments as an object, calls without a type': (record) =>
    ofCalls(record, ({ type: _, ...call }) => {
      const { function: called } = call;
      if (!isJsonObject(called) || typeof called.arguments !== 'string') return call;
      try {
        return { ...call, function: { ...called, arguments: JSON.parse(called.arguments) as JsonValue } };
      } catch {
        return call;
      }
    }),
  'arguments as a text': (record) =>
    ofCalls(record, (call) =>
      isJsonObject(call.function) && isJsonObject(call.function.arguments)
        ? { ...call, function: { ...call.function, arguments: JSON.stringify(call.function.arguments) } }
        : call,
    ),
  'a call without words has no content': (record) =>
    ofMessages(record, ({ content = null, ...message }) =>
      isVoid(content) && (message.tool_calls != null || message.function_call != null)
        ? message
        : { content, ...message },
    ),
};

/** Values that may never depend on how a record is written. */
async function factsOf(path: string): Promise<string[]> {
  const rollouts = await rolloutsOf(path);
  return rollouts.map(({ format, turns, score, ended, contexts, findings }) =>
    JSON.stringify({
      format,
      turns: turns.map(({ role, confidence, trained, text, toolCalls }) => [
        role,
        confidence,
        trained,
        text.trim(),
        toolCalls.map(({ name, resultTurn }) => [name, resultTurn]),
      ]),
      score,
      ended: ended.how,
      contexts: contexts?.length,
      errors: findings.filter(({ check }) => check === 'tool_error').map(({ turn }) => turn),
    }),
  );
}

function write(era: Era, how: string, change: (record: JsonValue) => JsonValue): string {
  const path = join(folder, how, era.name);
  for (const [file, text] of Object.entries(era.files)) {
    const place = era.isFolder ? join(path, file) : path;
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, changed(file, text, change));
  }
  return path;
}

function changed(file: string, text: string, change: (record: JsonValue) => JsonValue): string {
  const of = (one: string): string => JSON.stringify(change(JSON.parse(one) as JsonValue));
  try {
    if (file.endsWith('.jsonl'))
      return text
        .split('\n')
        .map((line) => (line === '' ? '' : of(line)))
        .join('\n');
    return /\.(?:json|traj)$/.test(file) ? of(text) : text;
  } catch {
    return text;
  }
}

const eras = readFileSync(join(home, 'eras.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Era);

/**
 * Any key of a prediction was predicted, and any key of an update is a node; a run that failed before it said anything is known by its two
 * keys alone.
 */
const HAVE_NO_MORE_KEYS = new Set(['dspy/react.jsonl', 'langgraph/updates.jsonl', 'openai-agents/lists.jsonl']);

/** @param isWhole every era of every writer with every option; else one of each writer, with one option */
export function spellRecords(isWhole: boolean): void {
  afterAll(() => rmSync(folder, { recursive: true }));
  const writers = new Set<string>();
  const chosen = eras.filter(({ name }) => {
    const writer = name.split('/')[0] ?? '';
    const isNew = !writers.has(writer);
    writers.add(writer);
    return isWhole ? !HAVE_NO_MORE_KEYS.has(name) : isNew;
  });
  const options = Object.entries(OPTIONS);
  test.each(options.map(([how, change], at) => [how, change, at] as const))('%s', async (how, change, at) => {
    for (const [i, era] of chosen.entries()) {
      if (!isWhole && i % options.length !== at) continue;
      const plain = write(era, 'plain', (record) => record);
      const other = write(era, how.replaceAll(/\W/g, '-'), change);
      expect(await factsOf(other), era.name).toEqual(await factsOf(plain));
    }
  });
}
