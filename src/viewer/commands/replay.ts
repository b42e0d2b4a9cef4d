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
      .description('run recorded tool calls again, and tell what changed')
      .argument('<rollouts...>', 'FILE:LINE, FILE:LINE#tN for the calls of one turn, or directories and files for all')
      .option('--call <n>', 'only this call of each rollout, counted from 0', countOf)
      .option('-i, --prompt', 'a Python prompt at the state before a call (with --call N or #tN); nothing is kept')
      .option('--repeat <k>', 'run each call this many times: shows which calls are flaky', positive, 1)
      .option('--session', 'the calls of a tool share one notebook, as those of a tool with `stateful: true` do')
      .option('--concurrency <n>', 'calls at the same time (default: the cores here, 2 against a URL)', positive)
      .option(
        '--timeout <seconds>',
        'for the code of a call (default: what the call or its tool says, else 30)',
        secondsOf,
      )
      .option(
        '--sandbox-python <path>',
        'the interpreter of Python programs in bubblewrap, that of a virtual environment for one; given twice: what changes from the first to the second',
        (path: string, before: string[] = []) => [...before, path],
      )
      .option(
        '--sandbox-requirements <file>',
        'a requirements file: a virtual environment with its packages is made once, with pip, and is the interpreter in bubblewrap',
      )
      .option('--from <n>', 'with --image: begin at this call, in the state that was kept before it', countOf)
      .option('--stop-at-drift', 'with --image: end at the first call whose result is another one')
      .option('--bisect <command>', 'with --image: the call that made this command pass, fail, or change its answer')
      .option('--table', 'instead of a line a call: tables of drift by tool, step, interpreter and environment')
      .option('--resume', 'leave out what the journal has an answer for')
      .option('--no-exec', 'run nothing: tell what would run, and where')
      .option(
        '--journal <dir>',
        'where results are kept (default: the state directory of this user; `beside`: .rollout-viewer beside the dump)',
      )
      .option('--exact [rules...]', `compare these exactly, or everything: ${RULE_NAMES.join(', ')}`)
      .option('--filter <expr>', 'of those, only the rollouts that match it, as in `ls --filter`')
      .option(
        '--agent <command>',
        'instead of calls run this agent on each rollout, with all replies from the record and no model: does it send the same requests?',
      )
      .option('--junit <file>', 'with --agent: the verdicts as JUnit XML')
      .option('--json', 'one JSON object a call'),
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
