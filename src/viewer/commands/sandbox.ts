// rollout-viewer sandbox: a server that speaks SandboxFusion's API.

import { Command, InvalidArgumentError } from 'commander';
import { sanitise } from '../../core/text/sanitise.ts';
import { BACKEND_CHOICES, type BackendChoice } from '../../sandbox/server/backends/choose.ts';
import { type BackendUrl, isBackendUrl } from '../../sandbox/server/backends/remote.ts';
import type { FromConfig } from '../../sandbox/server/config-file.ts';

/** Other users of the machine can read the arguments of a process, but not its environment. */
const TOKEN_VARIABLE = 'ROLLOUT_VIEWER_SANDBOX_TOKEN';

interface Options {
  host: string;
  port: number;
  backend?: BackendChoice | BackendUrl;
  config?: string;
  maxConcurrency?: number;
  token?: string;
  dataset: string[];
  toolchain: string[];
  allowHost: string[];
  yesUnconfined?: boolean;
  yesWeak?: boolean;
  cgroup: boolean;
  cgroupV1?: boolean;
  maxRunTimeout: number;
  memoryBudget?: number;
  memory?: number;
  processes: number;
  disk: number;
  output: number;
}

const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
  };

function backendOf(text: string): BackendChoice | BackendUrl {
  const known = BACKEND_CHOICES.find((choice) => choice === text);
  if (known !== undefined) return known;
  if (isBackendUrl(text)) return text;
  throw new InvalidArgumentError(`expected one of ${BACKEND_CHOICES.join(', ')}, or a URL.`);
}

const collectOption = (option: string, before: string[]): string[] => [...before, option];

export const sandboxCommand = (): Command =>
  new Command('sandbox')
    .description("serve SandboxFusion's API: run programs in a sandbox on this machine")
    .option('--host <host>', 'the address to listen on; beyond loopback, clients need a token', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 for a free one', wholeNumber(0, 65_535), 8080)
    .option(
      '--backend <where>',
      `what executes code: ${BACKEND_CHOICES.join(', ')}, or the URL of a SandboxFusion server to forward to (default: "auto")`,
      backendOf,
    )
    .option('--config <file>', "SandboxFusion's YAML file: concurrency, data sets, toolchains; flags override it")
    .option(
      '--max-concurrency <n>',
      'programs at the same time, asleep or not (default: by processors and memory)',
      wholeNumber(1, 10_000),
    )
    .option(
      '--token <token>',
      `the token that clients must send: Authorization: Bearer TOKEN, or http://:TOKEN@host as the URL; ${TOKEN_VARIABLE} hides it from ps`,
    )
    .option(
      '--dataset <name=file>',
      'problems for /submit and the prompt endpoints, from a JSONL file; repeatable',
      collectOption,
      [],
    )
    .option(
      '--toolchain <dir>',
      'a folder for programs to use: rustup, pyenv, go, a virtual environment, node_modules …; repeatable',
      collectOption,
      [],
    )
    .option('--allow-host <name>', 'a host name to accept in requests, besides loopback; repeatable', collectOption, [])
    .option('--yes-unconfined', 'confirm running without isolation (--backend unconfined)')
    .option('--yes-weak', 'allow --backend pyodide even without a wall around it')
    .option('--no-cgroup', 'use no control groups')
    .option(
      '--cgroup-v1',
      'as root without version 2, use control groups of version 1 for forked Python too: exact, but slower',
    )
    .option('--max-run-timeout <seconds>', 'the longest time limit that a request may set', wholeNumber(1, 86_400), 600)
    .option(
      '--memory-budget <mb>',
      'memory for all programs together (default: 3/4 of the free memory)',
      wholeNumber(64, 2 ** 30),
    )
    .option('--memory <mb>', "memory limit of a run that sets none (default: the backend's)", wholeNumber(16, 2 ** 30))
    .option('--processes <n>', 'process limit of a run', wholeNumber(1, 100_000), 256)
    .option('--disk <mb>', 'disk space that a run may write', wholeNumber(1, 1_000_000), 512)
    .option('--output <mb>', 'output kept of each of its streams', wholeNumber(1, 64), 4)
    .action(serve);

async function serve(options: Options): Promise<void> {
  const say = (line: string) => process.stderr.write(`${sanitise(line)}\n`);
  // The kernel shows this instead of the arguments, so a token is visible only for the first moment.
  if (options.token !== undefined) process.title = 'rollout-viewer sandbox';
  const token = options.token ?? process.env[TOKEN_VARIABLE] ?? null;
  try {
    // Loaded on demand: listing rollouts must not wait for a server.
    const { startSandbox } = await import('../../sandbox/server/index.ts');
    const config = await configOf(options.config);
    for (const note of config.notes) say(note);
    const maxConcurrency = options.maxConcurrency ?? config.maxConcurrency;
    const server = await startSandbox({
      host: options.host,
      port: options.port,
      backend: options.backend ?? (config.backend === undefined ? 'auto' : backendOf(config.backend)),
      ...(config.casesAtOnce !== undefined && { casesAtOnce: config.casesAtOnce }),
      token: token === '' ? null : token,
      ...(maxConcurrency !== undefined && { maxConcurrency }),
      datasets: [...config.datasets, ...options.dataset],
      toolchains: [...options.toolchain, ...config.toolchains],
      allowHosts: options.allowHost,
      ...(options.cgroup ? options.cgroupV1 && { cgroups: [2, 1] as const } : { cgroups: [] }),
      yesUnconfined: options.yesUnconfined ?? false,
      yesWeak: options.yesWeak ?? false,
      maxRunTimeout: options.maxRunTimeout,
      ...(options.memoryBudget !== undefined && { memoryBudgetMb: options.memoryBudget }),
      limits: {
        memoryMb: options.memory ?? null,
        processes: options.processes,
        diskMb: options.disk,
        outputBytes: options.output * 1024 * 1024,
      },
      log: say,
    });
    for (const reason of server.backend.why) say(`not used: ${reason}`);
    if (server.token !== null && server.token !== token) say(`token: ${server.token}`);
    say(`sandbox: ${server.backend.name}${server.backend.weak ? ' (weak: no wall)' : ''}, listening on ${server.url}`);
    await untilSignal();
    say('ending what runs …');
    void untilSignal().then(() => server.close('now'));
    await server.close();
    process.exit(0);
  } catch (error) {
    say(`rollout-viewer sandbox: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(2);
  }
}

async function configOf(file: string | undefined): Promise<FromConfig> {
  if (file === undefined) return { datasets: [], toolchains: [], notes: [] };
  return (await import('../../sandbox/server/config-file.ts')).readConfig(file);
}

const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
