import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LiveRun } from '../src/analysis/live-run.ts';
import { Dump, type Place } from '../src/core/dump/dump.ts';
import type { Rollout } from '../src/core/rollout/rollout.ts';
import { cellWidth } from '../src/core/text/graphemes.ts';
import { MONO } from '../src/viewer/present/theme.ts';
import { COMMANDS } from '../src/viewer/tui/keys/commands.ts';
import { Keymap } from '../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../src/viewer/tui/pages/pages.ts';
import { DumpData } from '../src/viewer/tui/rows/dump-data.ts';
import { unstyled } from '../src/viewer/tui/screen/fitted.ts';
import type { Action } from '../src/viewer/tui/state/action.ts';
import { VIEWS } from '../src/viewer/tui/state/display.ts';
import { initialState, type State } from '../src/viewer/tui/state/state.ts';
import { update } from '../src/viewer/tui/update/update.ts';
import { chromeOf } from '../src/viewer/tui/views/chrome.ts';
import { drawPlainly } from '../src/viewer/tui/views/draw-plainly.tsx';
import { bodyPanes } from '../src/viewer/tui/views/panes.ts';
import type { Scene } from '../src/viewer/tui/views/scene.ts';
import { root } from './support/measure.ts';
import { mutated, sampleLines } from './support/mutations.ts';
import { random } from './support/random.ts';

const LINES = Number(process.env.LINES ?? 100_000);
const SEED = Number(process.env.SEED ?? 11);
/** Samples with this text alone. */
const HOLDS = process.env.SAMPLE ?? '';
/** Lines of one file: all are of one sample, as a writer's file is. */
const TOGETHER = 200;
const HANG = 100;
/** Faults of a kind that are printed whole. */
const TOLD = 4;

const KINDS = ['crash', 'hang', 'wide', 'gap'] as const;
type Kind = (typeof KINDS)[number];
/** Counts a fault, and keeps the first of each kind to print. */
type Note = (kind: Kind, line: string, says: string) => void;

/** Keys that work in the screen alone. */
const PRESSED = COMMANDS.filter(
  ({ category, id }) =>
    !['Take away', 'Run again', 'Program'].includes(category) && !id.startsWith('sample') && !id.startsWith('step'),
);

/**
 * Lines of all samples, changed at random, are read, keys are pressed in them, and every pane is painted: nothing throws or holds the
 * thread, no line is too wide, spans cover their texts.
 */
export async function run(): Promise<void> {
  const lines = (await sampleLines(root)).filter((line) => line.includes(HOLDS));
  const directory = join(root, '.bench/mutated-lines');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const next = random(SEED);
  const found: Record<Kind, number> = { crash: 0, hang: 0, wide: 0, gap: 0 };
  const told: string[] = [];
  const note: Note = (kind, line, says) => {
    if (++found[kind] <= TOLD) told.push(`  ${kind}: ${says}\n    ${line.slice(0, 300)}`);
  };
  let longest = 0;
  for (let done = 0, at = 0; done < LINES; done += TOGETHER, at++) {
    const sample = lines[at % lines.length]!;
    const path = join(directory, `${at}.jsonl`);
    writeFileSync(path, `${Array.from({ length: TOGETHER }, () => mutated(sample, next)).join('\n')}\n`);
    longest = Math.max(longest, await walk(path, next, note));
    rmSync(path);
  }
  const { crash, hang, wide, gap } = found;
  console.log(
    `${LINES} changed lines of ${lines.length} samples: ${crash} threw, ${hang} took over ${HANG} ms, ${wide} were too wide, ${gap} had gaps (goal: 0); the longest took ${longest.toFixed(0)} ms`,
  );
  for (const says of told) console.log(says);
}

/** Opens each rollout of a file. @returns ms that the longest of them took */
async function walk(path: string, next: () => number, note: Note): Promise<number> {
  const dump = Dump.open([path]);
  const ignore = (): void => {};
  const keys = new Keymap();
  const data = new DumpData(
    { dump, live: new LiveRun(dump, []), keys, pages: new Pages() },
    { changed: ignore, rowsChanged: ignore, found: ignore },
  );
  const [file] = dump.files;
  let longest = 0;
  try {
    await dump.index(file!);
    data.changed();
    for (let record = 0; record < file!.count; record++) {
      const place = { file: file!, record };
      const begun = milliseconds();
      try {
        const { rollout, error } = data.record(place);
        if (error?.startsWith('not readable as')) throw new Error(error);
        if (rollout !== null && hasGap(rollout)) note('gap', file!.raw(record) ?? '', 'spans do not cover a text');
        look(data, place, next, (says) => note('wide', file!.raw(record) ?? '', says));
      } catch (error) {
        note('crash', file!.raw(record) ?? '', (error as Error).stack ?? String(error));
      }
      const took = milliseconds() - begun;
      longest = Math.max(longest, took);
      if (took > HANG) note('hang', file!.raw(record) ?? '', `${took.toFixed(0)} ms`);
    }
  } finally {
    data.close();
    dump.close();
  }
  return longest;
}

/** Presses a few keys in a rollout, and measures what all panes, the first line and the foot show after each. */
function look(data: DumpData, place: Place, next: () => number, tooWide: (says: string) => void): void {
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)]!;
  let state: State = initialState(20 + Math.floor(next() * 180), 6 + Math.floor(next() ** 3 * 300));
  state = {
    ...state,
    list: { ...state.list, cursor: place },
    display: { ...state.display, view: one(VIEWS), wrap: next() < 0.8 },
    zoom: next() < 0.5,
  };
  const act = (action: Action): void => {
    state = update(state, action, data).state;
    data.look(state);
  };
  const paint = (after: string): void => {
    const scene: Scene = { state, data, theme: MONO, name: 'mutated' };
    for (const { id, rect, lines } of bodyPanes(scene)) measure(`${id} after ${after}`, lines(), rect.width, tooWide);
    const { above, below } = drawPlainly(chromeOf(scene), MONO);
    measure(`the chrome after ${after}`, [...above, ...below], state.columns, tooWide);
  };
  data.open(place);
  paint('opening');
  if (next() < 0.5) return;
  if (next() < 0.3) act({ type: 'search', value: one(['e', '漢', '\\d', 'tool', '.', '"']) });
  for (let i = 0; i < 1 + next() * 4; i++) {
    const command = one(PRESSED);
    if ((command.disabled?.(state, data) ?? null) !== null) continue;
    act(command.action(next() < 0.2 ? 1 + Math.floor(next() * 100) : null));
    paint(command.id);
  }
}

function measure(what: string, lines: readonly string[], width: number, tooWide: (says: string) => void): void {
  for (const line of lines) {
    const cells = cellWidth(unstyled(line));
    if (cells > width) tooWide(`${cells} of ${width} cells in ${what}: ${line}`);
  }
}

/** Time of this thread on a processor: others on the machine, and the threads beside it, do not count. */
const milliseconds = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;

function hasGap({ spans, texts, turns }: Rollout): boolean {
  const ends = new Map<string, number>();
  for (const { field, start, end } of spans) {
    if (start !== (ends.get(field) ?? 0)) return true;
    ends.set(field, end);
  }
  if ([...ends].some(([field, end]) => texts[field]?.length !== end)) return true;
  return turns.some(
    ({ parts, text }) => parts.reduce((at, part) => (part.start === at ? part.end : -1), 0) !== text.length,
  );
}
