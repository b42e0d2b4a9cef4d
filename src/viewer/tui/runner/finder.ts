import { rawFilter } from '../../../analysis/text-search.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { truncate } from '../../../core/text/fit.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { LANDMARKS } from '../rows/landmarks.ts';
import { allRows } from '../rows/rows.ts';
import type { FindReport } from '../state/action.ts';
import type { FindJob, HitJob } from '../state/find.ts';
import type { Rows } from '../state/rows.ts';
import type { State } from '../state/state.ts';

/** ms of a slice; keys are handled between two. */
const SLICE_MS = 8;
const NEWS_MS = 150;
/** Characters of a record that is searched completely at once; for a longer one, go to it and search there. */
const LONG = 200_000;

export interface FinderHost {
  readonly data: Data;
  state(): State;
  report(report: FindReport): void;
}

/** The text to look for in each record. */
interface Look {
  /** Without a parse; true if only a parse can decide. */
  mayHold(place: Place): boolean;
  /** Returns true to stop. */
  holds(place: Place, record: DumpRecord): boolean;
}

/** Searches the records of a dump for what a key asked for, in slices so that the screen stays responsive. One search at a time. */
export class Finder {
  readonly #host: FinderHost;
  #run = 0;
  #under = 0;

  constructor(host: FinderHost) {
    this.#host = host;
  }

  cancel(): void {
    this.#run++;
  }

  get isBusy(): boolean {
    return this.#under > 0;
  }

  async start(job: FindJob): Promise<void> {
    this.#under++;
    if (job.kind === 'hit') await this.#findHit(job);
    else if (job.kind === 'landmark') await this.#findLandmark(job);
    else await this.#findId(job);
    this.#under--;
  }

  async #findHit(job: HitJob): Promise<void> {
    const run = ++this.#run;
    const { data } = this.#host;
    const mayHold = rawFilter(job.value);
    let found: Place | null = null;
    const look: Look = {
      mayHold: (place) => {
        // The text of a long record is not read on this thread.
        const raw = data.dump.isLong(place) ? '' : place.file.raw(place.record);
        return raw === '' || (raw !== null && mayHold(raw));
      },
      holds: (place, record) => {
        const scan = data.searches.of(record, this.#host.state().display, job.value);
        if (record.bytes <= LONG) scan?.run(() => false);
        if (scan === null || (scan.isDone && scan.hits.length === 0)) return false;
        found = place;
        return true;
      },
    };
    const rows = () => data.rows(this.#host.state());
    const start = startRow(rows(), job.from, job.by);
    const total = job.by > 0 ? rows().length - 1 - start : start;
    const what = truncate(sanitiseLine(job.value), 24);
    await this.#walk(run, rows, job.from, job.by, look, { what, total, before: 0 });
    if (run === this.#run) this.#host.report({ type: 'found', job, place: found, nth: 0 });
  }

  async #findLandmark(job: Extract<FindJob, { kind: 'landmark' }>): Promise<void> {
    const run = ++this.#run;
    const kind = LANDMARKS[job.landmark];
    const direction = job.by < 0 ? -1 : 1;
    let wanted = Math.abs(job.by);
    let last: { place: Place; nth: number } | null = null;
    const mayHold = (place: Place): boolean => kind.has(place, this.#host.state()) !== false;
    const holds = (place: Place, record: DumpRecord): boolean => {
      const state = this.#host.state();
      const count = kind.landmarks(record, state).length;
      // A rollout known to have one, at an unknown place, counts as a whole.
      const found = count === 0 && kind.has(place, state) === true ? 1 : count;
      if (found === 0) return false;
      last = { place, nth: Math.min(wanted, found) };
      wanted -= found;
      return wanted <= 0;
    };
    const rows = () => this.#host.data.rows(this.#host.state());
    const what = `${/^[aeiou]/.test(kind.word) ? 'an' : 'a'} ${kind.word}`;
    const start = startRow(rows(), job.from, direction);
    const total = direction > 0 ? rows().length - 1 - start : start;
    await this.#walk(run, rows, job.from, direction, { mayHold, holds }, { what, total, before: 0 });
    // If there are fewer than the count asks for, stop at the last one.
    const found = last as { place: Place; nth: number } | null;
    if (run === this.#run) this.#host.report({ type: 'found', job, place: found?.place ?? null, nth: found?.nth ?? 0 });
  }

  async #findId(job: Extract<FindJob, { kind: 'id' }>): Promise<void> {
    const run = ++this.#run;
    // As JSON writes it: characters beyond ASCII may be escaped, in which case only a parse can decide.
    const isPlain = /^[\x20-\x7e]+$/.test(job.id) && !/["\\/]/.test(job.id);
    // A request id is a UUID, copied from a log with or without hyphens: verl's own viewer accepts both as well.
    const wanted = withoutHyphens(job.id);
    const inText = new RegExp([...wanted].map((letter) => letter.replace(/\W/, '\\$&')).join('-?'));
    const begins = (id: string | null | undefined): boolean =>
      id != null && wanted !== '' && withoutHyphens(id).startsWith(wanted);
    let found: Place | null = null;
    const { dump } = this.#host.data;
    const mayHold = (place: Place): boolean =>
      !isPlain || dump.isLong(place) || inText.test(place.file.raw(place.record) ?? '');
    const holds = (place: Place, { rollout }: DumpRecord): boolean => {
      if (!begins(rollout?.uid) && !begins(rollout?.requestId)) return false;
      found = place;
      return true;
    };
    const what = `the id ${sanitiseLine(job.id)}`;
    const rows = () => allRows(dump.files);
    const total = rows().length;
    const isDone = await this.#walk(run, rows, job.from, 1, { mayHold, holds }, { what, total, before: 0 });
    // Wraps around, up to the starting record, which may be the only match.
    if (!isDone && run === this.#run && job.from !== null) {
      const { from } = job;
      const isLast = (place: Place) => place.file === from.file && place.record === from.record;
      const before: Look = {
        mayHold: (place) => isLast(place) || mayHold(place),
        holds: (place, record) => holds(place, record) || isLast(place),
      };
      const done = total - 1 - rows().indexOf(from);
      await this.#walk(run, rows, null, 1, before, { what, total, before: done });
    }
    if (run === this.#run) this.#host.report({ type: 'found', job, place: found, nth: 0 });
  }

  /** @returns null if another search has started meanwhile */
  async #read(place: Place, run: number): Promise<DumpRecord | null> {
    const { dump } = this.#host.data;
    return dump.isLong(place) ? dump.readLong(place, () => run === this.#run) : place.file.read(place.record);
  }

  /** From after `from` to the end of the order, or until `look` returns true. @returns whether it did */
  async #walk(
    run: number,
    rowsNow: () => Rows,
    from: Place | null,
    direction: 1 | -1,
    look: Look,
    { what, total, before }: { what: string; total: number; before: number },
  ): Promise<boolean> {
    let rows = rowsNow();
    let at = from === null ? -1 : startRow(rows, from, direction);
    const start = at;
    let place = from;
    let reportedAt = performance.now();
    // From now on, moving elsewhere ends the search.
    if (before === 0) this.#host.report({ type: 'find-progress', progress: { what, done: 0, total } });
    for (let end = reportedAt + SLICE_MS; ; ) {
      at += direction;
      const next = rows.at(at);
      if (next === null) return false;
      place = next;
      if (look.mayHold(place)) {
        const record = await this.#read(place, run);
        if (record === null) return false;
        if (look.holds(place, record)) return true;
      }
      const now = performance.now();
      if (now < end) continue;
      if (now - reportedAt > NEWS_MS) {
        reportedAt = now;
        const done = before + Math.abs(at - start);
        this.#host.report({ type: 'find-progress', progress: { what, done, total: Math.max(total, done) } });
      }
      await new Promise((resolve) => setImmediate(resolve));
      if (run !== this.#run) return false;
      // The dump may have grown, or the list been filtered, meanwhile.
      rows = rowsNow();
      at = place === null ? at : startRow(rows, place, direction);
      end = performance.now() + SLICE_MS;
    }
  }
}

const withoutHyphens = (id: string): string => id.replaceAll('-', '');

/** The row that a search continues from; for a record that is not in the list, the one before its neighbour in that direction. */
function startRow(rows: Rows, from: Place, direction: 1 | -1): number {
  const at = rows.indexOf(from);
  if (at >= 0) return at;
  const near = rows.near(from);
  if (near < 0) return direction > 0 ? -1 : rows.length;
  const isBehind = rows.at(near)!.record > from.record;
  return isBehind === direction > 0 ? near - direction : near;
}
