// `--config FILE`: SandboxFusion's own YAML. Its isolation, concurrency, data set and toolchain settings become
// this server's options; every other key is reported, so nobody relies on it.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { reasonOf } from '../../core/text/problems.ts';
import { thrownError } from '../../core/text/thrown.ts';
import { CLASS_NAMES, classNamed } from '../datasets/registry.ts';

const anyKeys = z.looseObject({});
const source = z.looseObject({ type: z.string(), path: z.string().optional() });
const config = z.looseObject({
  sandbox: z
    .looseObject({ isolation: z.enum(['none', 'lite']).optional(), max_concurrency: z.int().min(0).optional() })
    .optional(),
  dataset: z
    .looseObject({
      database: z.looseObject({ cache: z.looseObject({ sources: z.array(source) }).nullish() }).optional(),
      max_runner_concurrency: z.int().min(0).optional(),
      cpu_runner_url: z.string().nullish(),
      default_dataset_table: z.string().optional(),
      registry: z
        .array(z.looseObject({ class_name: z.string(), dataset_tables: z.record(z.string(), z.string()).nullish() }))
        .optional(),
    })
    .optional(),
  toolchains: z.array(z.string()).optional(),
  common: anyKeys.optional(),
});

/** Supported keys; any other is reported. */
const KNOWN = new Set([
  'sandbox.isolation',
  'sandbox.max_concurrency',
  'dataset.database.cache.sources',
  'dataset.max_runner_concurrency',
  'dataset.cpu_runner_url',
  'dataset.default_dataset_table',
  'dataset.registry',
  'toolchains',
]);

export interface FromConfig {
  maxConcurrency?: number;
  casesAtOnce?: number;
  /** Another server that runs the programs. */
  backend?: string;
  /** Each NAME:CLASS=FILE. */
  datasets: string[];
  toolchains: string[];
  /** Readable sentences. */
  notes: string[];
}

/** A placeholder of Python's string.Template. */
const HOLE = '$' + '{dataset_id}';
/** The value that means no limit. */
const ALL_CASES = 1000;

/** @throws {Error} naming the file, and the key that is wrong */
export function readConfig(file: string): FromConfig {
  const given = parsedYaml(file);
  const read = config.safeParse(given ?? {});
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`--config ${file}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { sandbox, dataset, toolchains = [] } = read.data;
  const notes = unknownKeys(given, '').map((key) => `--config ${file}: ${key} means nothing here`);
  if (sandbox?.isolation === 'none') {
    notes.push(
      `--config ${file}: sandbox.isolation none: programs are confined all the same; --backend unconfined --yes-unconfined runs them without`,
    );
  }
  const cases = dataset?.max_runner_concurrency;
  return {
    ...(sandbox?.max_concurrency && { maxConcurrency: sandbox.max_concurrency }),
    ...(cases !== undefined && { casesAtOnce: cases || ALL_CASES }),
    ...(dataset?.cpu_runner_url && { backend: dataset.cpu_runner_url }),
    datasets: dataset ? datasetsOf(file, dataset, notes) : [],
    toolchains: toolchains.map((folder) => resolve(dirname(file), folder)),
    notes,
  };
}

function parsedYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'), { maxAliasCount: 100 });
  } catch (error) {
    throw new Error(`--config ${file}: ${reasonOf(thrownError(error))}`);
  }
}

type DatasetPart = NonNullable<z.infer<typeof config>['dataset']>;

/** The tables of the local folders, under the names that the registry gives them. */
function datasetsOf(
  file: string,
  { database, registry = [], default_dataset_table }: DatasetPart,
  notes: string[],
): string[] {
  const folders: string[] = [];
  for (const { type, path } of database?.cache?.sources ?? []) {
    if (type !== 'local' || path === undefined) notes.push(`--config ${file}: tables of ${type} are not read here`);
    else folders.push(folderOf(file, path));
  }
  const table = (id: string) => default_dataset_table?.replace(HOLE, id) ?? `code_eval_${id}`;
  return registry.flatMap(({ class_name, dataset_tables }) => {
    if (!classNamed(class_name)) throw new Error(`--config ${file}: no class ${class_name}; known are ${CLASS_NAMES}`);
    return Object.entries(dataset_tables ?? {}).flatMap(([id, own]) => {
      const names = [own, table(id)].map((name) => `${name}.jsonl`);
      const found = folders
        .flatMap((folder) => names.map((name) => join(folder, name)))
        .find((path) => existsSync(path));
      if (found === undefined && folders.length > 0)
        notes.push(`--config ${file}: no ${basename(names[0] ?? '')} for dataset ${id}`);
      return found === undefined ? [] : [`${id}:${class_name}=${found}`];
    });
  });
}

/** Upstream's paths begin at its repository, two folders above its configurations. */
function folderOf(file: string, path: string): string {
  const places = [dirname(file), join(dirname(file), '../..'), process.cwd()].map((base) => resolve(base, path));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`--config ${file}: dataset.database.cache.sources: there is no ${path}`);
  return found;
}

function unknownKeys(value: unknown, prefix: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (KNOWN.has(key)) return [];
    const inner = [...KNOWN].some((known) => known.startsWith(`${key}.`));
    return inner ? unknownKeys(member, key) : [key];
  });
}
