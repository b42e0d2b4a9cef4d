import { Command } from 'commander';
import { findFiles } from '../../core/dump/paths.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { DONE, run, say } from './output.ts';

interface McpFlags extends ReadingFlags {
  allowExec?: boolean;
}

export const mcpCommand = (): Command =>
  withReading(
    new Command('mcp')
      .description('serve rollouts to a coding agent over MCP on stdin and stdout; only labels can be written')
      .argument('<paths...>', 'directories or files of dumps; the agent sees nothing else')
      .option('--allow-exec', 'let the agent run recorded tool calls again, in the sandbox'),
  ).action((paths: string[], flags: McpFlags) =>
    run(async () => {
      // A mistake is reported before anything is served.
      await dumpOptions(flags);
      for (const path of paths)
        if (findFiles([path], true).files.length === 0)
          say(`${path}: no file to serve there yet; it is served as soon as there is one`);
      const [{ serveMcp }, { openOnScreen }] = await Promise.all([
        import('../mcp/serve.ts'),
        import('../mcp/open-on-screen.ts'),
      ]);
      await serveMcp({
        paths,
        allowsReplay: flags.allowExec === true,
        reading: readingArguments(flags),
        open: openOnScreen,
      });
      return DONE;
    }),
  );

/** The reading flags as typed, for the commands that answer. */
function readingArguments(flags: ReadingFlags): string[] {
  const { validation = [], format, map, chatTemplate, groupBy } = flags;
  const single = Object.entries({ format, map, 'chat-template': chatTemplate, 'group-by': groupBy });
  return [
    ...validation.map((glob) => `--validation=${glob}`),
    ...single.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
  ];
}
