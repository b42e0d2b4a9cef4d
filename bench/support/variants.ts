import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Dump } from '../../src/core/dump/dump.ts';
import { countRollouts, parseLine } from '../../src/core/dump/parse-line.ts';
import { UsageError } from '../../src/core/dump/paths.ts';
import { parseJson } from '../../src/core/json/parse.ts';
import { printJson } from '../../src/core/json/print.ts';
import type { JsonValue } from '../../src/core/json/value.ts';
import { tokenTable } from '../../src/core/rollout/token-table.ts';

/** A larger record says no more. */
const LARGEST = 200_000;

const WRONG: JsonValue[] = [
  null,
  true,
  0,
  -100,
  1e308,
  Number.NaN,
  2n ** 70n,
  '',
  'x',
  '<think>',
  '[{',
  [],
  {},
  [null],
  [[]],
  [1, 2],
  { a: 1 },
];

/** Some values dropped, swapped, or of another type; those near the root more often. */
function changed(value: JsonValue, next: () => number): JsonValue {
  const copy = structuredClone(value);
  const places: [{ [key: string]: JsonValue }, string][] = [];
  const open: JsonValue[] = [copy];
  while (open.length > 0 && places.length < 4000) {
    const one = open.shift();
    if (typeof one !== 'object' || one === null) continue;
    const object = one as { [key: string]: JsonValue };
    for (const key of Object.keys(object)) {
      places.push([object, key]);
      open.push(object[key]!);
    }
  }
  for (let i = 0; i < 1 + next() * 3 && places.length > 0; i++) {
    const [object, key] = places[Math.floor(next() ** 2 * places.length)]!;
    const kind = next();
    if (kind < 0.2) delete object[key];
    else if (kind < 0.9) object[key] = WRONG[Math.floor(next() * WRONG.length)]!;
    else {
      const [other, name] = places[Math.floor(next() * places.length)]!;
      object[key] = structuredClone(other[name] ?? null);
    }
  }
  return copy;
}

/** Files with rollouts: those of all writers where they are at hand, else those of the project. */
function sampleFiles(root: string): string[] {
  const shared = join(process.env.RV_SHARED ?? join(root, '../shared'), 'data/formats');
  return existsSync(shared)
    ? readFileSync(join(shared, 'truth.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { file: string; rollouts: number })
        .filter(({ file, rollouts }) => rollouts > 0 && !file.endsWith('/'))
        .map(({ file }) => join(shared, file))
    : [join(root, 'fixtures/tau-airline/1.jsonl'), join(root, 'fixtures/rollout_data/train/3.jsonl')];
}

/** The first record of each sample. */
export async function sampleRecords(root: string): Promise<JsonValue[]> {
  const records: JsonValue[] = [];
  for (const path of sampleFiles(root)) {
    const dump = Dump.open([path]);
    const [file] = dump.files;
    await file!.buildIndex(() => true);
    const { raw } = file!.count > 0 ? file!.read(0) : { raw: '' };
    if (raw !== '' && raw.length < LARGEST) records.push(parseJson(raw));
    dump.close();
  }
  return records;
}

/** Reads a variant of a record; what does not hold together, or null. */
export function faultOf(record: JsonValue, next: () => number): string | null {
  const text = printJson(changed(record, next));
  const said = (why: string): string => `${why}: ${text.slice(0, 2000)}`;
  try {
    const count = countRollouts(text, { validation: false });
    for (let part = count === null ? 0 : 1; part <= Math.min(count ?? 0, 2); part++) {
      const { rollout, error } = parseLine(text, { validation: false }, part);
      if (/^not readable as/.test(error ?? '')) return said(error!);
      if (rollout === null) continue;
      const ends = new Map<string, number>();
      for (const { field, start, end } of rollout.spans) {
        if (start !== (ends.get(field) ?? 0)) return said(`a hole in ${field} at ${start}`);
        ends.set(field, end);
      }
      for (const { parts, text: body, index } of rollout.turns)
        if (parts.reduce((at, one) => (one.start === at ? one.end : -1), 0) !== body.length)
          return said(`the parts of turn ${index} do not cover it`);
      tokenTable(rollout, null);
    }
  } catch (error) {
    return said(`thrown: ${(error as Error).stack}`);
  }
  return null;
}

/** A larger file takes too long to be tried thousands of times. */
const LARGEST_FILE = 120_000;

/** Files whose bytes are changed, by their path; each is in a separate folder, so nothing beside it helps. */
export class DamagedFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'damaged-'));
  readonly #files: { name: string; bytes: Buffer }[];

  constructor(root: string) {
    this.#files = sampleFiles(root)
      .filter((path) => statSync(path).size < LARGEST_FILE)
      .map((path) => ({ name: basename(path), bytes: readFileSync(path) }));
  }

  get count(): number {
    return this.#files.length;
  }

  /** Opens a variant of the file of this number, and reads its first and last records. @returns what was wrong, or null */
  async faultOf(number: number, next: () => number): Promise<string | null> {
    const { name, bytes } = this.#files[number % this.#files.length]!;
    const { damaged, from } = damagedBytes(bytes, next);
    const folder = join(this.#folder, String(number % this.#files.length));
    mkdirSync(folder, { recursive: true });
    const path = join(folder, name);
    writeFileSync(path, damaged);
    try {
      const dump = Dump.open([path]);
      const [file] = dump.files;
      await file!.buildIndex(() => true);
      const rows = file!.count;
      for (const record of new Set([0, 1, rows - 1]))
        if (record >= 0 && record < rows && file!.read(record).error?.startsWith('not readable as'))
          return `${name}: ${file!.read(record).error}`;
      const kept =
        /\.jsonl$/.test(name) && file!.container === 'lines' && file!.copiedBytes === 0 ? linesBefore(bytes, from) : 0;
      dump.close();
      return rows < kept ? `${name}: ${rows} rows where ${kept} whole lines precede byte ${from}` : null;
    } catch (error) {
      // A file that is refused says why.
      return error instanceof UsageError ? null : `${name}: ${(error as Error).stack}`;
    }
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const linesBefore = (bytes: Buffer, end: number): number =>
  bytes
    .subarray(0, end)
    .toString('latin1')
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.trim() !== '').length;

/** Cut off, bytes changed, a piece taken out or written twice, two pieces exchanged; `from` is the first byte that may differ. */
function damagedBytes(bytes: Buffer, next: () => number): { damaged: Buffer; from: number } {
  const at = () => Math.floor(next() * bytes.length);
  const [a, b, c, d] = [at(), at(), at(), at()].sort((x, y) => x - y) as [number, number, number, number];
  const part = (start: number, end?: number) => bytes.subarray(start, end);
  const kind = Math.floor(next() * 5);
  if (kind === 0) return { damaged: part(0, a), from: a };
  if (kind === 1) return { damaged: Buffer.concat([part(0, a), part(b)]), from: a };
  if (kind === 2) return { damaged: Buffer.concat([part(0, b), part(a)]), from: b };
  if (kind === 3) return { damaged: Buffer.concat([part(0, a), part(c, d), part(b, c), part(a, b), part(d)]), from: a };
  const damaged = Buffer.from(bytes);
  for (let i = 0; i < 4; i++) damaged[[a, b, c, d][i]!] = Math.floor(next() * 256);
  return { damaged, from: a };
}
