import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { ATTACKS } from './attack-table.ts';
import { faultsOf } from './run-attack.ts';
import { makeRootfs, missingPrograms } from './small-rootfs.ts';

const skips = (await worldProblem()) !== null || missingPrograms().length > 0;

describe.skipIf(skips)('a world holds a program that (skipped where no world can be made)', () => {
  const rootfs = mkdtempSync(join(tmpdir(), 'rootfs-'));
  if (!skips) makeRootfs(rootfs);
  it.each(ATTACKS.filter(({ short }) => short === true))('$name', async (attack) => {
    expect(await faultsOf(attack, rootfs)).toEqual([]);
  });
});
