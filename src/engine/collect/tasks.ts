import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { JsonError, parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import { shapeProblem } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { SessionId } from '../../sandbox/sessions/client.ts';
import type { Message } from '../common/message.ts';
import type { ToolKwargs } from '../request/tool-calls.ts';
import { instanceIdOf } from '../session/instance-id.ts';
import { withPictures } from './task-pictures.ts';

/** One prompt to make rollouts of. */
export interface Task {
  /** Its index among the tasks, from 0. */
  index: number;
  /** Stable when the file is sorted or grows: a hash of the task, plus a number if the same task repeats. */
  key: string;
  messages: Message[];
  groundTruth: JsonValue;
  dataSource: string | undefined;
  extraInfo: JsonObject;
  toolsKwargs: Record<string, ToolKwargs>;
  needToolsKwargs: boolean | undefined;
  toolSelection: readonly string[] | undefined;
  interactionKwargs: JsonObject | undefined;
  /** The id that starts the task's session: `instance_id` of the row or of its extra_info. */
  instanceId?: SessionId | null;
  /** The whole row, for user-defined environments. */
  row?: JsonObject;
}

const json = z.custom<JsonValue>(() => true);
const jsonObject = z.custom<JsonObject>((value) => isJsonObject(value as JsonValue));
const Kwargs = z.looseObject({
  create_kwargs: jsonObject.optional(),
  execute_kwargs: jsonObject.optional(),
  calc_reward_kwargs: jsonObject.optional(),
  release_kwargs: jsonObject.optional(),
});
/** A row of verl's data sets (`verl/utils/dataset/rl_dataset.py`) as JSON; parquet writes null for missing fields. */
const TaskLine = z.looseObject({
  prompt: z.union([
    z.string().min(1),
    z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(jsonObject)]) })).min(1),
  ]),
  ground_truth: json.optional(),
  reward_model: z.looseObject({ ground_truth: json.optional() }).nullish(),
  data_source: z.string().nullish(),
  instance_id: json.optional(),
  images: z.array(json).nullish(),
  extra_info: z
    .looseObject({
      tools_kwargs: z.record(z.string(), Kwargs.nullable()).nullish(),
      need_tools_kwargs: z.boolean().nullish(),
      tool_selection: z.array(z.string()).nullish(),
      interaction_kwargs: jsonObject.nullish(),
      data_source: z.string().nullish(),
    })
    .nullish(),
});

export interface TaskError {
  line: number;
  message: string;
}

/**
 * Reads a file of tasks: one JSON object per line (blank lines are skipped), or the rows of a parquet file. An invalid task is yielded as its
 * error; of a parquet file `line` counts rows.
 */
export async function* readTasks(path: string): AsyncGenerator<Task | TaskError> {
  const seen = new Map<string, number>();
  let index = 0;
  for await (const { line, value, problem } of path.endsWith('.parquet') ? parquetValues(path) : lineValues(path)) {
    const task = problem === null ? readTask(value, index, seen) : { message: problem };
    if ('message' in task) yield { line, message: task.message };
    else {
      index++;
      yield task;
    }
  }
}

type TaskEntry = { line: number; value: JsonValue; problem: string | null };

async function* parquetValues(path: string): AsyncGenerator<TaskEntry> {
  let line = 0;
  try {
    for await (const value of taskRows(path)) yield { line: ++line, value: withoutNulls(value), problem: null };
  } catch (error) {
    yield { line: line + 1, value: null, problem: `not a parquet file: ${errorMessage(error)}` };
  }
}

/** A struct column gives every row the keys of all rows; fields that a row lacks are null. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const own = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(own.map(([key, one]) => [key, withoutNulls(one)]));
}

async function* lineValues(path: string): AsyncGenerator<TaskEntry> {
  for await (const { line, text } of lines(path)) {
    if (text.trim() === '') continue;
    if (line === 1 && text.startsWith('PAR1')) {
      yield { line, value: null, problem: 'a parquet file; its name must end in .parquet' };
      return;
    }
    try {
      yield { line, value: parseJson(text), problem: null };
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      yield { line, value: null, problem: `not JSON: ${error.message} (character ${error.offset + 1})` };
    }
  }
}

function readTask(value: JsonValue, index: number, seen: Map<string, number>): Task | { message: string } {
  const parsed = TaskLine.safeParse(withPrompt(value));
  if (!parsed.success) return { message: `not a task: ${shapeProblem(parsed.error.issues)}` };
  const { prompt, ground_truth, reward_model, data_source, extra_info, images } = parsed.data;
  const hash = createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);
  const again = (seen.get(hash) ?? 0) + 1;
  seen.set(hash, again);
  const kwargs = Object.entries(extra_info?.tools_kwargs ?? {}).filter(([, own]) => own !== null);
  const messages: Message[] =
    typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : (prompt as unknown as Message[]);
  try {
    return {
      index,
      key: again === 1 ? hash : `${hash}-${again}`,
      messages: withPictures(messages, images ?? []),
      groundTruth: ground_truth ?? reward_model?.ground_truth ?? null,
      dataSource: data_source ?? extra_info?.data_source ?? undefined,
      extraInfo: (extra_info ?? {}) as JsonObject,
      toolsKwargs: Object.fromEntries(kwargs) as Record<string, ToolKwargs>,
      needToolsKwargs: extra_info?.need_tools_kwargs ?? undefined,
      toolSelection: extra_info?.tool_selection ?? undefined,
      interactionKwargs: extra_info?.interaction_kwargs ?? undefined,
      row: objectIn(value),
      instanceId:
        instanceIdOf(parsed.data.instance_id) ??
        instanceIdOf((extra_info as JsonObject | null | undefined)?.instance_id) ??
        instanceIdOf((extra_info as JsonObject | null | undefined)?.instance_hash),
    };
  } catch (error) {
    return { message: errorMessage(error) };
  }
}

/** A row without a prompt may still contain a question. */
const withPrompt = (row: JsonValue): JsonValue =>
  isJsonObject(row) && row.prompt === undefined && typeof row.question === 'string'
    ? { ...row, prompt: row.question }
    : row;

export const isTaskError = (entry: Task | TaskError): entry is TaskError => 'line' in entry;

/** Independent of the order of keys. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return printJson(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`);
  return `{${entries.join(',')}}`;
}

/** Split on 0x0A alone: U+2028 and the like occur inside strings. */
async function* lines(path: string): AsyncGenerator<{ line: number; text: string }> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 0;
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 });
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, start)) {
      line++;
      yield { line, text: decode(rest.subarray(start, end), line) };
      start = end + 1;
    }
    rest = rest.subarray(start);
  }
  if (rest.length > 0) yield { line: line + 1, text: decode(rest, line + 1) };
}

const decode = (bytes: Buffer, line: number): string => {
  const text = bytes.toString('utf8');
  return line === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text;
};

const ROWS_AT_ONCE = 1000;

/** The rows of a parquet file as JSON, in order; bytes are base64. @throws Error if it is not a parquet file */
async function* taskRows(path: string): AsyncGenerator<JsonValue> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const count = Number(metadata.num_rows);
  for (let rowStart = 0; rowStart < count; rowStart += ROWS_AT_ONCE) {
    const rowEnd = Math.min(count, rowStart + ROWS_AT_ONCE);
    // Without `utf8: false`, byte columns would be read as text.
    const rows = await parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd, utf8: false });
    for (const row of rows) yield asJson(row);
  }
}

function asJson(value: unknown): JsonValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(asJson);
  if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<number | bigint>)].map(asJson);
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, asJson(own)]));
  return value as JsonValue;
}
