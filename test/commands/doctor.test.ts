import { describe, expect, test } from 'vitest';
import { sandboxChecks } from '../../src/sandbox/server/checks.ts';

describe('doctor', () => {
  test('each check has a proof and a remedy; a broken one says what is wrong', { timeout: 60_000 }, async () => {
    const { checks, close } = sandboxChecks({ toolchains: ['/does/not/exist'], backend: 'bubblewrap' });
    expect(checks.filter(({ name, remedy }) => name === '' || remedy === '')).toEqual([]);
    expect(checks.filter(({ needed }) => needed).map(({ name }) => name)).toEqual([
      'sandbox',
      'language python',
      'python memory limit',
    ]);
    const python = checks.find(({ name }) => name === 'language python');
    await expect(python?.prove()).rejects.toThrow(/no sandbox can be used here/);
    await close();
  });

  test('a language that works says how long it took', { timeout: 60_000 }, async () => {
    const { checks, close } = sandboxChecks({});
    const python = checks.find(({ name }) => name === 'language python');
    expect(await python?.prove()).toMatch(/^\d+ ms$/);
    await close();
  });
});
