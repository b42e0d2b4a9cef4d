import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FoundState } from '../../../src/core/dump/live-reader.ts';
import { readLiveFolder, readLiveState } from '../../../src/core/dump/under-way.ts';
import { underWayPage } from '../../../src/viewer/tui/pages/under-way.ts';

const state = (more: object = {}) => ({
  time: '2026-01-01T00:00:00.000Z',
  pid: 999_999_999,
  host: 'here',
  at: { generating: 2, tool: 1 },
  rollouts: [
    { task: 0, rollout: 1, step: 3, at: 'tool', tools: ['code\u001b[31m'], turns: 4, seconds: 12.5, quiet: 3 },
    { task: 1, rollout: 0, at: 'generating', turns: 2, seconds: 1 },
  ],
  ...more,
});

const folder = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'live-'));
  mkdirSync(join(directory, '.rollout-viewer'));
  return directory;
};
const written = (content: unknown): string => {
  const directory = folder();
  writeFileSync(
    join(directory, '.rollout-viewer', 'live.json'),
    typeof content === 'string' ? content : JSON.stringify(content),
  );
  return directory;
};

describe('what a run says of rollouts under way', () => {
  it('is read with its stages; a writer of this machine that is gone is known to be', () => {
    const directory = written(state());
    expect(readLiveState(directory, 'here')).toMatchObject({ isGone: true, stages: { generating: 2, tool: 1 } });
    expect(readLiveState(directory, 'elsewhere')).toMatchObject({ isGone: false });
    expect(readLiveState(written(state({ pid: process.pid })), 'here')).toMatchObject({ isGone: false });
  });

  it('names the file of its messages, which lies beside it; a path that leads elsewhere is ignored', () => {
    const rollout = { task: 0, rollout: 0, at: 'tool', turns: 1, seconds: 1, uid: 'u' };
    const directory = written(state({ rollouts: [{ ...rollout, file: '1-0-0.jsonl' }] }));
    expect(readLiveState(directory, 'here')!.rollouts[0]).toMatchObject({
      uid: 'u',
      path: join(directory, '.rollout-viewer/live/1-0-0.jsonl'),
    });
    for (const file of ['../x.jsonl', '/etc/passwd', 'a/b.jsonl'])
      expect(readLiveState(written(state({ rollouts: [{ ...rollout, file }] })), 'here')).toBeNull();
  });

  it('of prime-rl is a folder: a file for each, and those that have not begun', () => {
    const directory = mkdtempSync(join(tmpdir(), 'live-'));
    mkdirSync(join(directory, 'live/pending'), { recursive: true });
    writeFileSync(join(directory, 'live/abc.jsonl'), '{}\n');
    // Any folder may be called so.
    expect(readLiveFolder(directory)).toBeNull();
    writeFileSync(join(directory, 'stream.jsonl'), '');
    symlinkSync('/etc/passwd', join(directory, 'live/def.jsonl'));
    writeFileSync(join(directory, 'live/pending/x.json'), JSON.stringify({ id: 'x', task: 'math-9', step: 12 }));
    writeFileSync(join(directory, 'live/pending/y.json'), '[1]');
    const found = readLiveFolder(directory)!;
    expect(found.files.map(({ path }) => path)).toEqual([join(directory, 'live/abc.jsonl')]);
    expect(found.pending).toMatchObject([{ task: 'math-9', step: 12, stage: 'pending' }]);
    expect(readLiveFolder(join(directory, 'stream'))!.files).toHaveLength(1);
  });

  it('is nothing where it is half written, of another shape, a link or a pipe', () => {
    for (const content of ['', '{"time": "2026', '[]', state({ at: { generating: -1 } }), state({ rollouts: [{}] })])
      expect(readLiveState(written(content), 'here')).toBeNull();
    const linked = folder();
    symlinkSync(join(written(state()), '.rollout-viewer', 'live.json'), join(linked, '.rollout-viewer', 'live.json'));
    expect(readLiveState(linked, 'here')).toBeNull();
    const piped = folder();
    execFileSync('mkfifo', [join(piped, '.rollout-viewer', 'live.json')]);
    expect(readLiveState(piped, 'here')).toBeNull();
    expect(readLiveState(folder(), 'here')).toBeNull();
  });

  it('is a page: the longest first, escape codes gone, the writer shown as dead, silent or live', () => {
    const directory = written(state());
    const found = { ...readLiveState(directory, 'here')!, directory };
    const rows = found.rollouts.map((one) => ({ ...one, key: one.task, ended: null, place: null, writer: found }));
    const page = (states: FoundState[], now?: number) => underWayPage({ states, rows, placeOf: () => null }, null, now);
    const at = (seconds: number) => page([found], found.written + seconds * 1000);
    expect(at(1).length).toBe(2);
    const plain = expect.not.stringContaining('\u001b');
    expect(at(1).row(0).cells).toEqual(['1.2', '3', 'tool', plain, '4', '3.0 s', '13 s']);
    expect(at(1).row(1).cells).toEqual(['2.1', '–', 'generating', '', '2', '–', '1.0 s']);
    expect(at(20).head).toEqual([
      '2 generating, 1 tool   its writer is gone, 20 s after its last sign',
      '1 rollout more than their writer lists one by one',
    ]);
    expect(at(1).head![0]).toContain('live');
    const distant = { ...found, isGone: false };
    expect(page([distant], found.written + 20_000).head![0]).toContain('no sign for 20 s');
    expect(page([distant], found.written + 1000).head![0]).toContain('live');
    expect(page([]).empty).toContain('no run writes here');
  });
});
