import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { brokenWalls, importCycles } from '../scripts/structure.mjs';

test('each folder imports only what the table in scripts/structure.mjs allows', () => {
  expect(brokenWalls()).toEqual([]);
});

test('no file imports itself by way of others, types included', () => {
  expect(importCycles()).toEqual([]);
});

/** Names of the library are spelled as its users know them; inside they belong to other things. */
const LIBRARY_NAMES = ['CalculatorTool', 'RunCodeRequest', 'RunJupyterRequest', 'SubmitRequest', 'ToolCall'];

test('each exported name exists once', () => {
  const root = fileURLToPath(new URL('../src/', import.meta.url));
  const files = new Map<string, Set<string>>();
  for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))) {
    const source = readFileSync(join(root, file), 'utf8');
    const exported =
      /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|class|const|interface|type|enum) (\w+)/gm;
    for (const [, name] of source.matchAll(exported)) files.set(name!, (files.get(name!) ?? new Set()).add(file));
  }
  const twice = [...files].filter(([name, places]) => places.size > 1 && !LIBRARY_NAMES.includes(name));
  expect(twice.map(([name, places]) => `${name}: ${[...places].join(', ')}`)).toEqual([]);
});

test('no name of a helper or a type is declared in more than two files', () => {
  const root = fileURLToPath(new URL('../src/', import.meta.url));
  const files = new Map<string, Set<string>>();
  const declared =
    /^(?:export )?(?:(?:async )?function\*? (\w+)|(?:abstract )?class (\w+)|interface (\w+)|type (\w+)|const (\w+)(?:: [^=\n]+)? = (?:async )?(?:<[^>\n]*>)?\([^\n]*\)[^\n=]*=>)/gm;
  // Pages of the server hold scripts of their own in strings.
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !name.startsWith('sandbox/server/pages/'),
  );
  for (const file of sources)
    for (const [, ...names] of readFileSync(join(root, file), 'utf8').matchAll(declared)) {
      const name = names.find((one) => one !== undefined) ?? '';
      files.set(name, (files.get(name) ?? new Set()).add(file));
    }
  const many = [...files].filter(([, places]) => places.size > 2);
  expect(many.map(([name, places]) => `${name}: ${[...places].join(', ')}`)).toEqual([]);
});
