// The server's side of a Pyodide run whose process is in a program's hands: the clock is the server's, and so are the bounds.
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { DEFAULT_RUN_LIMITS, type Job, type Outcome } from '../../src/sandbox/server/backends/backend.ts';
import { Pyodide } from '../../src/sandbox/server/backends/pyodide.ts';

/** The limit of a run that is to be late, and of one that a busy machine may keep waiting. */
const LATE_SECONDS = 1;
const LIMIT_SECONDS = 30;

const job = (fetchFiles: string[], runTimeout: number): Job => ({
  language: 'python',
  code: 'pass',
  stdin: null,
  files: new Map(),
  fetchFiles,
  compileTimeout: 1,
  runTimeout,
  limits: { ...DEFAULT_RUN_LIMITS, fetchBytes: 4 << 20 },
});

async function attacked(attack: string, fetchFiles: string[], runTimeout: number): Promise<Outcome | Error> {
  const backend = new Pyodide({
    files: { folder: `/nowhere/${attack}`, child: join(import.meta.dirname, 'hostile-child.mjs') },
    image: openSync('/dev/null', 'r'),
    wall: null,
    folder: null,
    uid: null,
    groups: null,
    size: 0,
    flags: [],
  });
  try {
    return await backend.execute(job(fetchFiles, runTimeout)).catch((error: Error) => error);
  } finally {
    await backend.close();
  }
}

const SAID: Record<string, { wants: string[]; status?: string | RegExp; files?: number; fault?: string }> = {
  'an invalid end': { wants: ['a'], fault: 'could not be fetched' },
  'an end, and files without end': { wants: ['a'], fault: 'could not be fetched' },
  'a file of four gigabytes': { wants: ['a'], status: 'Finished', files: 0 },
  'a file that never ends': { wants: ['a'], status: 'TimeLimitExceeded', files: 0 },
  'frames without end': { wants: [], status: 'Finished', files: 0 },
  'a thousand starts': { wants: [], status: 'Finished', files: 0 },
  'lines of JSON': { wants: [], status: 'Finished', files: 0 },
  'an unknown kind': { wants: [], status: 'Finished', files: 0 },
  // Whether the clock or the loss of the channel is noticed first is the machine's.
  'a channel that is closed': { wants: [], status: /^(?:TimeLimitExceeded|Finished)$/, files: 0 },
  'no word at all': { wants: [], status: 'TimeLimitExceeded', files: 0 },
  'a file of a run that asked for none': { wants: [], status: 'Finished', files: 0 },
  'an index of no file': { wants: ['a'], status: 'Finished', files: 0 },
  'done before it is late': { wants: ['a'], status: 'TimeLimitExceeded', files: 0 },
};

describe('what a hostile child says', () => {
  test.concurrent.for(Object.entries(SAID))('%s', async ([attack, { wants, status, files, fault }], { expect }) => {
    const seconds = status === 'Finished' ? LIMIT_SECONDS : LATE_SECONDS;
    const answer = await attacked(attack, wants, seconds);
    if (answer instanceof Error) expect(answer.message).toContain(fault ?? 'no fault was expected');
    else {
      expect(answer.run?.status).toMatch(status ?? 'no status was expected');
      expect(answer.files.size).toBe(files);
    }
  });
});
