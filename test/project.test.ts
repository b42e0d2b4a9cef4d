import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandTree } from '../src/viewer/commands/command-tree.ts';
import { VERBS } from '../src/viewer/commands/commands.ts';
import { execute } from './program.ts';

const home = new URL('../', import.meta.url);

test('the package depends at run time only on what the bundle does not hold', () => {
  const manifest = JSON.parse(readFileSync(new URL('package.json', home), 'utf8'));
  expect(Object.keys(manifest.dependencies)).toEqual(['node-sqlite3-wasm']);
  expect(Object.keys(manifest.optionalDependencies)).toEqual(['@aws-sdk/credential-provider-node', 'pyodide']);
});

test('each path that the guides to the code name is there', () => {
  for (const guide of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
    const named = readFileSync(new URL(guide, home), 'utf8').matchAll(/`([a-z]+\/[\w./-]*)[^`]*`/g);
    const lost = [...named]
      .map(([, path]) => path!)
      .filter((path) => !/[A-Z]{3}/.test(path))
      .filter(
        (path) => !['', 'src/'].some((root) => ['', '.ts'].some((end) => existsSync(new URL(root + path + end, home)))),
      );
    expect(lost, guide).toEqual([]);
  }
});

const guides = ['README.md', 'CONTRIBUTING.md'];

test('each npm script that a guide names is there', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', home), 'utf8')) as { scripts: object };
  for (const guide of guides) {
    const text = readFileSync(new URL(guide, home), 'utf8');
    const named = [...text.matchAll(/\bnpm run ([a-z:]+)/g)].map((match) => match[1] ?? '');
    expect(
      named.filter((name) => !(name in scripts)),
      guide,
    ).toEqual([]);
  }
});

test('each part has a page with its entries', () => {
  for (const part of ['core', 'analysis', 'sandbox', 'engine', 'replay', 'cluster', 'viewer']) {
    const page = readFileSync(new URL(`src/${part}/README.md`, home), 'utf8');
    expect(page.split('\n').length, part).toBeLessThanOrEqual(60);
    for (const word of ['does not know', '**Decisions**', '**Tests**', '## Entries'])
      expect(page, part).toContain(word);
    const entries = [...page.slice(page.indexOf('## Entries')).matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
    expect(
      entries.filter((path) => !existsSync(new URL(`src/${part}/${path}`, home))),
      part,
    ).toEqual([]);
  }
});

test('the README says how large the package is at most', async () => {
  const [, most] = /package of at most ([\d.]+) MB/.exec(readFileSync(new URL('README.md', home), 'utf8')) ?? [];
  const { stdout } = await execute('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
  const [{ size }] = JSON.parse(stdout) as [{ size: number }];
  expect(size).toBeGreaterThan(1_000_000);
  expect(size / 1e6).toBeLessThanOrEqual(Number(most));
});

test('each command and option that the README shows is one of the program', async () => {
  const commands = await commandTree(Object.values(VERBS));
  const text = readFileSync(new URL('README.md', home), 'utf8');
  const lines = [...text.matchAll(/^(?:rollout-viewer|npx \S+) +([^\n#]*)/gm)].map(([, line]) => (line ?? '').trim());
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) {
    const verb = commands.find(({ name }) => name !== '' && name === line.split(' ')[0]);
    const flags = (verb ?? commands.find(({ name }) => name === ''))?.flags.flatMap(({ names }) => names) ?? [];
    expect(
      [...line.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag).filter((flag) => !flags.includes(flag ?? '')),
    ).toEqual([]);
  }
  const [, answers = ''] = text.split('## Questions');
  const named = [...answers.split('##')[0]!.matchAll(/^\|.*\|.*\| (.*) \|$/gm)].flatMap(([, cell]) =>
    [...(cell ?? '').matchAll(/`([a-z]+)/g)].map(([, name]) => name ?? ''),
  );
  expect(named.filter((name) => !commands.some((command) => command.name === name))).toEqual([]);
});

test('the README and the page of the house are as short as they say', () => {
  const lines = (name: string) => readFileSync(new URL(name, home), 'utf8').trimEnd().split('\n').length;
  expect(lines('README.md')).toBeLessThanOrEqual(120);
  expect(lines('ARCHITECTURE.md')).toBeLessThanOrEqual(60);
});
