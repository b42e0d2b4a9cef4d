import { createHash } from 'node:crypto';
import type { Condition } from '../../analysis/condition.ts';
import { type Alarm, LiveRun } from '../../analysis/live-run.ts';
import type { Dump, DumpChange } from '../../core/dump/dump.ts';
import { type DumpFile, type DumpRecord, QUIET } from '../../core/dump/dump-file.ts';
import { Follower } from '../../core/dump/follow.ts';
import { recordFactsOf } from '../../core/dump/record-facts.ts';
import type { StreamedDump } from '../../core/dump/stream-file.ts';
import { printJson } from '../../core/json/print.ts';
import { groupKeyOf } from '../../core/rollout/group-key.ts';
import { listColumns, listHeader, listLine } from '../present/list-text.ts';
import { DONE, hasColour, print, printStyled, say } from './output.ts';
import { rowJson } from './row-json.ts';

export interface FollowOptions {
  json?: boolean;
  /** Print whether each row was added, replaced or removed. */
  events?: boolean;
  poll?: number;
  /** Rows after which the list ends. */
  limit?: number;
  /** The conditions to report for a step that has become complete. */
  notify?: readonly Condition[];
  /** Selects the rows to print. */
  accepts?: (row: DumpRecord) => boolean;
}

type RowEvent = 'add' | 'replace' | 'remove';

interface SeenRow {
  hash: string;
  locator: string;
  /** It passed the filter. */
  isShown: boolean;
}

/**
 * Prints rows as they come: each complete line once, and again whenever its text is replaced on disk.
 * Rows are grouped by prompt from the first row on whose prompt differs from an earlier one in the file: until then all may be equal,
 * and a stream cannot be held back.
 */
export class RowPrinter {
  readonly #options: FollowOptions;
  /** The rows of each file as last read; undefined for one that was never read. */
  readonly #printed = new Map<DumpFile, (SeenRow | undefined)[]>();
  /** Hashes of the first two prompts of a file, and its uids so far. */
  readonly #seen = new Map<DumpFile, { prompts: Set<string>; uids: Set<string> }>();
  #left: number;
  #hasHeader = false;
  printed = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#left = options.limit ?? Number.POSITIVE_INFINITY;
  }

  /** The requested number of rows has been printed. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** Prints the column names, once. */
  header(paths: readonly string[]): void {
    if (this.#hasHeader || this.#options.json) return;
    this.#hasHeader = true;
    this.#write(`${this.#options.events ? ' '.repeat(8) : ''}${listHeader(listColumns(paths))}`);
  }

  /** Queues a change; rows are read before the call returns, because the file may change again. */
  take({ kind, file, from }: DumpChange): void {
    const printed = this.#printed.get(file) ?? [];
    this.#printed.set(file, printed);
    const count = kind === 'gone' ? 0 : file.count;
    for (let record = kind === 'appended' ? from : 0; record < count; record++) {
      const row = file.read(record);
      // A row that is unreadable right now because its file is being replaced stays as it was.
      if (row.raw === '') continue;
      // Nothing looks at records in the background here; a step's rates come from what is printed.
      file.index.setFacts(record, recordFactsOf(row));
      const before = printed[record];
      const hash = lineHash(row.raw);
      if (hash === before?.hash) continue;
      const isShown = this.#options.accepts?.(row) !== false;
      printed[record] = { hash, locator: row.locator, isShown };
      if (isShown) this.#print(before?.isShown ? 'replace' : 'add', row);
      else if (before?.isShown) this.#remove(before);
    }
    for (let record = printed.length - 1; record >= count; record--) this.#remove(printed[record]);
    printed.length = count;
  }

  /** A step matches an alarm condition: a line on stderr, and an event for whoever reads those. */
  alarm({ file, stats, condition, text }: Alarm): void {
    say(text);
    const { json, events } = this.#options;
    if (!json || !events) return;
    this.#write(
      printJson({
        event: 'notify',
        path: file.path,
        step: stats.step,
        condition: condition.text,
        message: text,
        rollouts: stats.rollouts,
        score: stats.mean,
        tool_error_rate: stats.observed === 0 ? null : stats.toolErrors / stats.observed,
        truncation_rate: stats.looked === 0 ? null : stats.truncated / stats.looked,
      }),
    );
  }

  /** Resolves when everything queued is printed. */
  settled(): Promise<void> {
    return this.#queue;
  }

  #print(event: RowEvent, row: DumpRecord): void {
    if (this.isFull) return;
    this.#left--;
    this.printed++;
    const { json, events } = this.#options;
    if (!json) {
      this.header([row.file.path]);
      const line = listLine(row, listColumns([row.file.path]), hasColour());
      this.#write(events ? `${event.padEnd(8)}${line}` : line);
      return;
    }
    const group = this.#groupOf(row);
    this.#write(printJson({ ...(events ? { event } : {}), ...rowJson(row, group) }));
  }

  #groupOf({ rollout, file }: DumpRecord): string | null {
    if (rollout === null) return null;
    const { key, prompt, from, uid } = groupKeyOf(rollout);
    const seen = this.#seen.get(file) ?? { prompts: new Set<string>(), uids: new Set<string>() };
    this.#seen.set(file, seen);
    if (uid !== null) {
      // Whether a second rollout has it is only known once one came.
      const isShared = seen.uids.has(uid);
      seen.uids.add(uid);
      return isShared ? uid : null;
    }
    if (seen.prompts.size < 2) seen.prompts.add(prompt);
    return from === 'uid' || seen.prompts.size > 1 ? key : null;
  }

  #remove(row: SeenRow | undefined): void {
    if (!this.#options.events || !row?.isShown) return;
    const { locator } = row;
    this.#write(this.#options.json ? printJson({ event: 'remove', locator }) : `remove  ${locator}`);
  }

  #write(line: string): void {
    const write = this.#options.json ? print : printStyled;
    this.#queue = this.#queue.then(() => write(`${line}\n`));
  }
}

const lineHash = (text: string): string => createHash('sha1').update(text).digest('base64').slice(0, 12);

const JUDGE_MS = 5000;

/** Lists what exists, then what arrives, until the program ends. */
export async function followPaths(dump: Dump, options: FollowOptions): Promise<number> {
  const printer = new RowPrinter(options);
  // The names below a path that does not exist yet have no known width.
  if (dump.files.length > 0) printer.header(dump.files.map((file) => file.path));
  dump.onChange((change) => printer.take(change));
  const live = new LiveRun(dump, options.notify);
  const judge = (): void => {
    for (const alarm of live.judge()) printer.alarm(alarm);
  };
  let printed = 0;
  dump.subscribe(() => {
    judge();
    for (; printed < dump.notices.length; printed++) say(dump.notices[printed] ?? '');
  });
  // Watching begins with a look at every file, which would change the order of these.
  for (const file of dump.files) await dump.refresh(file);
  live.begin();
  const follower = new Follower(dump, { poll: options.poll });
  await follower.refreshAll();
  return new Promise((resolve) => {
    // Silence, too, completes a step. The timer also keeps the program alive.
    const timer = setInterval(judge, JUDGE_MS);
    const endWhenFull = () => {
      if (!printer.isFull) return;
      clearInterval(timer);
      follower.close();
      dump.close();
      void printer.settled().then(() => resolve(DONE));
    };
    dump.onChange(endWhenFull);
    endWhenFull();
  });
}

/** Lists a stream as it arrives. @returns how many rows were printed */
export async function followStream({ dump, ended, stop }: StreamedDump, options: FollowOptions): Promise<number> {
  const printer = new RowPrinter(options);
  dump.onChange((change) => printer.take(change));
  const live = new LiveRun(dump, options.notify);
  live.begin();
  dump.subscribe(() => {
    for (const alarm of live.judge()) printer.alarm(alarm);
  });
  const full = new Promise<void>((resolve) => dump.onChange(() => printer.isFull && resolve()));
  await Promise.race([ended, full]);
  // When a stream ends, its rows are complete, however recently the last one came.
  if (!printer.isFull) for (const alarm of live.judge(Date.now() + QUIET)) printer.alarm(alarm);
  if (printer.isFull) {
    dump.close();
    stop();
  }
  await printer.settled();
  for (const notice of dump.notices) say(notice);
  return printer.printed;
}
