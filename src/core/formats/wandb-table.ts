import type { JsonObject, JsonValue } from '../json/value.ts';
import { isJsonObject } from '../json/value.ts';
import { chatMessages } from './chat-messages.ts';
import type { Format } from './format.ts';
import { parsed } from './values.ts';

/** A table of Weights & Biases (`NAME.table.json`): columns, and rows of values. Each row is read as a record. */
export const wandbTable: Format = {
  name: 'wandb-table',
  basis: 'documentation',
  mapping: { rollouts: 'data[], by the names in columns' },
  detects: ({ columns, data }) =>
    Array.isArray(columns) &&
    columns.length > 0 &&
    columns.every((name) => typeof name === 'string') &&
    Array.isArray(data) &&
    data.every((row) => Array.isArray(row) && row.length === columns.length),
  split: ({ columns, data }) =>
    (data as JsonValue[][]).map((row): JsonObject => {
      const record: JsonObject = {};
      for (const [at, name] of (columns as string[]).entries()) record[name] = tableCell(row[at] ?? null);
      // Atropos' tables store the whole text of a rollout under the name of its tokens.
      if (typeof record.tokens === 'string' && record.score !== undefined && record.messages === undefined)
        return { ...record, tokens: null, prompt: '', response: record.tokens };
      return record;
    }),
  read: (record, context) => chatMessages.read(record, context),
};

/** A cell may hold a list or an object as JSON text. */
function tableCell(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  const inner = parsed(value);
  return Array.isArray(inner) || isJsonObject(inner) ? inner : value;
}
