// A limit is promised only after it was seen to hold on this machine: the process limit, for one, is silently ignored
// for uid 0, and a container may forbid the very namespaces that a backend is made of.
import { type Backend, DEFAULT_LIMITS, type Job } from './backend.ts';

const job = (code: string, processes: number): Job => ({
  language: 'bash',
  code,
  stdin: null,
  files: new Map(),
  fetchFiles: [],
  compileTimeout: 10,
  runTimeout: 10,
  limits: { ...DEFAULT_LIMITS, processes },
});

/** @throws {Error} that says which promise does not hold. */
export async function provesItsLimits(backend: Backend): Promise<void> {
  // timeout forks once and says 125 when it cannot; with one process allowed it must not be able to.
  const [works, fork] = await Promise.all([
    backend.execute(job('[ ! -e /etc/shadow ] && [ ! -w /usr ] && timeout 5 true', 64)),
    backend.execute(job('exec timeout 5 true', 1)),
  ]);
  if (works.run?.return_code !== 0) {
    throw new Error(`a trial run failed: ${works.run?.stderr || `code ${works.run?.return_code}`}`);
  }
  if (fork.run?.return_code === 0) throw new Error('the process limit is not enforced here');
}
