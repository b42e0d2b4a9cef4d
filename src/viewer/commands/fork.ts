import { Command, Option } from 'commander';
import { SUCCESS } from '../../replay/spread.ts';
import { countOf } from './count.ts';
import { withReading } from './dump-options.ts';
import { FORK_SETTINGS, type ForkFlags } from './fork-flags.ts';
import { run } from './output.ts';
import { addReward } from './reward-flags.ts';
import { positive, withSandbox } from './sandbox-flags.ts';
import { addSettings } from './setting-flags.ts';
import { withWorld } from './world-flags.ts';

export function forkCommand(): Command {
  const command = withReading(
    addReward(
      withWorld(
        withSandbox(new Command('fork')),
        'run the calls before the turn in this image, and the tools of the branches in the state after them',
      ),
    )
      .description('go on from a turn of a recorded rollout with a live model')
      .argument('<locator>', 'FILE:LINE, or FILE:LINE#tN')
      .option(
        '--turn <n>',
        'the turn to sample again, counted from 0; the model answers a turn that is not the assistant’s',
        countOf,
      )
      .requiredOption('--model-url <url>', 'an OpenAI-compatible server, up to and with /v1')
      .option('--model <name>', 'the model there (needed without --agent)')
      .option(
        '--agent <command>',
        'the agent that made the rollout: it is answered from the record up to the turn, then by the live model',
      )
      .option('-n, --n <k>', 'branches', positive, 1)
      .option(
        '--edit [file]',
        'change the turn before it goes on: in $EDITOR, or to the text of this file (`-`: of stdin)',
      )
      .option(
        '--each-turn',
        'n branches from each turn of the assistant, and the share of them that succeeds: which turn decided',
      )
      .option('--success <score>', 'a branch succeeds from this score on', Number, SUCCESS)
      .option('--out <dir>', 'where branches are kept (default: the journal)')
      .option(
        '--journal <dir>',
        'where the list of branches is kept (default: the state directory of this user; `beside`: .rollout-viewer beside the dump)',
      )
      .option('--tool-format <name>', 'the grammar of calls that the model writes in its text')
      .addOption(
        new Option(
          '--api <name>',
          'how the server is asked: by messages, or by token ids (SGLang, vLLM), then from the recorded tokens',
        )
          .choices(['chat', 'generate', 'completions'])
          .default('chat'),
      )
      .option('--tokenizer <path>', 'tokenizer.json or its folder, for an --api that takes token ids')
      .option('--json', 'one JSON object a branch, and the turns as they come'),
  );
  addSettings(command, FORK_SETTINGS);
  return command
    .addHelpText('after', '\nThe API key is taken from ROLLOUT_VIEWER_API_KEY, else from OPENAI_API_KEY.')
    .action((locator: string, flags: ForkFlags) =>
      run(async () => {
        const { fork } = await import('./fork-run.ts');
        return fork(locator, flags);
      }),
    );
}
