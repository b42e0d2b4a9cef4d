import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import type { Block } from '../../../src/viewer/present/transcript/block.ts';
import { transcriptSections } from '../../../src/viewer/present/transcript/blocks.ts';
import { detailBlocks } from '../../../src/viewer/present/transcript/details-view.ts';
import { Layout } from '../../../src/viewer/present/transcript/layout.ts';
import { ArrivingBlocks, LongTexts } from '../../../src/viewer/present/transcript/long-text.ts';
import { rawTextSections } from '../../../src/viewer/present/transcript/raw-view.ts';
import { inSections, madeOf, PAUSE } from '../../../src/viewer/present/transcript/section.ts';
import { fieldBlocks } from '../../../src/viewer/present/transcript/table-view.ts';
import { type TextView, textBlocks } from '../../../src/viewer/present/transcript/text-view.ts';

const KEYS = 5000;
const record = {
  input: 'user\nhow many?\n',
  output: 'one line\n'.repeat(200_000),
  numbers: Array.from({ length: KEYS }, (_, i) => i),
  ...Object.fromEntries(Array.from({ length: KEYS }, (_, i) => [`key ${i}`, `value ${i}`])),
};
const manyArguments = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`argument_${i}`, i]));
const callOf = (args: object) => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: JSON.stringify(args) } }],
});
const DETAILS = {
  unread: [],
  locator: '1',
  bytes: 1,
  fileStep: null,
  group: '',
  groupFrom: '',
  advantage: null,
  labels: [],
};
const LINE = JSON.stringify(record);
const place = { path: '', offset: 0, length: Buffer.byteLength(LINE) };
const views: TextView[] = [
  { view: 'json', folds: new Map(), hidden: [], error: null },
  { view: 'json', folds: new Map([['json.output', false]]), hidden: [], error: null },
  { view: 'fields', folds: new Map(), hidden: ['input'], error: null },
  { view: 'json', folds: new Map(), hidden: [], error: 'no format knows it' },
];

let folder: string;
let texts: LongTexts;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'long-text-'));
  place.path = join(folder, '1.jsonl');
  writeFileSync(place.path, `${LINE}\n`);
  texts = new LongTexts();
});
afterAll(() => {
  texts.close();
  rmSync(folder, { recursive: true });
});

/** The blocks of a view once they are all there, and how often more of them came. */
function arrived(view: TextView): Promise<{ blocks: (Block | null)[]; times: number }> {
  return new Promise((resolve) => {
    let times = 0;
    const arriving: ArrivingBlocks = texts.open({ ...place, ...view }, () => {
      times++;
      const blocks = upToGap(arriving);
      if (blocks.at(-1) !== null) resolve({ blocks, times });
    });
  });
}

function upToGap(arriving: Iterable<Block | null>): (Block | null)[] {
  const blocks: (Block | null)[] = [];
  for (const block of arriving) {
    blocks.push(block);
    if (block === null) break;
  }
  return blocks;
}

describe('the text of a long record', () => {
  test.each(views)('is shown as at once, and comes in pieces: $view $error', async (view) => {
    const { blocks, times } = await arrived(view);
    expect(blocks).toEqual([...textBlocks(LINE, view)]);
    expect(times).toBeGreaterThan(3);
  });

  test('gives way to what is asked for next', async () => {
    const [json, , fields] = views;
    let isTold = false;
    const first = texts.open({ ...place, ...json! }, () => {
      isTold = true;
    });
    const { blocks } = await arrived(fields!);
    expect(blocks).toEqual([...textBlocks(LINE, fields!)]);
    expect([upToGap(first), isTold]).toEqual([[null], false]);
  });

  test('that is gone says so', async () => {
    const blocks = await new Promise<(Block | null)[]>((resolve) => {
      const arriving: ArrivingBlocks = texts.open({ ...place, ...views[0]!, path: join(folder, 'none') }, () =>
        resolve(upToGap(arriving)),
      );
    });
    expect(blocks[0]!.text).toContain('could not be read');
  });
});

describe('a long record', () => {
  const blocks = [...textBlocks(LINE, views[2]!)];
  const rowsOf = (layout: Layout) => Array.from({ length: layout.rows }, (_, row) => layout.text(row).text);

  test('is laid out in many goes, as if in one; what is first is there first', () => {
    const whole = new Layout(inSections(blocks), 80);
    const layout = new Layout(inSections(blocks), 80, new Map(), true, null, () => true);
    let goes = 1;
    for (let rows = 0; !layout.isWhole; goes++) {
      layout.more(() => true);
      expect(layout.rows).toBeGreaterThanOrEqual(rows);
      rows = layout.rows;
      if (rows > 0) expect(layout.text(0)).toEqual(whole.text(0));
    }
    expect(goes).toBeGreaterThan(30);
    expect(rowsOf(layout)).toEqual(rowsOf(whole));
  });

  test('waits for what is still to come, and goes on when it is there', () => {
    const some: (Block | null)[] = [blocks[0]!, null, null];
    const layout = new Layout(inSections(some), 80, new Map(), true, null, () => false);
    expect([layout.isWaiting, layout.isWhole, layout.rows > 0]).toEqual([true, false, true]);
    layout.more(() => false);
    expect([layout.isWaiting, layout.isWhole]).toEqual([false, true]);
  });

  test('does not wait for what came while the part before it was laid out', () => {
    const arriving = new ArrivingBlocks();
    arriving.add([blocks[0]!], false);
    const sections = inSections(arriving);
    expect(sections.next().value).toMatchObject({ id: 'blocks 0' });
    arriving.add([blocks[1]!], true);
    expect(sections.next().value).toMatchObject({ id: 'blocks 1' });
    expect(sections.next().done).toBe(true);
  });

  test.each([
    ['a call with 100,000 arguments', { messages: [{ role: 'user', content: 'go' }, callOf(manyArguments)] }],
    ['a text of 3 MB', { input: 'user\nq\nassistant\n', output: '\u0e01 計算\n'.repeat(500_000), score: 1, step: 1 }],
  ])('pauses within a block that takes long to make: %s', (_, written) => {
    const { rollout } = parseLine(JSON.stringify(written), { validation: false });
    const made = [...madeOf(transcriptSections(rollout!, new Map()))];
    expect(made.filter((one) => one === PAUSE).length).toBeGreaterThan(3);
    for (const sections of [
      () => transcriptSections(rollout!, new Map()),
      () => rawTextSections(rollout!),
      () => inSections(detailBlocks({ ...DETAILS, rollout: rollout! })),
    ]) {
      const whole = new Layout(sections(), 80);
      const layout = new Layout(sections(), 80, new Map(), true, null, () => true);
      for (; !layout.isWhole; layout.more(() => true));
      expect(rowsOf(layout)).toEqual(rowsOf(whole));
    }
  });

  test('may have more keys than a function takes arguments', () => {
    const many = Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`key ${i}`, i]));
    const indents = [...fieldBlocks(many, [])].map(({ indent }) => indent);
    expect(indents).toHaveLength(300_000);
    expect(new Set(indents)).toEqual(new Set(['key 299999'.length + 2]));
  });
});
