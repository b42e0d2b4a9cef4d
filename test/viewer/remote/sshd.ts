// A real sshd on loopback, for one user with a separate key, and the ssh settings by which `node7` leads to it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((path) => existsSync(path));
/** '' where the tests can run, else the word with which they are skipped. */
export const whyNoSshd =
  SSHD === undefined ? 'no sshd (apt-get install openssh-server)' : spawnSync('ssh', ['-V']).error ? 'no ssh' : '';

export interface Throttle {
  /** ms in each direction. */
  delay: number;
  bytesPerSecond: number;
}

/** A way to the server that can be cut, delayed and throttled. */
class Way {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections are refused meanwhile. */
  isCut = false;
  connections = 0;
  /** Bytes from the server so far. */
  bytes = 0;

  constructor(port: number, { delay, bytesPerSecond }: Throttle = { delay: 0, bytesPerSecond: 0 }) {
    this.#server = createServer((near) => {
      if (this.isCut) {
        near.destroy();
        return;
      }
      this.connections++;
      const far = connect(port, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        let due = 0;
        from.on('data', (chunk: Buffer) => {
          if (from === far) this.bytes += chunk.length;
          const now = performance.now();
          const cost = bytesPerSecond === 0 ? 0 : (chunk.length / bytesPerSecond) * 1000;
          due = Math.max(due, now) + cost;
          if (due - now > 50) {
            from.pause();
            setTimeout(() => from.resume(), due - now);
          }
          if (delay === 0 && cost === 0) to.write(chunk);
          else setTimeout(() => to.writable && to.write(chunk), due - now + delay);
        });
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          setTimeout(() => to.end(), delay + 1);
        });
      }
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

export interface Machine {
  /** HOME, PATH and the rest of the environment by which `node7:` is that machine. */
  env: Record<string, string>;
  proxy: Way;
  close(): void;
}

async function freePort(): Promise<number> {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  return port;
}

/** Starts sshd; `listens` is false where somebody else has the port. */
function startServer(folder: string, port: number): { child: ChildProcess; port: number; listens: Promise<boolean> } {
  const own = ['-o', `Port=${port}`, '-o', 'ListenAddress=127.0.0.1'];
  const child = spawn(SSHD!, ['-D', '-e', '-f', join(folder, 'sshd_config'), ...own], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const listens = new Promise<boolean>((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Server listening')) resolve(true);
    });
    child.on('close', () => (said.includes('in use') ? resolve(false) : reject(new Error(said))));
  });
  return { child, port, listens };
}

/** @param shell a line that runs in place of each command, as ForceCommand has it */
export async function machine(throttle?: Throttle, forced?: string): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'rv-sshd-'));
  chmodSync(folder, 0o700);
  for (const name of ['host', 'user'])
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  // Root's sshd wants its folder; that of another user does not.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  writeFileSync(
    join(folder, 'sshd_config'),
    [
      `HostKey ${join(folder, 'host')}`,
      `AuthorizedKeysFile ${join(folder, 'user.pub')}`,
      `PidFile ${join(folder, 'pid')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'MaxStartups 100',
      ...(forced === undefined ? [] : [`ForceCommand ${forced}`]),
    ].join('\n'),
  );
  let server = startServer(folder, await freePort());
  // Another program may take the port in between.
  while (!(await server.listens)) server = startServer(folder, await freePort());
  const proxy = new Way(server.port, throttle);
  const through = await proxy.listen();
  const known = `[127.0.0.1]:${through} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`;
  writeFileSync(join(folder, 'known_hosts'), known);
  writeFileSync(
    join(folder, 'config'),
    [
      'Host node7',
      '  HostName 127.0.0.1',
      `  Port ${through}`,
      `  User ${userInfo().username}`,
      `  IdentityFile ${join(folder, 'user')}`,
      '  IdentitiesOnly yes',
      `  UserKnownHostsFile ${join(folder, 'known_hosts')}`,
    ].join('\n'),
  );
  // ssh reads the settings of the password file's home: a wrapper names ours, as a user's own file would.
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F '${join(folder, 'config')}' "$@"\n`);
  chmodSync(join(folder, 'bin/ssh'), 0o755);
  return {
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_STATE_HOME: join(folder, 'state'),
    },
    proxy,
    close: () => {
      proxy.close();
      server.child.kill();
    },
  };
}
