import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { sandboxChecks } from '../../../src/sandbox/server/checks.ts';
import { HERE } from '../../../src/viewer/commands/doctor-checks.ts';
import { askMcp, askRedis, NEIGHBOURS } from '../../../src/viewer/commands/doctor-neighbours.ts';
import { kill, start, until } from '../../cluster/processes.ts';
import { bin, directoryWith } from '../../program.ts';

describe('doctor', () => {
  test('each check has a proof and a remedy; a broken one says what is wrong', { timeout: 240_000 }, async () => {
    const { checks, close } = sandboxChecks({ toolchains: ['/does/not/exist'], backend: 'bubblewrap' });
    expect(checks.filter(({ name, remedy }) => name === '' || remedy === '')).toEqual([]);
    expect(checks.filter(({ needed }) => needed).map(({ name }) => name)).toEqual([
      'sandbox',
      'language python',
      'python memory limit',
    ]);
    const [sandbox, ...others] = checks.filter(({ name }) => name !== 'control groups');
    await expect(sandbox?.prove()).rejects.toThrow(/no sandbox can be used here: .*does\/not\/exist/);
    for (const { prove } of others) await expect(prove()).rejects.toThrow(/^no sandbox can be used here$/);
    expect(new Set(others.map(({ remedy }) => remedy))).toEqual(new Set(['as for the sandbox, above']));
    await close();
  });

  // More than a tool has to be there for these two.
  test.each(['jest', 'junit'])(
    '%s is reported at the start, or the check says what it lacks',
    { timeout: 240_000 },
    async (language) => {
      const lines: string[] = [];
      const { checks, close } = sandboxChecks({ log: (line) => lines.push(line) });
      const check = checks.find(({ name }) => name === `language ${language}`);
      const lack = await check?.prove().then(
        () => '',
        (error: Error) => error.message,
      );
      await close();
      const told = lines.find((line) => line.startsWith('languages: '))?.split(' ') ?? [];
      expect(told).toContain('python');
      expect(told.includes(language)).toBe(!/^(?:no |the sandbox runs in Pyodide)/.test(lack ?? ''));
      expect(lack).not.toMatch(/ None$/);
    },
  );

  test('a language that works says how long it took', { timeout: 240_000 }, async () => {
    const { checks, close } = sandboxChecks({});
    const python = checks.find(({ name }) => name === 'language python');
    expect(await python?.prove()).toMatch(/^\d+ ms$/);
    await close();
  });
});

test('terminal, limits, caches and settings are looked at, each with what to do', async () => {
  expect(HERE.map(({ name }) => name)).toEqual([
    'Node.js',
    'terminal',
    'letters',
    'colours',
    'clipboard',
    'open files',
    'watched folders',
    'cache',
    'settings',
  ]);
  expect(HERE.filter(({ remedy }) => remedy === '')).toEqual([]);
  const said = async (name: string) =>
    HERE.find((one) => one.name === name)!
      .prove()
      .catch((error: Error) => error.message);
  expect(await said('Node.js')).toBe(process.version);
  expect(await said('open files')).toMatch(/^\d+ at most$|not told/);
  const before = process.env.NO_COLOR;
  process.env.NO_COLOR = '1';
  expect(await said('colours')).toContain('NO_COLOR');
  if (before === undefined) delete process.env.NO_COLOR;
  else process.env.NO_COLOR = before;
});

test('a key of no command is a mistake in the settings', async () => {
  const folder = directoryWith({ 'rollout-viewer/config.yaml': 'keys:\n  turn.nxt: [l]\n' });
  const doctor = start(['doctor', '--json'], { env: { XDG_CONFIG_HOME: folder } });
  const settings = () =>
    doctor
      .wrote()
      .split('\n')
      .slice(0, -1)
      .find((line) => line.includes('"settings"'));
  await until(() => settings() !== undefined || doctor.child.exitCode !== null);
  await kill(doctor);
  expect(JSON.parse(settings() ?? '{}')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/config\.yaml:2: no command is called turn\.nxt/),
  });
});

/** An executable of this name that runs this script in sh. */
function folderWith(name: string, script: string): string {
  const folder = directoryWith({ [name]: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, name), 0o755);
  return folder;
}

describe('programs around it', () => {
  const { PATH } = process.env;
  afterEach(() => {
    process.env.PATH = PATH;
  });
  const proof = (name: string) => NEIGHBOURS.find((check) => check.name === name)!.prove();

  test('an engine that does not answer does not count, and its own words are shown', async () => {
    process.env.PATH = folderWith('docker', '[ "$1" = --version ] && echo 27 && exit\necho cannot connect >&2; exit 1');
    await expect(proof('docker')).rejects.toThrow(/^cannot connect$/);
    process.env.PATH = folderWith('docker', 'echo 27');
    expect(await proof('docker')).toBe('27');
    await expect(proof('podman')).rejects.toThrow('podman is not installed');
  });

  test('rclone names its remotes; its other output does not count', async () => {
    process.env.PATH = folderWith('rclone', '[ "$1" = version ] && echo rclone v1.60\necho no config >&2');
    expect(await proof('rclone')).toBe('rclone v1.60, no remotes: rclone config');
  });

  test('the Python on PATH has the plugin of the wheel, or not', async () => {
    process.env.PATH = folderWith('python3', 'printf "rollout-viewer 0.3.0, verl 0.9\\nTrue\\n"');
    expect(await proof('trainers')).toBe('python3 has rollout-viewer 0.3.0, verl 0.9; verl loads the recorder');
    process.env.PATH = folderWith('python3', 'printf "\\nFalse\\n"');
    await expect(proof('trainers')).rejects.toThrow('python3 has no trainer, and no rollout-viewer');
  });

  test('a Redis is one that answers as one', async () => {
    const answers = ['$9\r\nredis_version:7.2.0\r\n', '-NOAUTH Authentication required.\r\n', 'HTTP/1.1 400\r\n\r\n'];
    const server = createServer((socket) => socket.resume().end(answers.shift() ?? ''));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await askRedis(port)).toBe(`7.2.0 at 127.0.0.1:${port}`);
    expect(await askRedis(port)).toContain('it asks for a password');
    await expect(askRedis(port)).rejects.toThrow('is not a Redis');
    await new Promise((resolve) => server.close(resolve));
    await expect(askRedis(port)).rejects.toThrow(`none at 127.0.0.1:${port}`);
  });

  test('the MCP server answers', async () => {
    expect(await askMcp([bin])).toMatch(/^\d+ tools/);
    await expect(askMcp(['-e', '0'])).rejects.toThrow('the server ended before it answered');
  });
});
