import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { z } from 'zod';
import { errorCode, errorMessage } from '../../core/text/thrown.ts';
import type { DoctorCheck } from '../../sandbox/server/checks.ts';
import { ENGINES } from '../../sandbox/worlds/engine-image.ts';

const MOST_MS = 20_000;
const REDIS_PORT = 6379;

const execute = promisify(execFile);

/** A program's output. @throws Error that says that it is not installed, or how it failed */
async function bothOutputs(command: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await execute(command, args, { timeout: MOST_MS });
    return { stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw new Error(`${command} is not installed`);
    const { stderr } = z.object({ stderr: z.string() }).catch({ stderr: '' }).parse(error);
    throw new Error(stderr.trim().split('\n').at(-1) || errorMessage(error));
  }
}

const printed = async (command: string, ...args: string[]): Promise<string> =>
  (await bothOutputs(command, ...args)).stdout;

const Tools = z.object({ id: z.literal(2), result: z.object({ tools: z.array(z.unknown()) }) });

/** Which of verl and TRL a Python has, and whether verl finds the plugin of the wheel. */
const HOOKS = `
import importlib.metadata as m
def version(name):
    try: return name + " " + m.version(name)
    except m.PackageNotFoundError: return None
points = m.entry_points()
points = points.select(group="verl.plugins") if hasattr(points, "select") else points.get("verl.plugins", [])
found = [one for one in map(version, ("rollout-viewer", "verl", "trl", "ray")) if one]
print(", ".join(found))
print(any(one.value == "rollout_viewer.verl" for one in points))
`;

/** Programs and servers around this one: remote dumps, queues, agents, images, trainers. */
export const NEIGHBOURS: readonly DoctorCheck[] = [
  {
    name: 'ssh',
    needed: false,
    remedy: 'apt-get install openssh-client: then node7:/runs/x opens a dump of another machine',
    prove: async () => (await bothOutputs('ssh', '-V')).stderr,
  },
  {
    name: 'rclone',
    needed: false,
    remedy: 'https://rclone.org/install: then rclone:REMOTE:x is opened',
    async prove() {
      const [version = ''] = (await printed('rclone', 'version')).split('\n');
      const remotes = (await printed('rclone', 'listremotes')).split('\n').filter((name) => name !== '');
      return `${version}, ${remotes.length === 0 ? 'no remotes: rclone config' : remotes.join(' ')}`;
    },
  },
  {
    name: 'Redis',
    needed: false,
    remedy: 'redis-server, for --queue redis://HOST; --queue DIR needs none',
    prove: () => askRedis(REDIS_PORT),
  },
  {
    name: 'MCP',
    needed: false,
    remedy: 'run `rollout-viewer mcp DIR` by hand to see its messages',
    prove: () => askMcp([...process.execArgv, process.argv[1] ?? '']),
  },
  ...ENGINES.map((engine) => ({
    name: engine,
    needed: false,
    remedy: `one of ${ENGINES.join(', ')} is enough, for --image NAME; --image oci:ARCHIVE and rootfs:DIR need none of them`,
    async prove() {
      const version = await printed(engine, '--version');
      // A client without its server or its rights has a version, too.
      if (engine !== 'apptainer') await printed(engine, 'image', 'ls', '--quiet');
      return version;
    },
  })),
  {
    name: 'trainers',
    needed: false,
    remedy: 'pip install the wheel into the Python that trains (docs/trainers.md)',
    async prove() {
      const [found = '', hasPlugin] = (await printed('python3', '-c', HOOKS)).split('\n');
      if (!found.includes('rollout-viewer'))
        throw new Error(`python3 has ${found || 'no trainer'}, and no rollout-viewer`);
      return `python3 has ${found}${hasPlugin === 'True' ? '; verl loads the recorder' : ''}`;
    },
  },
];

/** The version of a Redis on this machine; one that asks for a password is there, too. */
export function askRedis(port: number): Promise<string> {
  const place = `127.0.0.1:${port}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: MOST_MS }, () => socket.write('INFO server\r\n'));
    let answer = '';
    const refuse = (reason: string) => {
      socket.destroy();
      reject(new Error(reason));
    };
    socket.setEncoding('utf8').on('data', (part) => {
      answer += part;
      const version = /redis_version:(\S+)/.exec(answer)?.[1];
      const wish = /^-(NOAUTH|NOPERM)/.exec(answer)?.[1];
      if (version !== undefined) resolve(`${version} at ${place}`);
      else if (wish !== undefined) resolve(`at ${place}; it asks for a password (ROLLOUT_VIEWER_QUEUE_PASSWORD)`);
      else if (answer.includes('\r\n') && !/^[$+]/.test(answer)) refuse(`the server at ${place} is not a Redis`);
      else return;
      socket.destroy();
    });
    socket.on('timeout', () => refuse(`${place} does not answer`));
    socket.on('end', () => refuse(`the server at ${place} is not a Redis`));
    socket.on('error', (error) => refuse(errorCode(error) === 'ECONNREFUSED' ? `none at ${place}` : error.message));
  });
}

/** Starts an MCP server on an empty folder, and counts its tools. @param program this program, as arguments of Node */
export async function askMcp(program: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-doctor-'));
  const child = spawn(process.execPath, [...program, 'mcp', folder], {
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: MOST_MS,
  });
  child.stdin.on('error', () => {});
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  try {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'doctor', version: '1' } };
    send({ id: 1, method: 'initialize', params });
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/list' });
    for await (const line of createInterface({ input: child.stdout })) {
      const answer = Tools.safeParse(JSON.parse(line));
      if (answer.success)
        return `${answer.data.result.tools.length} tools; an agent starts it with: rollout-viewer mcp DIR`;
    }
    throw new Error('the server ended before it answered');
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
