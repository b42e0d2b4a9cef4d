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
