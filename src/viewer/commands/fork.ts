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
        'run the calls before the turn in this image, and the tools of the branches in the resulting state',
      ),
    )
      .description('continue a recorded rollout from any turn with a live model')
      .argument('<locator>', 'FILE:LINE, or FILE:LINE#tN')
      .option(
        '--turn <n>',
        'the turn to sample again, from 0; if it is not the assistant’s, the model answers it',
        countOf,
      )
      .requiredOption('--model-url <url>', 'an OpenAI-compatible server, up to and with /v1')
      .option('--model <name>', 'the model to use (required without --agent)')
      .option(
        '--agent <command>',
        'run the agent that made the rollout: the record answers it up to the turn, then the live model',
      )
      .option('-n, --n <k>', 'number of branches', positive, 1)
      .option('--edit [file]', 'edit the turn first, in $EDITOR or with the text of this file (`-` for stdin)')
      .option(
        '--each-turn',
        'make n branches from each turn of the assistant, and show how many succeed: which turn decided?',
      )
      .option('--success <score>', 'the lowest score of a branch that succeeds', Number, SUCCESS)
      .option('--out <dir>', 'where to write branches (default: the journal)')
      .option(
        '--journal <dir>',
        'where to keep the list of branches (default: the state directory of this user; `beside`: .rollout-viewer beside the dump)',
      )
      .option('--tool-format <name>', 'how the model writes tool calls in its text')
      .addOption(
        new Option(
          '--api <name>',
          'how to query the server: by messages, or by token ids (SGLang, vLLM), starting from the recorded tokens',
        )
          .choices(['chat', 'generate', 'completions'])
          .default('chat'),
      )
      .option('--tokenizer <path>', 'tokenizer.json or its folder, for an --api that takes token ids')
      .option('--json', 'one JSON object per branch, and the turns as they arrive'),
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
