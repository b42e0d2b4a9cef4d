import { Command } from 'commander';
import { RULE_NAMES } from '../../replay/compare/rules.ts';
import { countOf } from './count.ts';
import { withReading } from './dump-options.ts';
import { run } from './output.ts';
import { withQueue } from './queue-flags.ts';
import type { ReplayFlags } from './replay-flags.ts';
import { positive, secondsOf, withSandbox } from './sandbox-flags.ts';
import { withWorld } from './world-flags.ts';

export const replayCommand = (): Command =>
  withReading(
    withWorld(withSandbox(withQueue(new Command('replay'))))
      .description('run recorded tool calls again, and report what changed')
      .argument('<rollouts...>', 'FILE:LINE, FILE:LINE#tN for the calls of one turn, or directories and files for all')
      .option('--call <n>', 'run only this call of each rollout, from 0', countOf)
      .option('-i, --prompt', 'open a Python prompt in the state before a call (with --call N or #tN); nothing is kept')
      .option('--repeat <k>', 'run each call this many times, to find flaky calls', positive, 1)
      .option('--session', 'run the calls of a tool in one notebook, as for a tool with `stateful: true`')
      .option('--concurrency <n>', 'calls to run at the same time (default: one per core, 2 with a URL)', positive)
      .option('--timeout <seconds>', 'time limit of a call (default: that of the call or its tool, else 30)', secondsOf)
      .option(
        '--sandbox-python <path>',
        'the Python interpreter in bubblewrap, for example of a virtual environment; give it twice to compare two',
        (path: string, before: string[] = []) => [...before, path],
      )
      .option(
        '--sandbox-requirements <file>',
        'use a virtual environment with the packages of this requirements file, made once with pip, in bubblewrap',
      )
      .option('--from <n>', 'with --image: start at this call, in the state kept from before it', countOf)
      .option('--stop-at-drift', 'with --image: stop at the first call whose result differs')
      .option(
        '--bisect <command>',
        'with --image: find the call that made this command pass, fail, or change its answer',
      )
      .option(
        '--table',
        'print tables of drift by tool, step, interpreter and environment instead of one line per call',
      )
      .option('--resume', 'skip calls that the journal has a result for')
      .option('--no-exec', 'run nothing; say what would run, and where')
      .option(
        '--journal <dir>',
        'where results are kept (default: the state directory of this user; `beside`: .rollout-viewer beside the dump)',
      )
      .option('--exact [rules...]', `compare without these rules, or without any: ${RULE_NAMES.join(', ')}`)
      .option('--filter <expr>', 'only rollouts that match it, as in `ls --filter`')
      .option(
        '--agent <command>',
        'run this agent instead of calls, with every reply from the record: does it send the same requests?',
      )
      .option('--junit <file>', 'with --agent: the verdicts as JUnit XML')
      .option('--json', 'one JSON object per call'),
  ).action((args: string[], flags: ReplayFlags) =>
    run(async () => {
      if (flags.agent !== undefined)
        return (await import('./agent-run.ts')).replayAgent(args, { ...flags, agent: flags.agent });
      if (flags.image !== undefined) return (await import('./replay-world.ts')).replayInWorld(args, flags);
      // Engine and sandbox are loaded only for this command, so that the others start without them.
      const { replay } = await import('./replay-run.ts');
      return replay(args, flags);
    }),
  );
