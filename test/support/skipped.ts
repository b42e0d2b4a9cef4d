import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

/** Prints why tests were skipped, so that a green run never hides it, and names the tests that were skipped without a word. */
export class Skipped implements Reporter {
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    // `-t` skips all others, too.
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return;
    const counts = new Map<string, number>();
    const silent: string[] = [];
    for (const { children, relativeModuleId } of modules)
      for (const one of children.allTests('skipped')) {
        const why = reasonOf(one);
        if (why === null) silent.push(`${relativeModuleId} > ${one.fullName}`);
        else counts.set(why, (counts.get(why) ?? 0) + 1);
      }
    for (const [why, count] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
      console.log(`skipped ${why}: ${count} test${count === 1 ? '' : 's'}`);
    if (silent.length === 0) return;
    console.error('skipped without a word (name the reason in the title, as "(skipped without python3)"):');
    for (const name of silent) console.error(name);
  }
}

/** What a test said when it skipped itself, or what its title or that of a suite around it says. */
function reasonOf(one: TestCase | TestSuite): string | null {
  const result = one.type === 'test' ? one.result() : null;
  if (result?.state === 'skipped' && result.note !== undefined) return `as ${result.note}`;
  const [, bracketed, plain] = /\(skipped[: ]*(.+)\)|^skipped: (.+)$/.exec(one.name) ?? [];
  const why = bracketed ?? plain;
  return why ?? (one.parent.type === 'module' ? null : reasonOf(one.parent));
}
