import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { plural } from '../../../core/text/numbers.ts';
import type { TakenAway } from '../state/effect.ts';
import type { JobOf, RunnerContext } from './context.ts';

/** More locators than this may not fit on a command line. */
const MOST_LOCATORS = 20_000;
/** Messages beyond this are not read. */
const MOST_TEXT = 100_000;

/**
 * Writes rollouts to a file as the command line does, by running it: the screen stays quick, and both write the same bytes.
 * @throws Error
 */
export async function takeAway(runner: RunnerContext, { rows, what }: JobOf<'write'>): Promise<void> {
  const { dump, words, journal, say } = runner.options;
  if (dump.paths.length === 0) throw new Error('this came through a pipe, and cannot be read again: open a file');
  const locators: string[] = [];
  for (let index = 0; rows !== null && index < rows.length; index++) {
    const place = rows.at(index);
    if (place !== null) locators.push(place.file.locator(place.record));
  }
  if (locators.length > MOST_LOCATORS)
    throw new Error(
      `${plural(locators.length, 'rollout')} at once: \`rollout-viewer export --filter\` writes any number, the screen ${MOST_LOCATORS}`,
    );
  const path = outside(runner, what, locators[0] ?? '');
  const args = [
    ...commandOf(what, path),
    ...words,
    ...(journal === undefined ? [] : [`--journal=${journal}`]),
    '--',
    ...(rows === null ? dump.paths : locators),
  ];
  say(`writing ${path} …`, 'info');
  await runner.jobs.during(async (signal) => say(await runCommand(args, runner.options.env, signal), 'info'));
}

const commandOf = (what: TakenAway, path: string): string[] =>
  what.form === 'page'
    ? ['show', `--html=${path}`]
    : ['export', `--to=${what.format}`, `--out=${path}`, ...what.options];

/** The file to write. @throws Error if it lies in the dump, which is only read */
function outside({ options: { dump } }: RunnerContext, { path: named }: TakenAway, locator: string): string {
  const roots = dump.paths.map((path) => realFolder(path));
  const isInside = (path: string) => {
    const place = join(realFolder(dirname(path)), basename(path));
    return roots.some((root) => place === root || place.startsWith(root + sep));
  };
  if (named !== null) {
    const path = named.startsWith('~/') ? join(homedir(), named.slice(2)) : named;
    if (isInside(resolve(path))) throw new Error(`${named} is in the dump, which is only read: name another place`);
    return path;
  }
  const name = `${basename(locator).replace(/[^\w.-]+/g, '-')}.html`;
  const found = [process.cwd(), homedir()].find((folder) => !isInside(join(folder, name)));
  if (found === undefined) throw new Error('name a place outside the dump, which is only read: :html /tmp/page.html');
  return found === process.cwd() ? name : join(found, name);
}

const realFolder = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

/** @returns what the program said @throws Error with its message if it failed */
function runCommand(args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, NO_COLOR: '1' },
      signal,
    });
    const heard = { out: '', errors: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (heard.out.length < MOST_TEXT) heard.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (heard.errors.length < MOST_TEXT) heard.errors += text;
    });
    child.on('error', failed);
    child.on('close', (status) => {
      if (status === 0) done([...linesIn(heard.out), ...linesIn(heard.errors)].map(withoutName).join('; '));
      else failed(new Error(failureText(heard.errors) || `writing ended with status ${status}`));
    });
  });
}

const NAME = /^rollout-viewer: /;

const withoutName = (line: string): string => line.replace(NAME, '').trim();

const linesIn = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/**
 * The errors of a command as one sentence. The last one comes first: it says what to do, and the foot of the screen may
 * show no more. Lines without the program's name only point at a character of the one before.
 */
export function failureText(errors: string): string {
  const named = linesIn(errors).filter((line) => NAME.test(line));
  const [last = '', ...others] = (named.length > 0 ? named : linesIn(errors)).map(withoutName).reverse();
  return others.length === 0 ? last : `${last}: ${others.reverse().join('; ')}`;
}
