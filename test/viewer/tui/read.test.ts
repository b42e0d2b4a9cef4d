// Rollouts that were read have a sign in the list and a word in filters, on another day too.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { App } from '../../support/driver/app.ts';
import { smallRun, writeDump } from '../../support/dump.ts';

const run = writeDump(smallRun(1, 8));
const home = mkdtempSync(join(tmpdir(), 'read-'));
afterAll(() => {
  run.remove();
  rmSync(home, { recursive: true, force: true });
});

test('a rollout that was in sight for a while is read, also at the next start', async () => {
  const env = { XDG_STATE_HOME: home, ROLLOUT_VIEWER_READ_MS: '1' };
  const first = App.start([run.dir], { columns: 120, env });
  try {
    await first.sees('▌›assistant');
    // The cursor hides the sign of its own row.
    first.press('J');
    await first.until(() => /^✓ +1 +1 /m.test(first.screen()), 'the sign of the first rollout');
    first.press('q');
    await first.exits();
  } finally {
    await first.stop();
  }
  const second = App.start([run.dir, '--fresh', '--filter', '!read'], {
    columns: 120,
    env: { ...env, ROLLOUT_VIEWER_READ_MS: '1000000' },
  });
  try {
    await second.until(() => /[67] of 8/.test(second.screen()), 'the list without what was read');
    expect(second.screen()).not.toMatch(/^. +1 +1 +\d/m);
  } finally {
    await second.stop();
  }
});
