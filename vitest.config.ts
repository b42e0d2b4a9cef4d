import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';

/** Attacks, kills, real servers and long properties: `npm run test:slow`, which sets TIER. */
const SLOW = ['test/**/*.slow.test.ts'];
const isSlow = process.env.TIER === 'slow';

/** As esbuild's loader `text` does it in the build. */
const pythonAsText: Plugin = {
  name: 'python-as-text',
  load(id) {
    return id.endsWith('.py') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};` : null;
  },
};

export default defineConfig({
  plugins: [pythonAsText],
  test: {
    include: isSlow ? SLOW : ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    exclude: isSlow ? [] : SLOW,
    globalSetup: ['test/support/built.ts', 'test/support/temporary-folder.ts', 'test/sandbox/report-skipped.ts'],
    setupFiles: ['test/support/seed.ts'],
    // Files of one worker share their modules: importing them for each file is a fifth of the tests' CPU time.
    isolate: isSlow,
    // Tests of the fast tier wait for programs most of the time; attacks and figures of memory want the machine for themselves.
    maxWorkers: isSlow ? 1 : 2 * availableParallelism(),
    // Limits against hangs, never a figure: on a loaded machine a test is slow.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
