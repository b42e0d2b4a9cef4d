import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../program.ts';

test('the program still shows what the pictures of the README do: each key has its screen', () => {
  const out = mkdtempSync(join(tmpdir(), 'rollout-viewer-pictures-'));
  try {
    const { status, signal, stderr } = spawnSync(process.execPath, [join(root, 'scripts/record.mjs'), `--out=${out}`], {
      encoding: 'utf8',
    });
    expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
    expect(readdirSync(out).sort()).toEqual(['incident.svg', 'live.svg', 'retry.svg', 'screen.svg']);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});
