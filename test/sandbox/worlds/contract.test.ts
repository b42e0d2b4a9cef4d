import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { archiveImage } from '../../../src/sandbox/worlds/archive-image.ts';
import { openImage } from '../../../src/sandbox/worlds/images.ts';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { isInstalled } from '../../../src/sandbox/worlds/run-tool.ts';
import { holdsContract } from './contract.ts';
import { writeLayout } from './oci-layout.ts';
import { makeRootfs, missingPrograms } from './small-rootfs.ts';

const skips = (await worldProblem()) !== null || missingPrograms().length > 0;

describe.skipIf(skips)('a world of any image runs, is kept, and goes on (skipped where no world can be made)', () => {
  const home = mkdtempSync(join(tmpdir(), 'contract-'));
  const rootfs = join(home, 'rootfs');
  if (!skips) makeRootfs(rootfs);

  it('of a folder', () => holdsContract(() => openImage(`rootfs:${rootfs}`)));

  it('of this machine', () => holdsContract(() => openImage('host')));

  it.skipIf(!isInstalled('skopeo') || !isInstalled('umoci'))(
    'of an OCI archive (skipped without skopeo and umoci)',
    async () => {
      const layout = join(home, 'layout');
      writeLayout(layout, [execFileSync('tar', ['-C', rootfs, '-c', '.'], { maxBuffer: 1 << 30 })]);
      await holdsContract(() => archiveImage(layout, join(home, 'images'), () => {}));
    },
  );
});
