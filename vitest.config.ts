import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    globalSetup: ['test/support/temporary-folder.ts', 'test/sandbox/report-skipped.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
