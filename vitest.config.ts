import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TakenMemory } from './test/sandbox/attacks/taken-memory.ts';
import { Skipped } from './test/support/skipped.ts';

/** Attacks, kills and real servers: `npm run test:slow`. `npm run test:long` takes them at their whole length, and long series. Both set TIER. */
const SLOW = 'test/**/*.slow.test.ts';
const LONG = 'test/**/*.long.test.ts';
const { TIER } = process.env;
const isFast = TIER === undefined;
const FAST = ['test/**/*.test.ts', 'test/**/*.test.tsx'];
/** They take memory and processes as no other test of a sandbox may meanwhile. */
const ATTACKS = 'test/sandbox/attacks/{bubblewrap,pyodide}.slow.test.ts';
/** They may have the processor while attacks wait, where those are measured by themselves; else their figures are of the whole machine. */
const BESIDE = TakenMemory.isOwn() ? ['test/{analysis,core,scripts}/**/*.slow.test.ts'] : [];
/** Small files that take long. Vitest begins with the largest, and one of these would run at the end beside idle cores. */
const LONGEST =
  /(?:bubblewrap|pyodide|package|wheel|release|executable|kills|hostile-terminal|drawn-incidents|server-attacks|handed-out|cluster\/rollouts|full-redis)\.slow/;
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (LONGEST.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const SLOW_PROJECTS = [
  {
    extends: true as const,
    test: {
      name: 'slow',
      include: [SLOW, ...(TIER === 'long' ? [LONG] : [])],
      exclude: [ATTACKS, ...BESIDE],
      // Two tests wait often enough for a third.
      maxWorkers: availableParallelism() + 1,
    },
  },
  {
    extends: true as const,
    test: {
      name: 'attacks',
      include: [ATTACKS, ...BESIDE],
      maxWorkers: BESIDE.length > 0 ? availableParallelism() + 1 : 1,
      sequence: { groupOrder: 1 },
    },
  },
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
    sequence: { sequencer: LongestFirst },
    // Files of one worker share their modules: importing them for each file is a fifth of the tests' CPU time.
    isolate: !isFast,
    // Limits against hangs, never a figure: on a loaded machine a test is slow.
    testTimeout: isFast ? 240_000 : 600_000,
    hookTimeout: isFast ? 240_000 : 600_000,
    teardownTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
