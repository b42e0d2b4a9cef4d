// Runs the test's own Python with the system's interpreter: for tests of what is built around a run.
// Nothing that a model wrote ever comes here.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type RunCode, runCodeResponse } from '../../src/sandbox/protocol.ts';

export const hasPython = spawnSync('python3', ['-c', '0']).status === 0;

export const plainPython: RunCode = async (request, signal) => {
  const directory = await mkdtemp(join(tmpdir(), 'plain-python-'));
  try {
    for (const [name, content] of Object.entries(request.files)) {
      await writeFile(join(directory, name), Buffer.from(content ?? '', 'base64'));
    }
    const script = join(directory, 'main.py');
    await writeFile(script, request.code);
    const start = performance.now();
    const child = spawn('python3', ['-I', '-S', script], { cwd: directory, ...(signal && { signal }) });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(request.stdin ?? '');
    const timer = setTimeout(() => child.kill('SIGKILL'), request.run_timeout * 1000);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    clearTimeout(timer);
    const files: Record<string, string> = {};
    for (const name of request.fetch_files) {
      const content = await readFile(join(directory, name)).catch(() => undefined);
      if (content) files[name] = content.toString('base64');
    }
    const status = code === null ? 'TimeLimitExceeded' : 'Finished';
    const execution_time = (performance.now() - start) / 1000;
    return runCodeResponse.parse({
      status: code === 0 ? 'Success' : 'Failed',
      run_result: { status, execution_time, return_code: code, stdout, stderr },
      files,
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
