import { type Command, InvalidArgumentError, Option } from 'commander';

/** Answers `--queue` with the reason why this command has none: people know it from `rollout`. */
export const withoutQueue = (command: Command): Command =>
  command.addOption(
    new Option('--queue <url>').hideHelp().argParser(() => {
      throw new InvalidArgumentError(
        `\`${command.name()}\` does its work in this process: only \`rollout\` has workers, see --concurrency.`,
      );
    }),
  );
