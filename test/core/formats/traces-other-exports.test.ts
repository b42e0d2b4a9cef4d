import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteFile } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { JsonObject, JsonValue } from '../../../src/core/json/value.ts';
import { isJsonObject } from '../../../src/core/json/value.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';

const samples = join(import.meta.dirname, '../../../../shared/data/traces');
const home = mkdtempSync(join(tmpdir(), 'exports-'));

async function rolloutsIn(path: string): Promise<Rollout[]> {
  const dump = Dump.open([path]);
  const found: Rollout[] = [];
  for (const file of dump.files) {
    await file.buildIndex(() => true);
    for (let record = 0; record < file.count; record++) {
      const { rollout } = file.read(record);
      if (rollout !== null) found.push(rollout);
    }
  }
  dump.close();
  return found;
}

/** The rollouts as a reader sees them, in no order. */
const seen = (rollouts: readonly Rollout[]): string[] =>
  rollouts
    .map(({ turns }) =>
      JSON.stringify(turns.map(({ role, text, toolCalls }) => [role, text, toolCalls.map(({ name }) => name)])),
    )
    .sort();

const objects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** The spans of OTLP requests, each with its resource. */
function spansOf(requests: readonly JsonObject[]): { resource: JsonValue; scope: JsonValue; span: JsonObject }[] {
  return requests.flatMap((request) =>
    objects(request.resourceSpans).flatMap(({ resource, scopeSpans }) =>
      objects(scopeSpans).flatMap(({ scope, spans }) =>
        objects(spans).map((span) => ({ resource: resource ?? {}, scope: scope ?? {}, span })),
      ),
    ),
  );
}
type Spans = ReturnType<typeof spansOf>;

const request = (spans: Spans): JsonObject => ({
  resourceSpans: spans.map(({ resource, scope, span }) => ({ resource, scopeSpans: [{ scope, spans: [span] }] })),
});
const base64 = (hex: JsonValue | undefined): JsonValue =>
  typeof hex === 'string' ? Buffer.from(hex, 'hex').toString('base64') : null;
const snake = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
function snaked(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(snaked);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [snake(key), snaked(one)]));
}
function plain(value: JsonValue | undefined): JsonValue {
  if (!isJsonObject(value)) return value ?? null;
  const [[kind, held] = ['', null]] = Object.entries(value);
  if (kind === 'arrayValue') return isJsonObject(held) ? objects(held.values).map(plain) : [];
  return kind === 'intValue' ? Number(held) : (held ?? null);
}
const attributes = (span: JsonObject): JsonObject =>
  Object.fromEntries(objects(span.attributes).map(({ key, value }) => [String(key), plain(value)]));
function structured(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(structured) } };
  if (isJsonObject(value))
    return { kvlistValue: { values: Object.entries(value).map(([key, one]) => ({ key, value: structured(one) })) } };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { stringValue: value === null ? '' : String(value) };
}

const lines = (values: readonly JsonValue[]): string => values.map((one) => `${JSON.stringify(one)}\n`).join('');
const jaegerTag = ({ key, value }: JsonObject): JsonObject => {
  const held = plain(value);
  return typeof held === 'string'
    ? { key: key ?? null, type: 'string', value: held }
    : { key: key ?? null, type: 'string', value: JSON.stringify(held) };
};
const us = (nano: JsonValue | undefined) => Math.round(Number(nano) / 1000);

const EXPORTS: Record<string, (spans: Spans, requests: JsonObject[]) => string> = {
  'a span a line': (spans) => lines(spans.map((one) => request([one]))),
  'one document': (spans) => JSON.stringify(request(spans), null, 2),
  'a list of requests': (_, requests) => JSON.stringify(requests, null, 1),
  'last span first': (spans) => lines([...spans].reverse().map((one) => request([one]))),
  'by their ids': (spans) =>
    lines(
      [...spans]
        .sort((a, b) => String(a.span.spanId).localeCompare(String(b.span.spanId)))
        .map((one) => request([one])),
    ),
  'each span twice': (spans) => lines([...spans, ...spans].map((one) => request([one]))),
  "Tempo's batches": (spans) =>
    JSON.stringify({
      batches: spans.map(({ resource, scope, span }) => ({ resource, scopeSpans: [{ scope, spans: [span] }] })),
    }),
  "Tempo's trace": (spans) => JSON.stringify({ trace: request(spans) }),
  'instrumentation library spans': (spans) =>
    lines(
      spans.map(({ resource, scope, span }) => ({
        resourceSpans: [{ resource, instrumentationLibrarySpans: [{ instrumentationLibrary: scope, spans: [span] }] }],
      })),
    ),
  'names of protobuf': (spans) => lines(spans.map((one) => snaked(request([one])))),
  'ids of protobuf': (spans) =>
    lines(
      spans.map((one) =>
        request([
          {
            ...one,
            span: {
              ...one.span,
              traceId: base64(one.span.traceId),
              spanId: base64(one.span.spanId),
              parentSpanId: one.span.parentSpanId === undefined ? '' : base64(one.span.parentSpanId),
            },
          },
        ]),
      ),
    ),
  'numbers for times': (spans) =>
    lines(
      spans.map((one) =>
        request([
          {
            ...one,
            span: {
              ...one.span,
              startTimeUnixNano: Number(one.span.startTimeUnixNano),
              endTimeUnixNano: Number(one.span.endTimeUnixNano),
            },
          },
        ]),
      ),
    ),
  'structured messages': (spans) =>
    lines(
      spans.map((one) =>
        request([
          {
            ...one,
            span: {
              ...one.span,
              attributes: objects(one.span.attributes).map(({ key, value }) => {
                const held = plain(value);
                const isMessages =
                  typeof held === 'string' && /^\s*\[/.test(held) && /messages|instructions/.test(String(key));
                return {
                  key: key ?? null,
                  value: isMessages ? structured(JSON.parse(held) as JsonValue) : (value ?? null),
                };
              }),
            },
          },
        ]),
      ),
    ),
  Jaeger: (spans) =>
    JSON.stringify({
      data: [...new Set(spans.map(({ span }) => span.traceId))].map((traceID) => ({
        traceID,
        spans: spans
          .filter(({ span }) => span.traceId === traceID)
          .map(({ span }) => ({
            traceID,
            spanID: span.spanId ?? null,
            operationName: span.name ?? null,
            references:
              span.parentSpanId === undefined
                ? []
                : [{ refType: 'CHILD_OF', traceID: traceID ?? null, spanID: span.parentSpanId }],
            startTime: us(span.startTimeUnixNano),
            duration: us(span.endTimeUnixNano) - us(span.startTimeUnixNano),
            tags: [
              ...objects(span.attributes).map(jaegerTag),
              ...(isJsonObject(span.status) && span.status.code === 2
                ? [
                    { key: 'error', type: 'bool', value: true },
                    { key: 'otel.status_description', type: 'string', value: span.status.message ?? '' },
                  ]
                : []),
            ],
            logs: objects(span.events).map((event) => ({
              timestamp: us(event.timeUnixNano),
              fields: [
                { key: 'event', type: 'string', value: event.name ?? '' },
                ...objects(event.attributes).map(jaegerTag),
              ],
            })),
            processID: 'p1',
            warnings: null,
          })),
        processes: { p1: { serviceName: 'given', tags: [] } },
        warnings: null,
      })),
      total: 0,
      limit: 0,
      offset: 0,
      errors: null,
    }),
  Zipkin: (spans) =>
    JSON.stringify(
      spans.map(({ span }) => ({
        traceId: span.traceId ?? null,
        id: span.spanId ?? null,
        ...(span.parentSpanId === undefined ? {} : { parentId: span.parentSpanId }),
        name: span.name ?? null,
        timestamp: us(span.startTimeUnixNano),
        duration: us(span.endTimeUnixNano) - us(span.startTimeUnixNano),
        localEndpoint: { serviceName: 'given' },
        tags: Object.fromEntries(
          objects(span.attributes).map(({ key, value }) => {
            const held = plain(value);
            return [String(key), typeof held === 'string' ? held : JSON.stringify(held)];
          }),
        ),
      })),
    ),
  'spans of a console': (spans) =>
    spans
      .map(({ span, resource }) =>
        JSON.stringify(
          {
            name: span.name ?? null,
            context: { trace_id: `0x${String(span.traceId)}`, span_id: `0x${String(span.spanId)}`, trace_state: '[]' },
            kind: 'SpanKind.CLIENT',
            parent_id: span.parentSpanId === undefined ? null : `0x${String(span.parentSpanId)}`,
            start_time: new Date(Number(span.startTimeUnixNano) / 1e6).toISOString(),
            end_time: new Date(Number(span.endTimeUnixNano) / 1e6).toISOString(),
            status: {
              status_code: isJsonObject(span.status) && span.status.code === 2 ? 'ERROR' : 'UNSET',
              description: isJsonObject(span.status) ? (span.status.message ?? null) : null,
            },
            attributes: attributes(span),
            events: objects(span.events).map((event) => ({ name: event.name ?? null, attributes: attributes(event) })),
            links: [],
            resource: { attributes: attributes(isJsonObject(resource) ? resource : {}), schema_url: '' },
          },
          null,
          4,
        ),
      )
      .join('\n'),
};

const withSpan = (one: Spans[number], more: JsonObject): Spans[number] => ({ ...one, span: { ...one.span, ...more } });
const later = (nano: JsonValue | undefined, seconds: number): string =>
  String(BigInt(String(nano)) + BigInt(seconds) * 10n ** 9n);

/** Damage of the tree and the clocks: the histories are the same, and what is wrong is said. */
const DAMAGE: Record<string, { spans: (spans: Spans) => Spans; says: RegExp | null }> = {
  'parents that are not there': {
    spans: (spans) => spans.map((one) => withSpan(one, { parentSpanId: 'dead0000dead0000' })),
    says: /a parent that is not there/,
  },
  'parents that loop': {
    spans: (spans) => spans.map((one) => withSpan(one, { parentSpanId: one.span.spanId ?? null })),
    says: /own ancestors?$/,
  },
  'a clock that is an hour fast on every second span': {
    spans: (spans) =>
      spans.map((one, i) =>
        i % 2 === 0
          ? one
          : withSpan(one, {
              startTimeUnixNano: later(one.span.startTimeUnixNano, 3600),
              endTimeUnixNano: later(one.span.endTimeUnixNano, 3600),
            }),
      ),
    says: null,
  },
  'no times': {
    spans: (spans) =>
      spans.map(({ span: { startTimeUnixNano: _, endTimeUnixNano: __, ...span }, ...one }) => ({ ...one, span })),
    says: null,
  },
};

/** A span as a row of the table that Phoenix makes of spans, every value a text. */
function tableRow({ span }: Spans[number]): Record<string, string | null> {
  const text = (value: JsonValue | undefined): string | null =>
    value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);
  const events = objects(span.events).map((one) => ({ name: one.name ?? null, attributes: attributes(one) }));
  return {
    'context.trace_id': text(span.traceId),
    'context.span_id': text(span.spanId),
    parent_id: text(span.parentSpanId),
    name: text(span.name),
    start_time: new Date(Number(span.startTimeUnixNano) / 1e6).toISOString(),
    end_time: new Date(Number(span.endTimeUnixNano) / 1e6).toISOString(),
    status_code: isJsonObject(span.status) && span.status.code === 2 ? 'ERROR' : 'OK',
    status_message: isJsonObject(span.status) ? text(span.status.message) : null,
    events: JSON.stringify(events),
    ...Object.fromEntries(Object.entries(attributes(span)).map(([key, value]) => [`attributes.${key}`, text(value)])),
  };
}

type TableRows = ReturnType<typeof tableRow>[];
const columnsOf = (rows: TableRows): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];
const TABLES: Record<string, (path: string, rows: TableRows) => void> = {
  parquet: (filename, rows) =>
    parquetWriteFile({
      filename,
      columnData: columnsOf(rows).map((name) => ({ name, data: rows.map((row) => row[name] ?? null), type: 'STRING' })),
    }),
  csv: (path, rows) => {
    const cell = (value: string | null | undefined) => `"${(value ?? '').replaceAll('"', '""')}"`;
    const names = columnsOf(rows);
    writeFileSync(
      path,
      [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join()).join('\n'),
    );
  },
};

const FOLDERS = ['otel-genai', 'openinference', 'openllmetry', 'langfuse-otel'];
const recordsOf = (file: string): JsonObject[] =>
  readFileSync(join(samples, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
async function writtenAs(name: string, text: string): Promise<Rollout[]> {
  const path = join(home, name);
  writeFileSync(path, text);
  return rolloutsIn(path);
}

describe.skipIf(!existsSync(samples))('other exports of the same spans (skipped without ../shared/data)', () => {
  for (const folder of FOLDERS) {
    const file = `${folder}/traces.jsonl`;
    test.each(Object.entries(EXPORTS))(`${folder}: %s`, async (name, write) => {
      const requests = recordsOf(file);
      const path = `${folder}-${name.replaceAll(/\W/g, '_')}${DOCUMENTS.test(name) ? '.json' : '.jsonl'}`;
      const got = await writtenAs(path, write(spansOf(requests), requests));
      expect(seen(got)).toEqual(seen(await rolloutsIn(join(samples, file))));
    });

    test.each(Object.entries(DAMAGE))(`${folder}: %s`, async (name, { spans, says }) => {
      const damaged = spans(spansOf(recordsOf(file)));
      const got = await writtenAs(
        `${folder}-${name.replaceAll(/\W/g, '_')}.jsonl`,
        lines(damaged.map((one) => request([one]))),
      );
      expect(seen(got)).toEqual(seen(await rolloutsIn(join(samples, file))));
      if (says === null) return;
      for (const { extras } of got)
        expect(JSON.stringify(extras.problems)).toMatch(new RegExp(says.source.replace('$', '"')));
    });

    test.each(Object.entries(TABLES))(`${folder}: rows of a %s`, async (kind, write) => {
      const path = join(home, `${folder}.${kind}`);
      write(path, spansOf(recordsOf(file)).map(tableRow));
      expect(seen(await rolloutsIn(path))).toEqual(seen(await rolloutsIn(join(samples, file))));
    });

    test(`${folder}: contents that the tracer cut are never the model's end`, async () => {
      const cut = spansOf(recordsOf(file)).map((one) =>
        withSpan(one, {
          attributes: objects(one.span.attributes).map(({ key, value }) => {
            const held = plain(value);
            return {
              key: key ?? null,
              value: typeof held === 'string' ? { stringValue: held.slice(0, 120) } : (value ?? null),
            };
          }),
        }),
      );
      const got = await writtenAs(`${folder}-cut.jsonl`, lines(cut.map((one) => request([one]))));
      for (const { extras, ended, findings, turns } of got) {
        if (turns.length === 0) continue;
        expect([JSON.stringify(extras.problems), ended, findings.map(({ check }) => check)]).toEqual([
          expect.stringContaining('the tracer cut off contents'),
          ended,
          expect.not.arrayContaining(['cut_off', 'mid_word']),
        ]);
      }
    });
  }

  test.each([
    ['otel-genai-events/logs.jsonl', 'last first', (records: JsonObject[]) => [...records].reverse()],
    ['otel-genai-events/logs.jsonl', 'each twice', (records: JsonObject[]) => records.flatMap((one) => [one, one])],
    ['otel-genai-events/logs.jsonl', 'names of protobuf', (records: JsonObject[]) => records.map((one) => snaked(one))],
    ['langsmith/runs.jsonl', 'last first', (records: JsonObject[]) => [...records].reverse()],
    ['langsmith/runs.jsonl', 'each twice', (records: JsonObject[]) => records.flatMap((one) => [one, one])],
    [
      'langsmith/runs.jsonl',
      'parents not there',
      (records: JsonObject[]) => records.filter(({ parent_run_id: parent }) => parent != null),
    ],
    ['openai-agents/traces-chat.jsonl', 'last first', (records: JsonObject[]) => [...records].reverse()],
    ['openai-agents/traces-chat.jsonl', 'each twice', (records: JsonObject[]) => records.flatMap((one) => [one, one])],
  ])('%s, %s', async (file, name, change) => {
    const got = await writtenAs(
      `${file.replaceAll('/', '-')}-${name.replaceAll(' ', '_')}.jsonl`,
      lines(change(recordsOf(file))),
    );
    expect(seen(got)).toEqual(seen(await rolloutsIn(join(samples, file))));
  });
});

/** These are one document, not a record a line. */
const DOCUMENTS = /^(?:one|a list|Tempo|Jaeger|Zipkin)/;

test.each([
  ['.json', (events: object[]) => JSON.stringify(events)],
  ['.jsonl', (events: object[]) => events.map((event) => JSON.stringify(event)).join('\n')],
])('nodes that write nothing before the first messages of a stream leave it one rollout: %s', async (ending, text) => {
  const path = join(home, `stream${ending}`);
  const events = [
    ...Array.from({ length: 9 }, () => ({ before: null })),
    { user: { messages: [{ type: 'human', content: 'Where is it?', id: 'h' }] } },
    { agent: { messages: [{ type: 'ai', content: 'Here.', id: 'a', tool_calls: [] }] }, after: null },
  ];
  writeFileSync(path, text(events));
  const rollouts = await rolloutsIn(path);
  expect(rollouts.map(({ format, turns }) => [format, turns.map((turn) => turn.text)])).toEqual([
    ['langgraph', ['Where is it?', 'Here.']],
  ]);
});
