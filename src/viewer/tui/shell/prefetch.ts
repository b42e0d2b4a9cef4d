import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import type { DumpData } from '../rows/dump-data.ts';
import { listWindow } from '../rows/list-window.ts';
import { pageInSight } from '../state/panes.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';

interface PrefetchHost {
  readonly dump: Dump;
  readonly data: DumpData;
  state(): State;
  /** New rows have lost their mark. */
  freshChanged(): void;
  /** ms on screen after which a rollout counts as read; null: not recorded. */
  readonly readMs: number | null;
}

/** Reads the visible records first, then those likely to be opened next. */
export class Prefetch {
  readonly #host: PrefetchHost;
  /** The rollouts before and after the open one, so that J and K do not wait. */
  readonly #ahead: ReadAhead;
  #wanted = '';
  #warm: DumpFile | null = null;
  #freshTimer: NodeJS.Timeout | undefined;
  /** The rollout being read, and the timer after which it counts as read. */
  #reading: { place: Place; timer: NodeJS.Timeout } | null = null;

  constructor(host: PrefetchHost) {
    this.#host = host;
    this.#ahead = new ReadAhead(() => host.data.warm(host.state(), this.#neighbours()));
  }

  /** The visible part may have changed. */
  look(): void {
    this.#wantVisible();
    this.#warmGroups();
    this.#ahead.touch();
    this.#lookAtFresh();
    this.#noteReading();
  }

  /** Nobody is looking: another program has the terminal. */
  rest(): void {
    clearTimeout(this.#freshTimer);
    clearTimeout(this.#reading?.timer);
    this.#reading = null;
  }

  stop(): void {
    this.rest();
    this.#ahead.stop();
  }

  /** The list rows on screen. */
  visible(): Place[] {
    const { data, state } = this.#host;
    const rows = data.rows(state());
    const { top, height } = listWindow(state(), data);
    const places: Place[] = [];
    for (let index = top; index < Math.min(rows.length, top + height); index++) places.push(rows.at(index)!);
    return places;
  }

  #neighbours(): Place[] {
    const { cursor } = this.#host.state().list;
    const rows = this.#host.data.rows(this.#host.state());
    const here = cursor === null ? -1 : rows.indexOf(cursor);
    return [rows.at(here + 1), rows.at(here - 1)].filter((place) => place !== null && here >= 0) as Place[];
  }

  /** Requested once per window, because every answer arrives as a change of the dump. */
  #wantVisible(): void {
    const { dump, data } = this.#host;
    const state = this.#host.state();
    const rows = data.rows(state);
    const { top, height } = listWindow(state, data);
    const ends = [rows.at(top), rows.at(Math.min(rows.length, top + height) - 1)];
    const window = [
      ...ends.map((place) => place && `${place.file.generation} ${place.file.locator(place.record)}`),
      ...data.listColumns(state).map(({ key }) => key),
      rows.length < height ? rows.length : '',
    ].join('\n');
    if (window === this.#wanted) return;
    this.#wanted = window;
    const places = this.visible();
    dump.want(places);
    data.want(state, places);
  }

  /** Groups of the open step, and of those that H and L lead to. */
  #warmGroups(): void {
    const { dump, data } = this.#host;
    const file = this.#host.state().list.cursor?.file;
    if (file === undefined || file === this.#warm || dump.progress().phase === 'index') return;
    this.#warm = file;
    const steps = dump.files.filter((other) => other.stream === file.stream);
    const at = steps.indexOf(file);
    for (const near of [file, steps[at - 1], steps[at + 1]]) if (near !== undefined) data.groups.groups(near);
  }

  /** New rows lose their mark after a while on screen. */
  #lookAtFresh(): void {
    clearTimeout(this.#freshTimer);
    const { data } = this.#host;
    const state = this.#host.state();
    const isListShown = state.help === null && data.geometry(state).listWidth > 0;
    const wait = data.fresh.look(isListShown ? this.visible() : [], state.list.cursor, Date.now());
    if (wait === null) return;
    this.#freshTimer = setTimeout(() => {
      this.#lookAtFresh();
      this.#host.freshChanged();
    }, wait + 5).unref();
  }

  /** A rollout that stays on screen for a while is being read; one that is passed over is not. */
  #noteReading(): void {
    const { data, readMs } = this.#host;
    const state = this.#host.state();
    const { cursor } = state.list;
    const isShown = state.help === null && pageInSight(state) === null && data.geometry(state).transcriptWidth > 0;
    const place = isShown ? cursor : null;
    if (readMs === null || samePlace(place, this.#reading?.place ?? null)) return;
    clearTimeout(this.#reading?.timer);
    this.#reading = null;
    if (place === null || place.file.isRead(place.record) !== false) return;
    const { generation } = place.file;
    const timer = setTimeout(() => {
      if (place.file.generation === generation) place.file.markRead(place.record);
      this.#host.freshChanged();
    }, readMs).unref();
    this.#reading = { place, timer };
  }
}

/** Steps after a key: a record and its layout, on both sides. */
const STEPS = 4;
/** ms without a key before anything is read ahead. */
const PAUSE = 60;

/** Does speculative work in the pauses between keys, one step at a time, so that a key waits for one step at most. */
export class ReadAhead {
  readonly #step: () => boolean;
  #left = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param step does part of the remaining work, and returns whether there was any */
  constructor(step: () => boolean) {
    this.#step = step;
  }

  /** A key was pressed, or something else has changed. */
  touch(): void {
    this.stop();
    this.#left = STEPS;
    this.#timer = setTimeout(this.#run, PAUSE);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  readonly #run = (): void => {
    this.#timer = null;
    if (this.#left-- === 0 || !this.#step()) return;
    this.#timer = setTimeout(this.#run, 0);
    this.#timer.unref();
  };
}
