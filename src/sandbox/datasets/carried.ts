// The two most requested data sets, bundled as they were published (fixtures/SOURCES.md lists
// their licences). They are read on first use; a file given by the user replaces them.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Table, tableOf } from './table.ts';

export const CARRIED = ['humaneval_python', 'mbpp'] as const;
type Name = (typeof CARRIED)[number];
export const isCarried = (name: string): name is Name => (CARRIED as readonly string[]).includes(name);

const tables = new Map<Name, Promise<Table>>();

export function carriedTable(name: Name): Promise<Table> {
  const known = tables.get(name);
  if (known) return known;
  const table = readCarried(name);
  tables.set(name, table);
  return table;
}

async function readCarried(name: Name): Promise<Table> {
  const file = `fixtures/datasets/${name}.jsonl.gz`;
  const packed = await readPacked(file);
  return tableOf(name, file, (await promisify(gunzip)(packed)).toString());
}

/** The package's root: above the bundle, above its folder of workers, or above this source file. */
async function readPacked(file: string): Promise<Buffer> {
  const places = ['../', '../../', '../../../'].map((up) => new URL(`${up}${file}`, import.meta.url));
  const place = places.find((url) => existsSync(url));
  if (place === undefined) throw new Error(`${file} is missing from this installation`);
  return readFile(place);
}
