import { readdirSync } from 'node:fs';
import { JsonError, parseJson } from '../../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';
import { itemAt } from '../../lists/at.ts';
import { linesIn } from '../containers/text-lines.ts';
import { isFileInside } from '../stranger-file.ts';

/**
 * The updates of all producers, by the trace they refer to, in the order they were written
 * (`monitors/file/traces/update.py`).
 */
export async function annotations(folder: string): Promise<Map<string, JsonObject[]>> {
  const found = new Map<string, JsonObject[]>();
  const files = readdirSync(folder, { recursive: true }).map(String).sort();
  for (const name of files) {
    if (!/\.jsonl(\.zst)?$/.test(name) || /\.index\.jsonl/.test(name)) continue;
    if (!isFileInside(folder, `${folder}/${name}`)) continue;
    try {
      for await (const line of linesIn(`${folder}/${name}`)) addLine(found, line);
    } catch (error) {
      // The live chunk may end inside a frame; the frames before it count.
      if (!(error instanceof Error)) throw error;
    }
  }
  return found;
}

function addLine(found: Map<string, JsonObject[]>, line: string): void {
  try {
    const update = parseJson(line);
    if (!isJsonObject(update) || typeof update.trace_id !== 'string') return;
    const own = found.get(update.trace_id);
    if (own === undefined) found.set(update.trace_id, [update]);
    else own.push(update);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
}

const isNumbers = (value: JsonValue | undefined): value is JsonValue[] => Array.isArray(value);

/**
 * A trace with its updates. A branch's list covers all tokens from the root to its leaf, and a node takes the values
 * under its mask if they are complete; `is_masked` may contain nulls. `info` is merged deeply, and the later of two
 * values wins.
 */
export function foldOnto(trace: JsonObject, updates: readonly JsonObject[]): JsonObject {
  const nodes = (Array.isArray(trace.nodes) ? trace.nodes : []).map((node) => (isJsonObject(node) ? { ...node } : {}));
  const parents = nodes.map(({ parent }, at) =>
    typeof parent === 'number' && parent >= 0 && parent < at ? parent : null,
  );
  const inner = new Set(parents);
  const leaves = nodes.map((_, at) => at).filter((at) => !inner.has(at));
  let info = isJsonObject(trace.info) ? trace.info : {};
  for (const update of updates) {
    if (isJsonObject(update.info)) info = merged(info, update.info);
    for (const branch of Array.isArray(update.branches) ? update.branches : []) {
      const leaf = isJsonObject(branch) && typeof branch.index === 'number' ? leaves[branch.index] : undefined;
      if (leaf === undefined || !isJsonObject(branch)) continue;
      const path: number[] = [];
      for (let at: number | null = leaf; at !== null; at = parents[at] ?? null) path.push(at);
      path.reverse();
      for (const [key, values] of Object.entries(branch)) if (isNumbers(values)) layList(nodes, path, key, values);
    }
  }
  return { ...trace, nodes, info };
}

function layList(nodes: JsonObject[], path: readonly number[], key: string, values: readonly JsonValue[]): void {
  let at = 0;
  for (const index of path) {
    const node = itemAt(nodes, index);
    const width = Array.isArray(node.token_ids) ? node.token_ids.length : 0;
    const part = values.slice(at, at + width);
    at += width;
    if (part.length < width) return;
    const mask = Array.isArray(node.mask) ? node.mask : [];
    const own = part.filter((_, i) => mask[i] === true || mask[i] === 1);
    if (own.length === 0 || own.every((one) => one === null)) continue;
    if (key === 'is_masked' || !own.includes(null)) node[key] = own;
  }
}

function merged(into: JsonObject, from: JsonObject): JsonObject {
  const result = { ...into };
  for (const [key, value] of Object.entries(from)) {
    const before = result[key];
    result[key] = isJsonObject(before) && isJsonObject(value) ? merged(before, value) : value;
  }
  return result;
}
