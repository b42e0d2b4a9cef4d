import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';
import { Skipped } from './test/support/skipped.ts';

/** Attacks, kills and real servers: `npm run test:slow`. `npm run test:long` takes them at their whole length, and long series. Both set TIER. */
const SLOW = 'test/**/*.slow.test.ts';
const LONG = 'test/**/*.long.test.ts';
const { TIER } = process.env;
const isFast = TIER === undefined;
const FAST = ['test/**/*.test.ts', 'test/**/*.test.tsx'];
/** Its figures are of the memory of the machine. */
const ALONE = 'test/sandbox/attacks/attacks.slow.test.ts';
const SLOW_PROJECTS = [
  {
    extends: true as const,
    test: {
      name: 'slow',
      include: [SLOW, ...(TIER === 'long' ? [LONG] : [])],
      exclude: [ALONE],
      maxWorkers: availableParallelism(),
    },
  },
  { extends: true as const, test: { name: 'alone', include: [ALONE], maxWorkers: 1, sequence: { groupOrder: 1 } } },
];

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
    ...(isFast
      ? { include: FAST, exclude: [SLOW, LONG], maxWorkers: 2 * availableParallelism() }
      : { projects: SLOW_PROJECTS }),
    reporters: ['default', new Skipped()],
    globalSetup: ['test/support/built.ts', 'test/support/temporary-folder.ts'],
    setupFiles: ['test/support/seed.ts'],
    // Files of one worker share their modules: importing them for each file is a fifth of the tests' CPU time.
    isolate: !isFast,
    // Limits against hangs, never a figure: on a loaded machine a test is slow.
    testTimeout: isFast ? 240_000 : 600_000,
    hookTimeout: isFast ? 240_000 : 600_000,
    teardownTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
