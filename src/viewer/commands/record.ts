import { Command } from 'commander';
import { countOf } from './count.ts';
import { run } from './output.ts';
import type { RecordFlags } from './record-run.ts';

export const recordCommand = (): Command =>
  new Command('record')
    .description("record an agent's requests: a proxy between agent and model server that writes a dump")
    .argument('[command...]', 'after --: the agent, started with the address in OPENAI_BASE_URL and ANTHROPIC_BASE_URL')
    .requiredOption('--out <dir>', 'the folder of the dump, with one file per rollout')
    .requiredOption('--model-url <url>', 'the model server, with or without its /v1')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <n>', 'the port to listen on (default: a free one)', countOf)
    .option('--allow-host <name...>', 'other host names to accept in requests')
    .option('--tokens', 'ask the server for token ids and log probabilities')
    .passThroughOptions()
    .action((command: string[], flags: RecordFlags) =>
      run(async () => (await import('./record-run.ts')).record(command, flags)),
    );
