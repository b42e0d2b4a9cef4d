import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ToolUse } from '../../analysis/actions/recorded-actions.ts';
import { ENGINES, type EngineName } from '../../sandbox/worlds/engine-image.ts';
import type { ShellKind } from '../../sandbox/worlds/world-shell.ts';
import { secondsOf } from './sandbox-flags.ts';

const USES: readonly string[] = ['shell', 'shell:stateless', 'edit'] satisfies readonly ToolUse[];

const isUse = (text: string): text is ToolUse => USES.includes(text);

/** `--tool NAME=shell` for a command that tracks files. */
export const toolUse = (): Option =>
  new Option('--tool <name=use>', `how a tool of this name works: ${USES.join(', ')}; repeatable`)
    .argParser((text: string, before: Record<string, string>) => {
      const [, name, use] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (name === undefined || use === undefined || !isUse(use))
        throw new InvalidArgumentError(`expected NAME=USE with one of ${USES.join(', ')}.`);
      return { ...before, [name]: use };
    })
    .default({}, 'none');

/** The values of --tool that say how a container's tool works. */
export const usesOf = (tool: Readonly<Record<string, string>>): Record<string, ToolUse> =>
  Object.fromEntries(Object.entries(tool).filter((entry): entry is [string, ToolUse] => isUse(entry[1])));

export interface WorldFlags {
  image?: string;
  engine?: EngineName;
  /** Allows `host`: its commands read this machine's files. */
  yes?: boolean;
  workdir?: string;
  env?: Record<string, string>;
  shell?: ShellKind;
  timeLimit?: number;
  network?: boolean;
  tool: Record<string, string>;
  journal?: string;
}

/** The flags that choose the world in which recorded calls run. */
export const withWorld = (command: Command, does = 'run the whole rollout in this image'): Command =>
  withImage(command, does).option('--env <name=value>', 'set a variable of its environment; repeatable', variable);

/** The same, but the variables: a new rollout names its environment by --env. @param does what the image is for */
export const withImage = (command: Command, does: string): Command =>
  command
    .option(
      '--image <image>',
      `${does}: a name known to podman, docker or apptainer, a task folder with a Dockerfile, oci:ARCHIVE, rootfs:DIR (an unpacked root file system), recorded (the image that the record names), or host (this machine's files under an overlay)`,
    )
    .addOption(new Option('--engine <name>', 'the program that holds or builds the image').choices(ENGINES))
    .option('--workdir <dir>', 'the directory that commands start in, if the record does not name it')
    .addOption(
      new Option('--shell <kind>', 'what the shell keeps from call to call, if the record does not say').choices([
        'persistent',
        'cwd',
        'stateless',
      ]),
    )
    .option('--time-limit <seconds>', 'time limit of a call in a world (default: as recorded, else 120)', secondsOf)
    .option('--network', 'let the world, and a build, use the network');

function variable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('expected NAME=VALUE.');
  return { ...before, [name]: value };
}
