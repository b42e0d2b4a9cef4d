import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LiveRun } from '../../../src/analysis/live-run.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { Keymap } from '../../../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../../../src/viewer/tui/pages/pages.ts';
import { DumpData } from '../../../src/viewer/tui/rows/dump-data.ts';
import { isLocatorLine, locate } from '../../../src/viewer/tui/rows/locate.ts';
import { initialState } from '../../../src/viewer/tui/state/state.ts';
import { directoryWith } from '../../program.ts';
import { zipOf } from '../../support/zip.ts';

const messages = [
  { role: 'user', content: 'q' },
  { role: 'assistant', content: 'a' },
];
const sample = JSON.stringify({ id: 1, epoch: 1, input: 'q', target: 'a', messages, scores: {} });
const lines = [1, 2].map((step) => `${JSON.stringify({ messages, step })}\n`).join('');

const ignore = (): void => {};

async function opened() {
  const directory = directoryWith({
    'log.eval': zipOf([['samples/1_epoch_1.json', sample]]),
    'run.zip': zipOf([['dump/1.jsonl', lines]]),
  });
  const dump = Dump.open(['log.eval', 'run.zip'].map((name) => join(directory, name)));
  for (const file of dump.files) await dump.index(file);
  const data = new DumpData(
    { dump, live: new LiveRun(dump, []), keys: new Keymap(), pages: new Pages() },
    { changed: ignore, rowsChanged: ignore, found: ignore },
  );
  const goTo = (text: string): string => {
    expect(isLocatorLine(text), text).toBe(true);
    const found = locate(text, initialState(80, 24), data);
    if ('message' in found) return `${' '.repeat(found.at)}^ ${found.message}`;
    return (
      found.place.file.locator(found.place.record).slice(directory.length + 1) +
      (found.turn === null ? '' : `, turn ${found.turn}`)
    );
  };
  return { directory, goTo };
}

describe('a locator behind :', () => {
  test('in an archive it is taken as it was copied, here or on another machine, with a turn or without', async () => {
    const { directory, goTo } = await opened();
    expect(goTo(join(directory, 'log.eval/samples/1_epoch_1.json'))).toBe('log.eval/samples/1_epoch_1.json');
    expect(goTo('/elsewhere/log.eval/samples/1_epoch_1.json#t1')).toBe('log.eval/samples/1_epoch_1.json, turn 1');
    expect(goTo('run.zip/dump/1.jsonl:2')).toBe('run.zip/dump/1.jsonl:2');
    expect(goTo('run.zip/dump/1.jsonl:1#t0')).toBe('run.zip/dump/1.jsonl:1, turn 0');
  });

  test('one that names nothing gets examples', async () => {
    const { directory, goTo } = await opened();
    const named = (ending: string): string => join(directory, ending);
    expect(goTo('log.eval/samples/2_epoch_1.json')).toBe(
      `         ^ the archive has no such rollout; its first is ${named('log.eval/samples/1_epoch_1.json')}`,
    );
    expect(goTo('run.zip:1')).toBe(
      `        ^ its rollouts are named by their place in it, such as ${named('run.zip/dump/1.jsonl:1')}`,
    );
    expect(goTo('run.zip/dump/1.jsonl:9')).toBe(
      `        ^ the archive has no such rollout; its first is ${named('run.zip/dump/1.jsonl:1')}`,
    );
    expect(goTo('other.eval/samples/1_epoch_1.json')).toBe('^ no file of this dump is called other.eval');
  });

  test('words that only end as an archive does are no locator', () => {
    expect(isLocatorLine('log.eval')).toBe(false);
    expect(isLocatorLine('export a.zip')).toBe(false);
  });
});
