import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';
import { Skipped } from './test/support/skipped.ts';

/** Attacks, kills and real servers: `npm run test:slow`. `npm run test:long` takes them at their whole length, and long series. Both set TIER. */
const SLOW = 'test/**/*.slow.test.ts';
const LONG = 'test/**/*.long.test.ts';
const { TIER } = process.env;
const isFast = TIER === undefined;

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
    include: isFast ? ['test/**/*.test.ts', 'test/**/*.test.tsx'] : [SLOW, ...(TIER === 'long' ? [LONG] : [])],
    exclude: isFast ? [SLOW, LONG] : [],
    reporters: ['default', new Skipped()],
    globalSetup: ['test/support/built.ts', 'test/support/temporary-folder.ts'],
    setupFiles: ['test/support/seed.ts'],
    // Files of one worker share their modules: importing them for each file is a fifth of the tests' CPU time.
    isolate: !isFast,
    // Tests of the fast tier wait for programs most of the time; attacks and figures of memory want the machine for themselves.
    maxWorkers: isFast ? 2 * availableParallelism() : 1,
    // Limits against hangs, never a figure: on a loaded machine a test is slow.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
