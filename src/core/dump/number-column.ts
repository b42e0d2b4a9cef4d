/** The array types of a column, the smallest first, each with its marker for an unknown number. */
const FORMS = {
  u8: { make: (length: number) => new Uint8Array(length), unknown: 0xff },
  u16: { make: (length: number) => new Uint16Array(length), unknown: 0xffff },
  f32: { make: (length: number) => new Float32Array(length), unknown: Number.NaN },
  f64: { make: (length: number) => new Float64Array(length), unknown: Number.NaN },
} as const;

type Form = keyof typeof FORMS;
export const COLUMN_FORMS = Object.keys(FORMS) as [Form, ...Form[]];
type NumberArray = Uint8Array | Uint16Array | Float32Array | Float64Array;

/** A column as bytes: no array if every row has the same number. */
export type StoredNumbers =
  | { form: 'same'; length: number; value: number; values: null }
  | { form: Form; length: number; value: number; values: NumberArray };

/** One number per row, NaN if unknown, in the smallest type that holds all of them exactly. */
export class NumberColumn {
  #length = 0;
  #same = Number.NaN;
  #form: Form | null = null;
  #values: NumberArray = NO_VALUES;

  get length(): number {
    return this.#length;
  }

  /** The number that every row has; also NaN if no row has one. Undefined if they differ. */
  get same(): number | undefined {
    return this.#form === null ? this.#same : undefined;
  }

  at(row: number): number {
    if (row >= this.#length) return Number.NaN;
    if (this.#form === null) return this.#same;
    // Read here and not by a function that all kinds of lists pass through.
    const value = this.#values[row] ?? Number.NaN;
    return value === FORMS[this.#form].unknown ? Number.NaN : value;
  }

  /** Whether the number of each row passes; asked once if all have the same. */
  every(passes: (value: number) => boolean): boolean {
    if (this.#form === null) return this.#length === 0 || passes(this.#same);
    for (let row = 0; row < this.#length; row++) if (!passes(this.at(row))) return false;
    return true;
  }

  set(row: number, value: number): void {
    if (this.#form === null) {
      if (this.#length === 0) this.#same = value;
      if (Object.is(value, this.#same) && row <= this.#length) {
        this.#length = Math.max(this.#length, row + 1);
        return;
      }
      this.#spread(smallestForm(value, this.#same, row > this.#length ? Number.NaN : value), row + 1);
    } else if (!fits(this.#form, value)) this.#spread(smallestForm(value, value, value, this.#form), row + 1);
    if (row >= this.#values.length) this.#spread(this.#form!, row + 1);
    if (row > this.#length) this.#values.fill(FORMS[this.#form!].unknown, this.#length, row);
    this.#values[row] = Number.isNaN(value) ? FORMS[this.#form!].unknown : value;
    this.#length = Math.max(this.#length, row + 1);
  }

  /** Copies the rows from `from` on into `target`. */
  copyTo(target: Float64Array, at: number, length: number, from = 0): void {
    const known = Math.max(0, Math.min(length, this.#length - from));
    if (this.#form === null) target.fill(this.#same, at, at + known);
    else {
      const { unknown } = FORMS[this.#form];
      // The system copies and converts a list several times as fast as a loop.
      target.set(this.#values.subarray(from, from + known), at);
      if (!Number.isNaN(unknown))
        for (let row = at; row < at + known; row++) if (target[row] === unknown) target[row] = Number.NaN;
    }
    target.fill(Number.NaN, at + known, at + length);
  }

  /** All rows are known: if they have the same number, no list is kept, else one without room for more. */
  settle(): void {
    const values = this.#values.subarray(0, this.#length);
    if (values.every((value) => Object.is(value, values[0]))) {
      this.#same = this.at(0);
      this.#form = null;
      this.#values = NO_VALUES;
    } else if (values.length < this.#values.length) this.#values = values.slice();
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  store(): StoredNumbers {
    const length = this.#length;
    if (this.#form === null) return { form: 'same', length, value: this.#same, values: null };
    return { form: this.#form, length, value: 0, values: this.#values.subarray(0, length) };
  }

  static of(stored: StoredNumbers): NumberColumn {
    const column = new NumberColumn();
    column.#length = stored.length;
    if (stored.form === 'same') column.#same = stored.value;
    else {
      column.#form = stored.form;
      column.#values = stored.values;
    }
    return column;
  }

  /** Changes the type, or grows. */
  #spread(form: Form, length: number): void {
    const room = Math.max(64, length, this.#values.length, length > this.#values.length ? this.#length * 2 : 0);
    const values: NumberArray = FORMS[form].make(room);
    const unknown = FORMS[form].unknown;
    if (form === this.#form) values.set(this.#values.subarray(0, this.#length));
    else
      for (let row = 0; row < this.#length; row++) {
        const value = this.at(row);
        values[row] = Number.isNaN(value) ? unknown : value;
      }
    this.#form = form;
    this.#values = values;
  }
}

const NO_VALUES = new Uint8Array(0);

function fits(form: Form, value: number): boolean {
  if (Number.isNaN(value)) return true;
  if (form === 'f64') return true;
  if (form === 'f32') return Math.fround(value) === value;
  return Number.isInteger(value) && value >= 0 && value < FORMS[form].unknown && !Object.is(value, -0);
}

/** The smallest type, from `least` on, that holds these. */
function smallestForm(a: number, b: number, c: number, least: Form = 'u8'): Form {
  for (const form of COLUMN_FORMS.slice(COLUMN_FORMS.indexOf(least)))
    if (fits(form, a) && fits(form, b) && fits(form, c)) return form;
  return 'f64';
}

/** An array of that type over bytes aligned to 8. */
export function valuesOver(form: Form, bytes: Uint8Array, length: number): NumberArray {
  const { buffer, byteOffset } = bytes;
  if (form === 'u8') return new Uint8Array(buffer, byteOffset, length);
  if (form === 'u16') return new Uint16Array(buffer, byteOffset, length);
  return form === 'f32' ? new Float32Array(buffer, byteOffset, length) : new Float64Array(buffer, byteOffset, length);
}
