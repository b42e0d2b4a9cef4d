// docs/json.md names each key that a command prints with --json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isFact } from '../../../src/core/rollout/facts.ts';
import { commandTree } from '../../../src/viewer/commands/command-tree.ts';
import { VERBS } from '../../../src/viewer/commands/commands.ts';
import { ask, directoryWith, jsonLines } from '../../program.ts';

const page = readFileSync(new URL('../../../docs/json.md', import.meta.url), 'utf8');
const dump = 'fixtures/rollout_data';
const journal = directoryWith({});

/** The sections whose heading begins so. */
const sections = (heading: string): string =>
  page
    .split(/^(?=## )/m)
    .filter((section) => section.startsWith(`## \`${heading}`))
    .join('');

test('each command that takes --json has a section', async () => {
  const commands = await commandTree(Object.values(VERBS));
  const named = commands
    .filter(({ flags }) => flags.some(({ names }) => names.includes('--json')))
    .map(({ name }) => name);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !page.includes(`\n## \`${name} `))).toEqual([]);
});

describe('each key is named', () => {
  test.each<[heading: string, args: string[]]>([
    ['ls --json', ['ls', dump, '--limit', '2']],
    ['grep', ['grep', 'the', dump, '--limit', '2']],
    ['stats --json', ['stats', dump]],
    ['stats --of', ['stats', dump, '--of', 'score']],
    ['stats --by tool', ['stats', dump, '--by', 'tool']],
    ['signal', ['signal', dump]],
    ['groups', ['groups', dump]],
    ['groups', ['groups', dump, '--by-step']],
    ['matrix', ['matrix', dump]],
    ['movement', ['movement', dump]],
    ['triage', ['triage', dump]],
    ['errors', ['errors', dump]],
    ['audit', ['audit', dump]],
    ['compare', ['compare', dump, dump]],
    ['labels', ['labels', dump, '--journal', journal]],
    ['set', ['set', 'chosen', '--journal', journal]],
    ['set', ['set', '--journal', journal]],
    ['export', ['export', dump, '--to', 'messages', '--limit', '2', '--out', join(journal, 'out.jsonl')]],
    ['replay', ['replay', dump, '--no-exec', '--journal', journal]],
    ['replay', ['replay', dump, '--no-exec', '--table', '--journal', journal]],
    ['doctor', ['doctor']],
  ])('%s: %j', async (heading, args) => {
    if (args[0] === 'set' && args[1] === 'chosen') await ask(['set', 'chosen', 'add', dump, '--journal', journal]);
    if (args[0] === 'labels') await ask(['label', `${dump}/train/1.jsonl:1`, 'good', '--journal', journal]);
    const { stdout } = await ask([...args, '--json']);
    // The table of facts is written by scripts/readme-tables.mjs.
    const keys = new Set(
      jsonLines(stdout)
        .flatMap(Object.keys)
        .filter((key) => !isFact(key)),
    );
    expect(keys.size).toBeGreaterThan(0);
    const text = sections(heading);
    expect([...keys].filter((key) => !new RegExp(`(?<![\\w.])${key.replace('.', '\\.')}(?![\\w])`).test(text))).toEqual(
      [],
    );
  });
});
