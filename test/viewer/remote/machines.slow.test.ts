// Other machines for real: sshd, rclone and a web server on loopback.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

import { directoryWith, jsonLines, rolloutViewer, root, verlLine } from '../../program.ts';
import { App } from '../../support/driver/app.ts';
import { type Machine, machine, whyNoSshd } from './sshd.ts';

/** For copies over slow ways, on a busy machine. */
const BUSY = 220_000;
/** ssh needs some seconds for a new connection. */
const CUTS = 10;
const FIXTURES = join(root, 'fixtures/rollout_data');
let there: Machine | undefined;
let app: App | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
  there?.close();
  there = undefined;
});

const copyOf = (path: string): string =>
  join(there!.env.XDG_CACHE_HOME!, 'rollout-viewer/remote', encodeURIComponent('node7:'), path);

describe.skipIf(whyNoSshd !== '')(`over ssh${whyNoSshd && ` (skipped: ${whyNoSshd})`}`, () => {
  test('a dump is listed and shown by names that lead there again', async () => {
    there = await machine();
    const { env } = there;
    const local = jsonLines((await rolloutViewer(['ls', FIXTURES, '--json'])).stdout);
    const remote = jsonLines((await rolloutViewer(['ls', `node7:${FIXTURES}`, '--json'], { env })).stdout);
    expect(remote).toEqual(local.map((row) => ({ ...row, locator: `node7:${row.locator}` })));
    const shown = await rolloutViewer(['show', String(remote[3]!.locator)], { env });
    expect(shown.stdout).toBe((await rolloutViewer(['show', String(local[3]!.locator)])).stdout);
    const missing = await rolloutViewer(['ls', 'node7:/does/not/exist'], { env });
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no such file or directory')]);
    const unknown = await rolloutViewer(['ls', 'ssh://nobody@127.0.0.1:1/x'], { env });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('refused')]);
  });

  test('names are data, whatever they hold', async () => {
    there = await machine();
    const names = [
      `it's`,
      '$(touch pwned)',
      '`touch pwned`',
      'new\nline',
      '-rf',
      '"q"',
      'a;touch pwned',
      '*',
      'é\u202e',
    ];
    const dump = directoryWith(
      Object.fromEntries(
        names.flatMap((name, at) => [[`${name}/${name}_1.jsonl`, verlLine({ output: `answer ${at}` })]]),
      ),
    );
    const { stdout, code } = await rolloutViewer(['ls', `node7:${dump}`, '--json'], { env: there.env });
    expect(code).toBe(0);
    const rows = jsonLines(stdout);
    expect(rows.map(({ stream }) => stream).sort()).toEqual([...names].sort());
    for (const name of names) {
      const alone = await rolloutViewer(['ls', `node7:${dump}/${name}`, '--json'], { env: there.env });
      expect(jsonLines(alone.stdout)).toHaveLength(1);
    }
    expect(spawnSync('find', [dump, root, '-maxdepth', '2', '-name', 'pwned']).stdout.toString()).toBe('');
  });

  test('without -printf of find and without stat, ls gives enough', async () => {
    const bin = mkdtempSync(join(tmpdir(), 'rollout-viewer-bin-'));
    for (const name of ['sh', 'ls', 'dd', 'dirname', 'basename', 'tail', 'test'])
      if (existsSync(`/usr/bin/${name}`)) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    writeFileSync(
      join(bin, 'find'),
      '#!/bin/sh\nfor word do [ "$word" = -printf ] && { echo "find: -printf: unknown primary" >&2; exit 1; }; done\nexec /usr/bin/find "$@"\n',
    );
    chmodSync(join(bin, 'find'), 0o755);
    writeFileSync(join(bin, 'run'), `#!/bin/sh\nPATH=${bin}; export PATH\nexec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n`);
    chmodSync(join(bin, 'run'), 0o755);
    there = await machine(undefined, join(bin, 'run'));
    const { stdout } = await rolloutViewer(['ls', `node7:${FIXTURES}`, '--json'], { env: there.env });
    expect(jsonLines(stdout)).toHaveLength(34);
  });

  const busybox = spawnSync('busybox', ['--list']).stdout?.toString().split('\n').filter(Boolean) ?? [];
  test.skipIf(busybox.length === 0)(
    'BusyBox alone is enough: its shell and its tools (skipped without busybox)',
    async () => {
      const bin = mkdtempSync(join(tmpdir(), 'rollout-viewer-busybox-'));
      const program = spawnSync('sh', ['-c', 'command -v busybox']).stdout.toString().trim();
      for (const name of busybox) symlinkSync(program, join(bin, name));
      writeFileSync(
        join(bin, 'run'),
        `#!${bin}/sh\nPATH=${bin}; export PATH\nexec ${bin}/sh -c "$SSH_ORIGINAL_COMMAND"\n`,
      );
      chmodSync(join(bin, 'run'), 0o755);
      there = await machine(undefined, join(bin, 'run'));
      const dump = directoryWith({ 'train/1.jsonl': verlLine(), 'it’s $(odd)/2.jsonl': verlLine({ step: 2 }) });
      utimesSync(join(dump, 'train/1.jsonl'), 1_700_000_000, 1_700_000_000);
      const { stdout, stderr } = await rolloutViewer(['ls', `node7:${dump}`, '--json'], { env: there.env });
      expect([stderr, jsonLines(stdout).length]).toEqual(['', 2]);
      expect(statSync(join(copyOf(dump), 'train/1.jsonl')).mtimeMs).toBe(1_700_000_000_000);
      const missing = await rolloutViewer(['ls', `node7:${dump}/nothing`, '--json'], { env: there.env });
      expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no such file or directory')]);
      app = App.start([`node7:${dump}`], { env: there.env, columns: 140 });
      await app.sees('2 steps · 2 rollouts');
      appendFileSync(join(dump, 'it’s $(odd)/2.jsonl'), verlLine({ step: 2 }));
      await app.sees('2 steps · 3 rollouts');
    },
  );

  test('a finished dump is no live one while it is copied, and the mean is that of its last step', async () => {
    there = await machine({ delay: 0, bytesPerSecond: 300_000 });
    const dump = directoryWith({});
    for (let step = 1; step <= 12; step++) {
      const path = join(dump, `${step}.jsonl`);
      writeFileSync(path, verlLine({ step, score: step / 100, output: 'word '.repeat(2000) }).repeat(20));
      const written = 1_700_000_000 + step * 300;
      utimesSync(path, written, written);
    }
    app = App.start([`node7:${dump}`], { env: there.env, columns: 160 });
    const first = () => app!.screen().split('\n')[0] ?? '';
    const seen = new Set<string>();
    await app.until(
      () => {
        seen.add(first());
        return first().includes('12 steps · 240 rollouts');
      },
      'all rollouts',
      BUSY,
    );
    const said = [...seen].join('\n');
    expect(said).not.toMatch(/live|\/min|\d s ago/);
    expect(first()).toContain('score 0.12');
    expect([...said.matchAll(/score (\S+)/g)].every(([, mean]) => mean === '0.12')).toBe(true);
  });

  test.each(['bash', 'dash', 'ksh', 'zsh', 'fish', 'tcsh'])(
    'through %s as the login shell, which says a word first',
    async (shell) => {
      if (spawnSync(shell, ['-c', 'true']).error) return console.log(`skipped: no ${shell}`);
      const bin = mkdtempSync(join(tmpdir(), 'rollout-viewer-shell-'));
      const greeting = 'echo "Welcome to node7"; echo "running: $SSH_ORIGINAL_COMMAND"';
      writeFileSync(join(bin, 'run'), `#!/bin/sh\n${greeting}\nexec ${shell} -c "$SSH_ORIGINAL_COMMAND"\n`);
      chmodSync(join(bin, 'run'), 0o755);
      there = await machine(undefined, join(bin, 'run'));
      const { code, stdout } = await rolloutViewer(['ls', `node7:${FIXTURES}`, '--json'], { env: there.env });
      expect([code, jsonLines(stdout).length]).toEqual([0, 34]);
      const files = readdirSync(FIXTURES, { recursive: true })
        .map(String)
        .filter((name) => name.endsWith('.jsonl'));
      for (const name of files)
        expect(readFileSync(join(copyOf(FIXTURES), name))).toEqual(readFileSync(join(FIXTURES, name)));
    },
  );

  test('an account that runs no commands is reported in its own words', async () => {
    there = await machine(undefined, 'internal-sftp-only; echo "This service allows sftp connections only."; exit 1');
    const refused = await rolloutViewer(['ls', `node7:${FIXTURES}`], { env: there.env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('sftp connections only')]);
    there.close();
    there = await machine(undefined, 'echo hello');
    const other = await rolloutViewer(['ls', `node7:${FIXTURES}`], { env: there.env });
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('no command is run there: hello')]);
  });

  test('labels of it are kept under its name, not in the copy', async () => {
    there = await machine();
    const { env } = there;
    const locator = `node7:${FIXTURES}/train/3.jsonl:4`;
    expect((await rolloutViewer(['label', locator, 'hack'], { env })).stdout).toContain(`${locator}: `);
    const { stdout } = await rolloutViewer(['labels', `node7:${FIXTURES}`, '--json'], { env });
    expect(jsonLines(stdout)[0]).toMatchObject({ locator, labels: [{ label: 'hack' }] });
    expect(readdirSync(join(env.XDG_STATE_HOME!, 'rollout-viewer')).join(' ')).toContain('rollout_data-');
    const copied = readdirSync(copyOf(FIXTURES), { recursive: true }).map(String);
    expect(copied.filter((name) => !/^(train|val)(\/\d+\.jsonl)?$/.test(name))).toEqual([]);
  });

  test('the screen follows lines and steps, reports a lost connection, and continues when it is back', async () => {
    there = await machine();
    const dump = directoryWith({ '1.jsonl': verlLine() });
    app = App.start([`node7:${dump}`], { env: there.env, columns: 140 });
    await app.sees('1 step · 1 rollout');
    appendFileSync(join(dump, '1.jsonl'), verlLine({ output: 'second' }));
    await app.sees('1 step · 2 rollouts');
    writeFileSync(join(dump, '2.jsonl'), verlLine({ step: 2, output: 'third' }));
    await app.sees('2 steps · 3 rollouts');

    there.proxy.isCut = true;
    there.proxy.cut();
    await app.sees('connection lost');
    appendFileSync(join(dump, '2.jsonl'), verlLine({ step: 2, output: 'fourth' }));
    there.proxy.isCut = false;
    await app.sees('2 steps · 4 rollouts');
    await app.seesNot('connection lost');
  });

  test('a file cut to nothing while it is followed keeps no row, and takes new ones', async () => {
    there = await machine();
    const dump = directoryWith({ '1.jsonl': verlLine().repeat(3), '2.jsonl': verlLine({ step: 2 }) });
    app = App.start([`node7:${dump}`], { env: there.env, columns: 140 });
    await app.sees('2 steps · 4 rollouts');
    truncateSync(join(dump, '1.jsonl'));
    // The first line counts files as steps: an empty one is a step that has just begun.
    await app.sees('2 steps · 1 rollout');
    appendFileSync(join(dump, '1.jsonl'), verlLine({ output: 'after' }));
    await app.sees('2 steps · 2 rollouts');
  });

  test('cut connections: copy and source are the same bytes', async () => {
    there = await machine({ delay: 1, bytesPerSecond: 8e6 });
    const line = verlLine({ output: 'word '.repeat(2000) });
    const dump = directoryWith(
      Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`${at}.jsonl`, line.repeat(60)])),
    );
    const { proxy, env } = there;
    let cuts = 0;
    let after = 0;
    const timer = setInterval(() => {
      if (cuts < CUTS && proxy.bytes > after) {
        after = proxy.bytes + 300_000 + Math.random() * 300_000;
        proxy.cut();
        cuts++;
      }
    }, 20);
    app = App.start([`node7:${dump}`], { env });
    const same = () =>
      readdirSync(dump).every((name) => {
        const path = copyOf(join(dump, name));
        return existsSync(path) && statSync(path).size === statSync(join(dump, name)).size;
      });
    try {
      await app.until(() => cuts >= CUTS && same(), 'all files', BUSY);
    } finally {
      clearInterval(timer);
    }
    for (const name of readdirSync(dump))
      expect(readFileSync(copyOf(join(dump, name))).equals(readFileSync(join(dump, name)))).toBe(true);
  });
});

const hasRclone = spawnSync('rclone', ['version']).status === 0;
describe.skipIf(!hasRclone)(`through rclone${hasRclone ? '' : ' (skipped: apt-get install rclone)'}`, () => {
  test('a folder and a file', async () => {
    const home = mkdtempSync(join(tmpdir(), 'rollout-viewer-rclone-'));
    const env = { RCLONE_CONFIG_THERE_TYPE: 'local', RCLONE_CONFIG: join(home, 'none.conf'), XDG_CACHE_HOME: home };
    const dump = directoryWith({});
    cpSync(FIXTURES, dump, { recursive: true });
    const { stdout, stderr } = await rolloutViewer(['ls', `rclone:there:${dump}`, '--json'], { env });
    expect(stderr).toBe('');
    const rows = jsonLines(stdout);
    expect(rows).toHaveLength(34);
    expect(rows[0]!.locator).toBe(`rclone:there:${dump}/train/1.jsonl:1`);
    appendFileSync(join(dump, 'train/1.jsonl'), verlLine());
    const again = await rolloutViewer(['ls', `rclone:there:${dump}/train/1.jsonl`, '--json'], { env });
    expect(jsonLines(again.stdout)).toHaveLength(9);
    const missing = await rolloutViewer(['ls', 'rclone:nowhere:x'], { env });
    expect(missing.code).toBe(2);
  });
});

describe('from a web server', () => {
  test.each([true, false])('by ranges: %s; what was appended is asked for alone', async (ranges) => {
    const dump = directoryWith({ '1.jsonl': verlLine().repeat(200) });
    const path = join(dump, '1.jsonl');
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers.range);
      const { size } = statSync(path);
      const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
      if (!ranges || from === undefined) {
        response.writeHead(200, { 'content-length': size });
        response.end(readFileSync(path));
        return;
      }
      const end = to === '' ? size - 1 : Math.min(size - 1, Number(to));
      if (Number(from) >= size) return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
      const bytes = Buffer.alloc(end - Number(from) + 1);
      readSync(openSync(path, 'r'), bytes, 0, bytes.length, Number(from));
      response.writeHead(206, { 'content-range': `bytes ${from}-${end}/${size}`, 'content-length': bytes.length });
      response.end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/1.jsonl`;
    const env = { XDG_CACHE_HOME: mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-')) };
    try {
      const first = jsonLines((await rolloutViewer(['ls', url, '--json'], { env })).stdout);
      expect(first).toHaveLength(200);
      expect(first[0]!.locator).toBe(`${url}:1`);
      const size = statSync(path).size;
      appendFileSync(path, verlLine({ output: 'new' }));
      asked.length = 0;
      const again = jsonLines((await rolloutViewer(['ls', url, '--json'], { env })).stdout);
      expect(again).toHaveLength(201);
      if (ranges) expect(asked).toEqual(['bytes=0-0', `bytes=${size - 4096}-`]);
      const gone = await rolloutViewer(['ls', url.replace('1.jsonl', '%zz')], { env });
      expect([0, 2]).toContain(gone.code);
    } finally {
      server.close();
    }
  });
});
