// Workers that Ray starts: the calls of one process, whoever is killed meanwhile.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { directoryWith, execute, jsonLines, rolloutViewer, root } from '../program.ts';
import { callLine } from '../replay/fixture.ts';
import { lacksPackages, trainersPython } from '../support/python.ts';
import { slowSandbox } from './workplace.ts';

const missing = lacksPackages('ray');
const CALLS = 80;

/** Replays with four workers; two of their processes are killed, one with the task of Ray that started it. */
const PROGRAM = `
import json, os, signal, subprocess, sys, threading, time
import rollout_viewer.ray as on_ray

folder, sandbox = sys.argv[1:]

def workers():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open("/proc/%s/cmdline" % pid).read().split("\\0")
            if "worker" in words and any(folder in word for word in words):
                found.append((int(pid), int(open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()[1])))
        except OSError:
            pass
    return found

def results():
    try:
        return sum(len(open(os.path.join(at, one)).readlines()) for at, _, names in os.walk("journal") for one in names)
    except OSError:
        return 0

def kill():
    killed = 0
    while killed < 2:
        time.sleep(0.05)
        living = workers()
        if living and results() > 10 * (killed + 1):
            pid, parent = living[0]
            if killed:
                os.kill(parent, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
            killed += 1
    print("killed", killed, file=sys.stderr)

os.chdir(folder)
thread = threading.Thread(target=kill)
thread.start()
rows = on_ray.replay("rollout_data", workers=4, worker={"sandbox": sandbox, "concurrency": 2}, options={"num_cpus": 0.1}, journal="journal")
thread.join()
print(json.dumps([[row["locator"], row["status"], row["verdict"]] for row in rows]))
print(json.dumps(workers()))
`;

describe.skipIf(missing !== '')(`Ray${missing}`, () => {
  let sandbox: Awaited<ReturnType<typeof slowSandbox>>;
  beforeAll(async () => {
    sandbox = await slowSandbox({ sandbox: 0, model: 0 }, 200);
  });
  afterAll(() => sandbox.close());

  test('replays each call once, though workers and their tasks are killed', async () => {
    const lines = Array.from({ length: CALLS }, (_, at) =>
      callLine('code_interpreter', { code: `print(${at})` }, at % 10 === 3 ? 'else' : String(at)),
    );
    const folder = directoryWith({ 'rollout_data/1.jsonl': `${lines.join('\n')}\n` });
    const alone = ['replay', 'rollout_data', '--sandbox', sandbox.url, '--yes', '--journal', 'alone', '--json'];
    const expected = jsonLines((await rolloutViewer(alone, { cwd: folder })).stdout);
    const made = await execute(process.execPath, [join(root, 'scripts/wheel.mjs'), folder]);
    const site = join(folder, 'site');
    await execute('python3', ['-m', 'zipfile', '-e', join(folder, made.stdout.trim().split('/').at(-1)!), site]);
    const env = { PYTHONPATH: site, RAY_DISABLE_DASHBOARD: '1' };
    const { stdout, stderr, code } = await execute(trainersPython, ['-c', PROGRAM, folder, sandbox.url], { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('killed 2')]);
    const [rows, left] = stdout
      .trimEnd()
      .split('\n')
      .slice(-2)
      .map((line) => JSON.parse(line));
    expect(rows).toEqual(expected.map(({ locator, status, verdict }) => [locator, status, verdict]));
    expect(rows).toHaveLength(CALLS);
    expect(left).toEqual([]);
    // Its own queue is gone, too.
    expect(readdirSync(folder).filter((name) => name.startsWith('.rollout-viewer-queue'))).toEqual([]);
  });
});
