import { spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { branchLines } from '../../../src/replay/branches.ts';
import { REPLAYS } from '../../../src/replay/entries.ts';
import { keptRescore } from '../../../src/replay/index.ts';
import { EntryHead, type EntryKind, Journal } from '../../../src/replay/journal/journal.ts';

const NOTES: EntryKind<EntryHead> = { name: 'label', schema: EntryHead };
const fresh = () => mkdtempSync(join(tmpdir(), 'rollout-viewer-attack-'));
const isRoot = process.geteuid?.() === 0;
const entry = { record: 'r', locator: 'l' };
const old = `${JSON.stringify({ kind: 'label', layout: 2, at: '2026', ...entry })}\n`;

/** A dump with a journal folder beside it, and a file that nothing may be written into. */
function dump() {
  const home = fresh();
  mkdirSync(join(home, 'run'));
  const beside = join(home, '.rollout-viewer/run');
  mkdirSync(beside, { recursive: true });
  const victim = join(home, 'victim');
  writeFileSync(victim, 'mine\n');
  const env = { XDG_STATE_HOME: join(home, 'state') };
  const use = (journal?: string): Journal => {
    const one = Journal.of(join(home, 'run'), { env, journal });
    one.append(NOTES, entry);
    expect(one.entries(NOTES, 'r').length).toBeGreaterThan(0);
    one.close();
    expect(readFileSync(victim, 'utf8')).toBe('mine\n');
    return one;
  };
  return { home, beside, victim, env, use };
}

describe('a journal folder that somebody prepared', () => {
  const traps: Record<string, (file: string, victim: string) => void> = {
    'a link to a file': (file, victim) => symlinkSync(victim, file),
    'a link to nothing': (file, victim) => symlinkSync(`${victim}.new`, file),
    'a hard link': (file, victim) => linkSync(victim, file),
    'a FIFO': (file) => void spawnSync('mkfifo', [file]),
    'a folder': (file) => mkdirSync(file),
    'a link to a device': (file) => symlinkSync('/dev/zero', file),
  };
  for (const [name, set] of Object.entries(traps)) {
    for (const journal of [undefined, 'beside', 'DIR']) {
      test(`${name}, with --journal ${journal ?? '(default)'}`, () => {
        const { beside, victim, use } = dump();
        set(join(beside, 'label.jsonl'), victim);
        const before = readdirSync(beside);
        use(journal === 'DIR' ? beside : journal);
        expect(readdirSync(beside)).toEqual(before);
        expect(existsSync(`${victim}.new`)).toBe(false);
      });
    }
  }

  test('the folder itself, or the one above it, is a link', () => {
    for (const level of ['.rollout-viewer/run', '.rollout-viewer']) {
      const { home, use } = dump();
      const target = join(home, 'target');
      mkdirSync(join(target, 'run'), { recursive: true });
      rmSync(join(home, level), { recursive: true });
      symlinkSync(target, join(home, level));
      use('beside');
      use(join(home, '.rollout-viewer/run'));
      if (level === '.rollout-viewer/run') expect(readdirSync(target)).toEqual(['run']);
      expect(
        readdirSync(join(target, 'run')).filter((name) => level !== '.rollout-viewer' || name !== 'label.jsonl'),
      ).toEqual([]);
    }
  });

  test('the state directory may be reached over a link, what is in it may not be one', () => {
    const { home, victim, env, use } = dump();
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), join(home, 'state'));
    const journal = use();
    const kept = join(home, 'elsewhere/rollout-viewer');
    expect(readdirSync(kept)).toHaveLength(1);
    const file = join(kept, readdirSync(kept)[0]!, 'label.jsonl');
    rmSync(file);
    symlinkSync(victim, file);
    const again = Journal.of(join(home, 'run'), { env });
    again.append(NOTES, entry);
    expect(again.problem).toContain('is a link');
    expect(readFileSync(victim, 'utf8')).toBe('mine\n');
    expect(journal.problem).toBeNull();
  });

  test.skipIf(!isRoot)(
    'files and folders of another user are reported, and never appended to (skipped but for root)',
    () => {
      const { home, beside, env, use } = dump();
      const shared = join(home, 'shared');
      mkdirSync(shared);
      writeFileSync(join(shared, 'label.jsonl'), old);
      chownSync(join(shared, 'label.jsonl'), 65534, 65534);
      const journal = Journal.of(join(home, 'run'), { env, journal: shared });
      expect(journal.entries(NOTES, 'r')).toEqual([]);
      expect(journal.reported(NOTES, 'r').map(({ by }) => by)).toEqual(['user 65534']);
      journal.append(NOTES, entry);
      expect(journal.problem).toContain('belongs to another user');
      expect(readFileSync(join(shared, 'label.jsonl'), 'utf8')).toBe(old);
      chownSync(beside, 65534, 65534);
      writeFileSync(join(beside, 'label.jsonl'), old);
      use('beside');
      expect(readFileSync(join(beside, 'label.jsonl'), 'utf8')).toBe(old);
    },
  );

  test('a folder that is replaced by a link while it is in use', () => {
    const { home, victim, env } = dump();
    const shared = join(home, 'shared');
    const trap = join(home, 'trap');
    mkdirSync(trap);
    symlinkSync(victim, join(trap, 'label.jsonl'));
    for (let round = 0; round < 200; round++) {
      rmSync(shared, { recursive: true, force: true });
      mkdirSync(shared);
      const journal = Journal.of(join(home, 'run'), { env, journal: shared });
      expect(journal.directory).toBe(shared);
      renameSync(shared, `${shared}.away`);
      symlinkSync(trap, shared);
      journal.append(NOTES, entry);
      journal.close();
      rmSync(shared);
      rmSync(`${shared}.away`, { recursive: true });
      expect(readFileSync(victim, 'utf8')).toBe('mine\n');
    }
  });
});

describe('entries that somebody prepared', () => {
  const hostile = [
    'null',
    '[]',
    '1',
    '"x"',
    '{}',
    '{"record": 1}',
    '{"kind":"replay","locator":"x:1","at":"now","call":0}',
    '{"kind":"replay","record":"r","locator":"l","at":"now","backend":["x"]}',
    '{"kind":"replay","record":"r","locator":"l","at":{},"call":"0"}',
    '{"__proto__":{"x":1},"kind":"replay","record":"__proto__","locator":"constructor","at":"z"}',
    `{"kind":"replay","record":"r","locator":"l","at":"9","attempts":${'['.repeat(500)}${']'.repeat(500)}}`,
    '{"kind":"rescore","record":"r","locator":"l","at":"9","score":"high","status":{}}',
    '\u0000'.repeat(1000),
  ].join('\n');

  test('what is no entry is passed over, in every place', () => {
    const { beside, home, env } = dump();
    for (const name of ['replay', 'rescore', 'fork', 'label'])
      writeFileSync(join(beside, `${name}.jsonl`), `${hostile}\n`);
    for (const journal of [undefined, 'beside', beside]) {
      const one = Journal.of(join(home, 'run'), { env, journal });
      expect(one.entries(REPLAYS, 'r')).toEqual([]);
      expect(one.reported(REPLAYS, 'r')).toEqual([]);
      expect(keptRescore(one, 'r')).toBeNull();
    }
  });

  test('a file of 64 GB of nothing, and one endless line, are not read whole', () => {
    const { beside, home, env } = dump();
    const fd = openSync(join(beside, 'replay.jsonl'), 'w');
    ftruncateSync(fd, 2 ** 36);
    closeSync(fd);
    writeFileSync(join(beside, 'label.jsonl'), `${'x'.repeat(40_000_000)}\n${old}`);
    const journal = Journal.of(join(home, 'run'), { env });
    expect(journal.reported(REPLAYS, 'r')).toEqual([]);
    expect(journal.reported(NOTES, 'r')).toEqual([]);
  });

  test('branches are read of regular files alone', () => {
    const { home, victim } = dump();
    const fifo = join(home, 'fifo');
    spawnSync('mkfifo', [fifo]);
    const link = join(home, 'link');
    symlinkSync(victim, link);
    for (const path of [fifo, link, '/dev/zero', home, join(home, 'absent')]) expect(branchLines(path)).toEqual([]);
    expect(branchLines(victim)).toEqual(['mine', '']);
  });
});
