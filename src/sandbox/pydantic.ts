// Request bodies checked the way pydantic 2 checks them in lax mode (sandboxfusion.md, section 1): a small table of
// fields per request gives both the typed value and the `detail` list of a 422. zod's issues carry neither pydantic's
// codes nor its coercions ("5" is a float, true is 1.0, 1024.0 is an int), so requests are read here and answers by zod.

type Loc = readonly (string | number)[];

/** One entry of a 422 body's `detail`. */
export interface Issue {
  type: string;
  loc: (string | number)[];
  msg: string;
  input: unknown;
  ctx?: Record<string, unknown>;
  url?: string;
}

const INVALID = Symbol('invalid');
type FieldReader<T> = (value: unknown, loc: Loc, issues: Issue[]) => T | typeof INVALID;

/** How one field is read, and its default when the key is missing. */
export interface PydanticField<T> {
  read: FieldReader<T>;
  fallback?: () => T;
  /** As OpenAPI spells it. */
  schema: Schema;
}

/** A JSON schema, as far as requests need it. */
export interface Schema {
  [key: string]: unknown;
}

export type Checked<T> = { ok: true; value: T } | { ok: false; detail: Issue[] };
export type PydanticModel<T> = PydanticField<T> & { check(body: unknown): Checked<T> };
export type Infer<M> = M extends PydanticField<infer T> ? T : never;

function addIssue(
  issues: Issue[],
  type: string,
  loc: Loc,
  msg: string,
  input: unknown,
  ctx?: Record<string, unknown>,
): typeof INVALID {
  const url = `https://errors.pydantic.dev/2.6/v/${type}`;
  issues.push({ type, loc: [...loc], msg, input, ...(ctx && { ctx }), url });
  return INVALID;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

export const optional = <T>(field: PydanticField<T>, fallback: T): PydanticField<T> => ({
  read: field.read,
  fallback: () => structuredClone(fallback),
  schema: { ...field.schema, default: fallback },
});

export const nullable = <T>(field: PydanticField<T>): PydanticField<T | null> => ({
  read: (value, loc, issues) => (value === null ? null : field.read(value, loc, issues)),
  fallback: () => null,
  schema: { anyOf: [field.schema, { type: 'null' }], default: null },
});

export const str: PydanticField<string> = {
  schema: { type: 'string' },
  read: (value, loc, issues) =>
    typeof value === 'string' ? value : addIssue(issues, 'string_type', loc, 'Input should be a valid string', value),
};

/** No two parts can match the same digits: otherwise a text of 200 kB of them blocks the server for 24 s. */
const FLOAT = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)$/i;

/** Python's float(text): single underscores may separate digits; inf and nan are numbers. */
export function parseFloatText(text: string): number | undefined {
  const plain = text.trim().replace(/(?<=\d)_(?=\d)/g, '');
  if (!FLOAT.test(plain)) return undefined;
  if (/nan$/i.test(plain)) return Number.NaN;
  if (/inf/i.test(plain)) return plain.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(plain);
}

export const float: PydanticField<number> = {
  schema: { type: 'number' },
  read(value, loc, issues) {
    if (isNumber(value)) return Number(value);
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value !== 'string') return addIssue(issues, 'float_type', loc, 'Input should be a valid number', value);
    const message = 'Input should be a valid number, unable to parse string as a number';
    return parseFloatText(value) ?? addIssue(issues, 'float_parsing', loc, message, value);
  },
};

/** CPython's bound (sys.set_int_max_str_digits); the time to parse an integer grows with the square of its length. */
const MAX_DIGITS = 4300;
const OVERSIZED = 'Unable to parse input string as an integer, exceeded maximum size';

/** A Python int: a bigint if a double would round it. */
const wholeNumber: FieldReader<number | bigint> = (value, loc, issues) => {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      return addIssue(issues, 'finite_number', loc, 'Input should be a finite number', value);
    if (Math.abs(value) >= 2 ** 63) return addIssue(issues, 'int_parsing_size', loc, OVERSIZED, value);
    if (Number.isInteger(value)) return value;
    const message = 'Input should be a valid integer, got a number with a fractional part';
    return addIssue(issues, 'int_from_float', loc, message, value);
  }
  if (typeof value !== 'string') return addIssue(issues, 'int_type', loc, 'Input should be a valid integer', value);
  const digits = /^\s*([+-]?\d+(?:_\d+)*)(?:\.0+)?\s*$/.exec(value)?.[1]?.replaceAll('_', '').replace('+', '');
  if (digits === undefined) {
    const message = 'Input should be a valid integer, unable to parse string as an integer';
    return addIssue(issues, 'int_parsing', loc, message, value);
  }
  if (digits.length > MAX_DIGITS) return addIssue(issues, 'int_parsing_size', loc, OVERSIZED, value);
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
};

export const int: PydanticField<number> = {
  schema: { type: 'integer' },
  read(value, loc, issues) {
    const number = wholeNumber(value, loc, issues);
    return number === INVALID ? INVALID : Number(number);
  },
};

const TRUE = new Set(['true', 't', 'yes', 'y', 'on', '1']);
const FALSE = new Set(['false', 'f', 'no', 'n', 'off', '0']);

export const bool: PydanticField<boolean> = {
  schema: { type: 'boolean' },
  read(value, loc, issues) {
    if (typeof value === 'boolean') return value;
    if (typeof value !== 'string' && !Number.isSafeInteger(value))
      return addIssue(issues, 'bool_type', loc, 'Input should be a valid boolean', value);
    const word = String(value).toLowerCase();
    if (TRUE.has(word)) return true;
    if (FALSE.has(word)) return false;
    return addIssue(issues, 'bool_parsing', loc, 'Input should be a valid boolean, unable to interpret input', value);
  },
};

/** `Union[int, str]` of a problem's id: an exact type wins, otherwise int is tried first. */
export const intOrStr: PydanticField<number | bigint | string> = {
  schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  read(value, loc, issues) {
    if (typeof value === 'string') return value;
    const faults: Issue[] = [];
    const number = wholeNumber(value, [...loc, 'int'], faults);
    if (number !== INVALID) return number;
    str.read(value, [...loc, 'str'], faults);
    issues.push(...faults);
    return INVALID;
  },
};

export function literal<T extends string>(words: readonly T[]): PydanticField<T> {
  const quoted = words.map((word) => `'${word}'`);
  const expected =
    quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1]}` : (quoted[0] ?? '');
  return {
    schema: { type: 'string', enum: [...words] },
    read: (value, loc, issues) =>
      words.find((word) => word === value) ??
      addIssue(issues, 'literal_error', loc, `Input should be ${expected}`, value, { expected }),
  };
}

export const anything: PydanticField<unknown> = { read: (value) => value, schema: {} };

export const list = <T>(item: PydanticField<T>): PydanticField<T[]> => ({
  schema: { type: 'array', items: item.schema },
  read(value, loc, issues) {
    if (!Array.isArray(value)) return addIssue(issues, 'list_type', loc, 'Input should be a valid list', value);
    const items = value.map((one, index) => item.read(one, [...loc, index], issues));
    return items.includes(INVALID) ? INVALID : (items as T[]);
  },
});

export const dict = <T>(item: PydanticField<T>): PydanticField<Record<string, T>> => ({
  schema: { type: 'object', additionalProperties: item.schema },
  read(value, loc, issues) {
    if (!isRecord(value)) return addIssue(issues, 'dict_type', loc, 'Input should be a valid dictionary', value);
    const members = Object.entries(value).map(([key, one]) => [key, item.read(one, [...loc, key], issues)] as const);
    // fromEntries defines own properties: a file named "__proto__" stays a file.
    return members.some(([, one]) => one === INVALID) ? INVALID : (Object.fromEntries(members) as Record<string, T>);
  },
});

/** `Union[List[Dict], Dict]`: both branches complain when neither fits. */
export const rowOrRows: PydanticField<Record<string, unknown> | Record<string, unknown>[]> = {
  schema: { anyOf: [{ type: 'array', items: { type: 'object' } }, { type: 'object' }] },
  read(value, loc, issues) {
    const row = dict(anything);
    if (isRecord(value)) return row.read(value, loc, issues);
    const faults: Issue[] = [];
    const rows = list(row).read(value, [...loc, 'list[dict[str,any]]'], faults);
    if (rows !== INVALID) return rows;
    row.read(value, [...loc, 'dict[str,any]'], faults);
    issues.push(...faults);
    return INVALID;
  },
};

type Fields = Record<string, PydanticField<unknown>>;
type Value<F extends Fields> = { [K in keyof F]: Infer<F[K]> };

/** A body's fields, in the order in which pydantic reports their faults. Unknown keys are ignored. */
export function model<F extends Fields>(fields: F): PydanticModel<Value<F>> {
  const read: FieldReader<Value<F>> = (value, loc, issues) => {
    if (!isRecord(value)) {
      const message = 'Input should be a valid dictionary or object to extract fields from';
      return addIssue(issues, 'model_attributes_type', loc, message, value);
    }
    const members = Object.entries(fields).map(([name, field]) => {
      if (Object.hasOwn(value, name)) return [name, field.read(value[name], [...loc, name], issues)] as const;
      if (field.fallback) return [name, field.fallback()] as const;
      return [name, addIssue(issues, 'missing', [...loc, name], 'Field required', value)] as const;
    });
    return members.some(([, one]) => one === INVALID) ? INVALID : (Object.fromEntries(members) as Value<F>);
  };
  const required = Object.entries(fields).flatMap(([name, { fallback }]) => (fallback ? [] : [name]));
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
  return {
    read,
    schema: { type: 'object', properties, ...(required.length > 0 && { required }) },
    check(body) {
      const issues: Issue[] = [];
      const value =
        body === null || body === undefined
          ? addIssue(issues, 'missing', ['body'], 'Field required', null)
          : read(body, ['body'], issues);
      return value === INVALID ? { ok: false, detail: issues } : { ok: true, value };
    },
  };
}
