import type { Run } from '../../sandbox/check-correctness.ts';
import { SandboxClient } from '../../sandbox/client.ts';
import { BACKEND_CHOICES, type BackendChoice, createRunner } from '../../sandbox/server/index.ts';

/** Runs the code of tools and rewards, in place of the servers that the configuration names. */
export interface CodeRunner {
  run: Run;
  close(): Promise<void>;
}

/** @param where a backend of the embedded sandbox, or the address of a server. @throws Error listing the usable ones. */
export async function openCodeRunner(where: string): Promise<CodeRunner> {
  if (URL.canParse(where)) {
    const client = new SandboxClient({ endpoint: where });
    return { run: (request, call) => client.runCode(request, call), close: async () => {} };
  }
  if (!(BACKEND_CHOICES as string[]).includes(where)) {
    throw new Error(`--sandbox ${where}: expected an address, or one of ${BACKEND_CHOICES.join(', ')}`);
  }
  if (where === 'unconfined')
    throw new Error(
      '--sandbox unconfined: start `rollout-viewer sandbox --backend unconfined --yes-unconfined` if you want that, and give its address',
    );
  const runner = await createRunner({ backend: where as BackendChoice });
  const defaults = {
    compile_timeout: 10,
    run_timeout: 10,
    memory_limit_MB: -1,
    stdin: null,
    files: {},
    fetch_files: [],
  };
  return {
    run: (request, { signal }) => runner.run({ ...defaults, ...request }, signal),
    close: () => runner.close(),
  };
}
