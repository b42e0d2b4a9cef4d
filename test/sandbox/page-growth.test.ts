// The quick lower bound of a tree's memory against the kernel's count of each page, on real processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sharedOnce } from '../../src/sandbox/server/backends/mapped-memory.ts';
import { PageGrowth } from '../../src/sandbox/server/backends/page-growth.ts';
import { processesOf } from '../../src/sandbox/server/backends/usage.ts';

/** Does a line's word in itself or in its newest child, and answers each with a line. */
const PROGRAM = `
import os, sys
held, children = [], []
def act(word, size):
    if word == 'grow': held.append(bytearray(b'x' * (size << 20)))
    if word == 'shrink' and held: held.pop()
    if word == 'rewrite' and held: held[-1][:] = b'y' * len(held[-1])
def child():
    (r, w), (answered, answer) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid:
        os.close(r); os.close(answer)
        return pid, os.fdopen(w, 'w', 1), os.fdopen(answered)
    os.close(w); os.close(answered)
    for line in os.fdopen(r):
        word, size = line.split()
        if word == 'end': os._exit(0)
        act(word, int(size)); os.write(answer, b'.\\n')
    os._exit(0)
for line in sys.stdin:
    whose, word, size = line.split()
    if word == 'fork': children.append(child())
    elif whose == 'own' or not children: act(word, int(size))
    elif word == 'end':
        pid, to, _ = children.pop()
        print('end 0', file=to); os.waitpid(pid, 0)
    else:
        _, to, answers = children[-1]
        print(word, size, file=to); answers.readline()
    print('.', flush=True)
`;

class Tree {
  readonly #child: ChildProcess = spawn('python3', ['-c', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  readonly #answers = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();

  async do(...words: readonly (string | number)[]): Promise<void> {
    this.#child.stdin!.write(`${words.join(' ')}\n`);
    await this.#answers.next();
  }

  get processes() {
    return [...processesOf([this.#child.pid!])];
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

const MB = 2 ** 20;
/** Allocators keep some pages, and the kernel counts pages of the stack late. */
const NEAR = 2 * MB;

const settled = async (growth: PageGrowth, tree: Tree): Promise<void> => {
  const { processes } = tree;
  growth.begin(processes);
  growth.settle((await sharedOnce(processes)).own);
};

test('what processes add is seen at once, what they release, too, and what a new process adds once it is seen', async () => {
  const tree = new Tree();
  const growth = new PageGrowth();
  try {
    await tree.do('own', 'grow', 20);
    for (let i = 0; i < 3; i++) await tree.do('own', 'fork', 0);
    await settled(growth, tree);
    const before = growth.least();
    expect(before).toBeLessThan(60 * MB);
    await tree.do('child', 'grow', 30);
    expect(growth.least() - before).toBeGreaterThan(28 * MB);
    await tree.do('own', 'grow', 30);
    expect(growth.least() - before).toBeGreaterThan(57 * MB);
    await tree.do('child', 'shrink', 0);
    expect(growth.least() - before).toBeLessThan(33 * MB);
    const pids = growth.pids.length;
    await tree.do('own', 'fork', 0);
    expect(growth.least() - before).toBeLessThan(33 * MB);
    await tree.do('child', 'grow', 30);
    expect(growth.least() - before).toBeGreaterThan(57 * MB);
    expect(growth.pids).toHaveLength(pids + 1);
    await tree.do('child', 'end', 0);
    await tree.do('child', 'end', 0);
    expect(growth.least() - before).toBeLessThan(33 * MB);
    expect(growth.pids).toHaveLength(pids - 1);
  } finally {
    growth.close();
    tree.end();
  }
});

const Step = fc.record({
  whose: fc.constantFrom('own', 'child'),
  word: fc.constantFrom('grow', 'grow', 'shrink', 'rewrite', 'fork', 'end', 'count'),
  size: fc.integer({ min: 1, max: 24 }),
});

test('it is never more than the pages that the kernel counts, whatever processes do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const tree = new Tree();
      const growth = new PageGrowth();
      try {
        await tree.do('own', 'grow', 8);
        await settled(growth, tree);
        for (const { whose, word, size } of steps) {
          if (word === 'count') await settled(growth, tree);
          else await tree.do(whose, word, size);
          const { own } = await sharedOnce(tree.processes);
          expect(growth.least()).toBeLessThanOrEqual(own + NEAR);
        }
      } finally {
        growth.close();
        tree.end();
      }
    }),
    { numRuns: 10 },
  );
});
