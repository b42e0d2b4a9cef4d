// rollout-viewer sandbox: a server that speaks SandboxFusion's API.
import { Command, InvalidArgumentError, Option } from 'commander';
import { BACKEND_CHOICES, type BackendChoice } from '../sandbox/server/backends/choose.ts';

interface Options {
  host: string;
  port: number;
  backend: BackendChoice;
  maxConcurrency?: number;
  token?: string;
  dataset: string[];
}

const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
  };

export const sandboxCommand = (): Command =>
  new Command('sandbox')
    .description("serve SandboxFusion's API: run programs in a sandbox of this machine")
    .option('--host <host>', 'where to listen; another than loopback needs --token', '127.0.0.1')
    .option('--port <port>', '0 takes a free one', wholeNumber(0, 65_535), 8080)
    .addOption(new Option('--backend <backend>', 'what executes code').choices(BACKEND_CHOICES).default('auto'))
    .option(
      '--max-concurrency <n>',
      'programs at the same time, the rest waits in line (default: the number of cores)',
      wholeNumber(1, 10_000),
    )
    .option('--token <token>', 'what clients must bring: Authorization: Bearer TOKEN, or http://:TOKEN@host as the URL')
    .option(
      '--dataset <name=file>',
      'problems for /submit and the prompt endpoints, from a JSONL file; repeatable',
      (option: string, before: string[]) => [...before, option],
      [],
    )
    .action(serve);

async function serve(options: Options): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  try {
    // Loaded when it is asked for: nobody who lists rollouts waits for a server.
    const [{ startSandbox }, { loadTables }] = await Promise.all([
      import('../sandbox/server/index.ts'),
      import('../sandbox/datasets/datasets.ts'),
    ]);
    const server = await startSandbox({
      host: options.host,
      port: options.port,
      backend: options.backend,
      token: options.token ?? null,
      ...(options.maxConcurrency !== undefined && { maxConcurrency: options.maxConcurrency }),
      datasets: await loadTables(options.dataset),
      log: say,
    });
    for (const reason of server.backend.why) say(`not used: ${reason}`);
    say(`sandbox: ${server.backend.name}, listening on ${server.url}`);
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

const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
