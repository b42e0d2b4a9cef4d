import { Parser } from 'pickleparser';
import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, listIn } from '../../json/value.ts';
import { bytesAsText } from './foreign-values.ts';
import type { CopyLine } from './lines-in.ts';
import { dtypeOf, rebuild, type Storage, Tensor } from './tensor.ts';

type PickleCall = (...values: never[]) => unknown;

/** The names that a torch pickle may import; building these runs no code from the file. */
const ALLOWED: Record<string, PickleCall> = {
  'collections.OrderedDict': (pairs: [unknown, unknown][] = []) => new Map(pairs),
  'torch._utils._rebuild_tensor': (storage: Storage, offset: number, size: number[], stride: number[]) =>
    rebuild(storage, offset, size, stride),
  'torch._utils._rebuild_tensor_v2': (storage: Storage, offset: number, size: number[], stride: number[]) =>
    rebuild(storage, offset, size, stride),
  'torch._utils._rebuild_tensor_v3': (
    storage: Storage,
    offset: number,
    size: number[],
    stride: number[],
    _grad: boolean,
    _hooks: unknown,
    type: string,
  ) => rebuild({ ...storage, type }, offset, size, stride),
  'torch._utils._rebuild_parameter': (tensor: Tensor) => tensor,
  'torch.Size': (sizes: number[]) => sizes,
};

/** @throws Error that names what the pickle tried to import */
function resolve(module: string, name: string): unknown {
  const asked = `${module}.${name}`;
  const known = ALLOWED[asked];
  if (known !== undefined) return known;
  const type = dtypeOf(module, name);
  if (type !== null) return Object.assign(() => type, { dtype: type });
  throw new Error(
    `the pickle asks for ${asked}: refused, since that could run code; only tensors, lists, texts and numbers are read. Export it as JSONL in the trainer's Python`,
  );
}

/**
 * A pickle's value as JSON. @param storage the bytes of a torch archive's storage, by key; plain pickles have none
 * @throws Error if it is not such a pickle, or imports anything but tensors
 */
export async function unpickle(
  bytes: Uint8Array,
  storage: (key: string) => Uint8Array | undefined,
): Promise<JsonValue> {
  const parser = new Parser({
    nameResolver: { resolve: resolve as never },
    persistentResolver: {
      resolve: (pid: unknown): Storage => {
        const [, type, key] = pid as unknown as [string, { dtype: string } | string, string];
        const found = storage(String(key));
        if (found === undefined) throw new Error(`the storage ${String(key)} of a tensor is missing`);
        return { bytes: found, type: typeof type === 'string' ? type : type.dtype };
      },
    },
    unpicklingTypeOfDictionary: 'Map',
  });
  return plainValueOf(quietly(() => parser.parse(bytes)));
}

/** The parser prints warnings about large integers to the console, which would corrupt the screen. */
function quietly<T>(parse: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return parse();
  } finally {
    console.warn = warn;
  }
}

function plainValueOf(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (value instanceof Tensor) return value.values();
  if (value instanceof Map) {
    const object: JsonObject = Object.create(null);
    for (const [key, one] of value) object[String(key)] = plainValueOf(one);
    return object;
  }
  if (value instanceof Uint8Array) return bytesAsText(value);
  if (Array.isArray(value)) return value.map(plainValueOf);
  if (typeof value === 'function') return 'dtype' in value ? `torch.${String(value.dtype)}` : null;
  if (typeof value === 'object') return plainValueOf(new Map(Object.entries(value)));
  return value as JsonValue;
}

/**
 * The rollouts of a pickled step, one per line: `{samples: […]}` by sample, and the columns of one rank
 * (`rollout_data`) by row. Other values of the object are added to each. Anything else is one record.
 */
export function* pickledRows(root: JsonValue): Generator<CopyLine> {
  if (!isJsonObject(root)) {
    const list = Array.isArray(root) ? root.flat() : [];
    const isSamples = list.some((one) => isJsonObject(one) && one.tokens !== undefined);
    if (isSamples) yield* pickledRows({ samples: list });
    else yield { text: printJson({ value: root }), place: ':1' };
    return;
  }
  const { samples, rollout_data: columns, ...rest } = root;
  // Samples may still be nested by prompt group.
  const rows = Array.isArray(samples) ? samples.flat() : isJsonObject(columns) ? pickleRows(columns) : null;
  if (rows === null) {
    yield { text: printJson(root), place: ':1' };
    return;
  }
  for (const sample of rows) yield { text: printJson({ ...rest, sample }) };
}

/** Lists of equal length are columns; any other value belongs to every row. */
function pickleRows(columns: JsonObject): JsonObject[] {
  const key = ['tokens', 'sample_indices', 'loss_masks', 'response_lengths'].find((name) =>
    Array.isArray(columns[name]),
  );
  const count = key === undefined ? 0 : listIn(columns[key]).length;
  return Array.from({ length: count }, (_, row) => {
    const object: JsonObject = Object.create(null);
    for (const [name, values] of Object.entries(columns))
      object[name] = Array.isArray(values) && values.length === count ? (values[row] ?? null) : values;
    return object;
  });
}
