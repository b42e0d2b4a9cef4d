import { openSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { ReadStream } from 'node:tty';
import { Dump } from '../../core/dump/dump.ts';
import { dumpOfStream } from '../../core/dump/stream-file.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import type { ReplaySettings } from '../tui/runner/settings.ts';
import { openScreen } from '../tui/shell/program.ts';
import { dumpOptions, readingWords } from './dump-options.ts';
import { keymapOf } from './keymap-of.ts';
import { DONE, say } from './output.ts';
import { conditionsOf, filterOf, sortOf } from './query-options.ts';
import { raterOf } from './rater.ts';
import { openMirrors } from './remote-paths.ts';
import { type RunAgainFlags, replayStart } from './run-again-options.ts';
import { tokenizerOf } from './tokenizer-option.ts';

export interface ViewFlags extends RunAgainFlags {
  validation?: string[];
  /** Waits for paths that do not exist yet, and keeps moving to the newest step. */
  follow?: boolean;
  notify?: string[];
  poll?: number;
  filter?: string;
  sort?: string;
  /** Do not restore the view from the last session. */
  fresh?: boolean;
  keys?: string;
  tokenizer?: string;
  /** Other programs of this user may point at rollouts. */
  listen?: boolean;
  rater?: string;
}

/** Opens paths in the terminal UI and returns when the user quits. Stdout must be a TTY. @throws UsageError as Dump.open does */
export async function view(paths: readonly string[], options: ViewFlags): Promise<number> {
  // A mistake in them is reported before anything is opened.
  const list = listOptions(options);
  const notify = conditionsOf(options.notify);
  const reading = { ...(await dumpOptions(options, options.tokenizer)), onWork: undefined };
  const stream = paths.length === 1 && paths[0] === '-' ? dumpOfStream(process.stdin, reading) : null;
  const dump =
    stream?.dump ??
    Dump.open(paths, { ...reading, holdBack: 'while-arriving', givesWay: true, waits: options.follow ?? false });
  const name = sanitiseLine(
    stream !== null ? 'stdin' : paths.map((path) => basename(shownPath(resolve(path)))).join(' '),
  );
  const mirrors = openMirrors();
  // With data on stdin, the keys come from the terminal itself.
  const input = process.stdin.isTTY ? process.stdin : new ReadStream(openSync('/dev/tty', 'r'));
  const { keymap, problems, journal } = await keymapOf(options.keys);
  const tokenizer = await tokenizerOf(options.tokenizer);
  await openScreen({
    dump,
    tokenizer,
    keymap,
    problems,
    name,
    connection: {
      status: () => mirrors.map(({ status }) => status).find((one) => one !== null) ?? null,
      onChange: (changed) => {
        for (const mirror of mirrors) mirror.onStatus(changed);
      },
    },
    input,
    output: process.stdout,
    env: process.env,
    poll: options.poll,
    list,
    fresh: options.fresh ?? false,
    follow: options.follow ?? false,
    listen: options.listen ? (await import('../listen/listener.ts')).listen : undefined,
    notify,
    rater: raterOf(options.rater),
    replay: { ...replayOptions(paths, options), journal: options.journal ?? journal ?? undefined },
  });
  stream?.stop();
  if (input !== process.stdin) input.destroy();
  for (const notice of [...problems, ...dump.notices]) say(notice);
  return DONE;
}

/** @throws UsageError that points at the character */
function listOptions({ filter, sort }: ViewFlags) {
  const query = filterOf(filter);
  const order = sortOf(sort);
  return {
    filter: query === null ? null : { text: query.text.trim(), isInverted: false },
    sort: order === null ? null : { key: order.key, descending: order.descending },
  };
}

/** @throws UsageError as replayStart does */
function replayOptions(paths: readonly string[], flags: ViewFlags): ReplaySettings {
  const { sandbox, yesWeak, tools, tool: mapped, timeout, exact, journal, python, pythonPath } = flags;
  const path = paths[0] === '-' ? null : (paths[0] ?? null);
  return {
    path,
    sandbox,
    yesWeak,
    tools,
    mapped,
    timeout,
    exact,
    journal,
    python,
    pythonPath,
    words: readingWords(flags),
    start: replayStart(flags),
  };
}
