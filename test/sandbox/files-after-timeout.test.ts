// Files that a program wrote before its time was up come back, whatever it does when it is stopped.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCodeRequest } from '../../src/sandbox/protocol.ts';
import { createRunner, type SandboxRunner } from '../../src/sandbox/server/index.ts';
import { CONFINING, lack, named } from './backends.ts';

const WRITES = 'import time\nopen("kept.txt", "w").write("kept")\nprint("began", flush=True)\n';
const LATE = {
  'it sleeps': 'time.sleep(60)',
  'it counts': 'while True: pass',
  'it swallows everything': 'while True:\n    try:\n        while True: time.sleep(0)\n    except BaseException: pass',
  'it changes the clock': 'time.monotonic = time.time = lambda: 0\nwhile True: open("kept.txt").read()',
};

describe.each(CONFINING)('%s', (backend) => {
  describe.skipIf(lack[backend] !== null)(named('files of a late run', backend), () => {
    let runner: SandboxRunner;
    beforeAll(async () => {
      runner = await createRunner({ backend });
    });
    afterAll(() => runner.close());

    const run = (code: string, run_timeout = 3) => {
      const checked = runCodeRequest.check({ language: 'python', code, run_timeout, fetch_files: ['kept.txt'] });
      if (!checked.ok) throw new Error('the test asks wrongly');
      return runner.run(checked.value);
    };

    test.concurrent.for(Object.entries(LATE))('%s', async ([, rest], { expect }) => {
      const answer = await run(WRITES + rest);
      expect(answer).toMatchObject({
        status: 'Failed',
        run_result: { status: 'TimeLimitExceeded', return_code: null, stdout: 'began\n', stderr: '' },
        files: { 'kept.txt': Buffer.from('kept').toString('base64') },
      });
    });

    test.concurrent('a loop that never looks at the clock is ended all the same', async ({ expect }) => {
      const answer = await run(`${WRITES}sum(range(10 ** 12))`);
      expect(answer.run_result).toMatchObject({ status: 'TimeLimitExceeded', return_code: null, stdout: 'began\n' });
    });

    test('a program that ends in time is not late', async () => {
      const answer = await run(WRITES, 30);
      expect(answer).toMatchObject({
        status: 'Success',
        run_result: { status: 'Finished', return_code: 0 },
        files: { 'kept.txt': Buffer.from('kept').toString('base64') },
      });
    });
  });
});
