import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { engineImage } from '../../../src/sandbox/worlds/engine-image.ts';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { isInstalled } from '../../../src/sandbox/worlds/run-tool.ts';
import { holdsContract } from './contract.ts';
import { makeRootfs, missingPrograms } from './small-rootfs.ts';

const skips = (await worldProblem()) !== null || missingPrograms().length > 0 || !isInstalled('podman');

it.skipIf(skips)(
  'a world of an image of podman runs, is kept, and goes on (skipped without podman, or where no world can be made)',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'contract-'));
    const rootfs = join(home, 'rootfs');
    makeRootfs(rootfs);
    const name = `localhost/rollout-viewer-contract-${process.pid}:1`;
    execFileSync('sh', ['-c', 'tar -C "$1" -c . | podman import -q - "$2"', 'sh', rootfs, name], { stdio: 'ignore' });
    try {
      await holdsContract(() => engineImage(name, join(home, 'images'), { engine: 'podman', say: () => {} }));
    } finally {
      execFileSync('podman', ['rmi', '-f', name], { stdio: 'ignore' });
    }
  },
);
