import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { SETTINGS } from '../../src/engine/collect/setting-list.ts';
import { root } from '../program.ts';

it('notes/engine.md names every cause, tool class, interaction, reward and setting', async () => {
  // Other tests of this process register other tools and rewards.
  vi.resetModules();
  const { builtinRewards, FAULT_TABLE, toolClassNames } = await import('../../src/engine/index.ts');
  const { interactionClassNames } = await import('../../src/engine/interactions/registry.ts');
  const notes = readFileSync(join(root, 'notes/engine.md'), 'utf8');
  const names = [
    ...Object.keys(FAULT_TABLE),
    ...toolClassNames(),
    ...interactionClassNames(),
    ...builtinRewards().names,
    ...SETTINGS.flatMap(({ key, aliases = [] }) => [key, ...aliases]),
  ];
  expect(names.filter((name) => !notes.includes(`\`${name}\``))).toEqual([]);
});
