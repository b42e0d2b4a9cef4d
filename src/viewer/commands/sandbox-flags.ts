import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../core/dump/paths.ts';
import { isHttpUrl } from '../../core/http/model-url.ts';
import { countOf } from './count.ts';
import { addOwn, type OwnFlags } from './own-flags.ts';

export interface SandboxFlags extends OwnFlags {
  sandbox: string;
  tools?: string;
  tool: Record<string, string>;
  yes?: boolean;
  yesWeak?: boolean;
}

/** The flags that say which tools there are and where code runs. */
export const withSandbox = (command: Command): Command =>
  addOwn(command)
    .option('--sandbox <where>', 'auto, bubblewrap, pyodide, unconfined, or the URL of a SandboxFusion server', 'auto')
    .option('--tools <yaml>', "verl's tool file")
    .addOption(toolOption())
    .option('--yes-weak', 'allow --sandbox pyodide even without a wall around it')
    .option('--yes', 'consent to run on a server, unconfined, or with your own classes');

const PLACES = ['auto', 'bubblewrap', 'pyodide', 'unconfined'];

/** @throws UsageError for anything but a backend or an address */
export function checkSandbox(where: string): void {
  if (!PLACES.includes(where) && !isHttpUrl(where))
    throw new UsageError(`--sandbox ${where}: neither ${PLACES.join(', ')} nor the http(s) URL of a server`);
}

export const toolOption = (): Option =>
  new Option(
    '--tool <name=language>',
    'run the code of this tool as this language; with --image: shell, shell:stateless or edit; repeatable',
  )
    .argParser(mapping)
    .default({}, 'none');

function mapping(text: string, before: Record<string, string>): Record<string, string> {
  const [, name, language] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || language === undefined)
    throw new InvalidArgumentError('expected NAME=LANGUAGE, such as run_sh=bash.');
  return { ...before, [name]: language };
}

export function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && Number.isFinite(seconds)))
    throw new InvalidArgumentError('expected a number of seconds above 0.');
  return seconds;
}

export function positive(text: string): number {
  const number = countOf(text);
  if (number === 0) throw new InvalidArgumentError('expected a whole number from 1.');
  return number;
}
