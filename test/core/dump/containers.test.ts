import { spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BombGuard } from '../../../src/core/dump/containers/limits.ts';
import { lineCopyOf } from '../../../src/core/dump/containers/lines-in.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { parseLocator } from '../../../src/core/dump/locator.ts';
import { directoryWith, verlLine } from '../../program.ts';
import { zipOf } from '../../support/zip.ts';

/** One of the shared samples, if present. */
const PARQUET = fileURLToPath(
  new URL('../../../../shared/data/formats/art/trajectories/train/0009.parquet', import.meta.url),
);

interface Opened {
  rows: DumpRecord[];
  error: string | null;
  dump: Dump;
}

async function opened(path: string, options: Parameters<typeof Dump.open>[1] = {}): Promise<Opened> {
  const dump = Dump.open([path], options);
  const [file] = dump.files;
  for (const one of dump.files) await one.buildIndex(() => true);
  const rows = dump.files.flatMap((one) => Array.from({ length: one.count }, (_, record) => one.read(record)));
  return { rows, error: file?.error ?? null, dump };
}

const file = (name: string, content: string | Uint8Array): string => join(directoryWith({ [name]: content }), name);

const sample = (id: number, text: string): string =>
  JSON.stringify(
    {
      id,
      epoch: 1,
      input: 'q',
      target: 'a',
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: text },
      ],
      scores: { match: { value: 'C' } },
    },
    null,
    2,
  );

describe('containers', () => {
  test('a log without its head is read from the journal; of two members of one name the last one counts', async () => {
    const path = file(
      'log.eval',
      zipOf([
        ['_journal/start.json', JSON.stringify({ version: 2, eval: { task: 'sums', model: 'm' } })],
        ['samples/1_epoch_1.json', sample(1, 'first try')],
        ['samples/1_epoch_1.json', sample(1, 'second try')],
        ['samples/2_epoch_1.json', '{"id": 2, "epoch": 1,'],
      ]),
    );
    const { rows } = await opened(path);
    expect(rows.map(({ locator, error }) => [locator.slice(path.length), error === null])).toEqual([
      ['/samples/1_epoch_1.json', true],
      ['/samples/2_epoch_1.json', false],
    ]);
    expect(rows[0]!.rollout!.turns.at(-1)!.text).toBe('second try');
    expect(rows[0]!.rollout!.score).toBe(1);
    expect(rows[0]!.rollout!.extras.task).toBe('sums');
    expect(parseLocator(`${rows[0]!.locator}#t1`)).toMatchObject({ path, member: '/samples/1_epoch_1.json', turn: 1 });
  });

  test('an archive that unpacks to far more than any text is refused with its limit', () => {
    const guard = new BombGuard(10 << 20);
    guard.add(3 * 2 ** 30);
    expect(() => guard.add(2 * 2 ** 30)).toThrow(/unpacks to more than 4000 MB, 400 times its size/);
  });

  test('a pickle that asks for more than tensors is refused by the name of what it asks for', async () => {
    const pickle = Buffer.concat([
      Buffer.from([0x80, 2]),
      Buffer.from('cposix\nsystem\nX'),
      Buffer.from([2, 0, 0, 0]),
      Buffer.from('ls'),
      Buffer.from([0x85, 0x52, 0x2e]),
    ]);
    expect((await opened(file('1.pkl', pickle))).error).toMatch(/asks for posix\.system: refused/);
    expect((await opened(file('1.pkl.gz', gzipSync(pickle)))).error).toMatch(/asks for posix\.system: refused/);
    expect((await opened(file('1.pt', zipOf([['1/data.pkl', pickle]])))).error).toMatch(
      /asks for posix\.system: refused/,
    );
  });

  test('a pointer of Git LFS, a page and a zip without rollouts say what they are', async () => {
    expect(() =>
      Dump.open([file('a.jsonl', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n')]),
    ).toThrow(/Git LFS pointer/);
    expect(() => Dump.open([file('a.html', '<!DOCTYPE html><html>')])).toThrow(/HTML page/);
    expect((await opened(file('a.zip', zipOf([['notes.txt', 'x']])))).error).toMatch(
      /a zip without a rollout: it holds notes\.txt/,
    );
  });

  test('a document of several values, and one with line ends inside its strings, is read as it was meant', async () => {
    const pretty = JSON.stringify({ input: 'user\na\nassistant\n', output: 'b', score: 1 }, null, 2);
    const raw = pretty.replaceAll('\\n', '\n');
    const { rows } = await opened(file('a.txt', `${pretty}\n${raw}\n`));
    expect(rows.map(({ rollout, locator }) => [rollout?.texts.input, /:\d$/.exec(locator)?.[0]])).toEqual([
      ['user\na\nassistant\n', ':1'],
      ['user\na\nassistant\n', ':2'],
    ]);
  });

  test('an array of messages is one rollout, an array of records is as many', async () => {
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
    ];
    expect((await opened(file('one.json', JSON.stringify(messages)))).rows.length).toBe(1);
    const { rows } = await opened(file('two.json', JSON.stringify([{ messages }, { messages }, 5], null, 1)));
    expect(rows.map(({ rollout }) => rollout?.turns.length ?? null)).toEqual([2, 2, null]);
  });

  test('several rollouts of a line are named by their number on it, also when the file grows', async () => {
    const group = JSON.stringify({
      trajectories: [1, 0.5].map((reward) => ({
        reward,
        messages_and_choices: [
          { role: 'user', content: 'q' },
          { finish_reason: 'stop', message: { role: 'assistant', content: 'a' } },
        ],
      })),
    });
    const path = file('0001.jsonl', `${group}\n\n${group}\n`);
    const { rows, dump } = await opened(path);
    expect(rows.map(({ locator, rollout }) => [locator.slice(path.length), rollout?.score])).toEqual([
      [':1.1', 1],
      [':1.2', 0.5],
      [':3.1', 1],
      [':3.2', 0.5],
    ]);
    const [only] = dump.files;
    expect(only!.recordAt(parseLocator(`${path}:3.2`))).toBe(3);
    expect(only!.recordAt(parseLocator(`${path}:2`))).toBe(-1);
  });

  test.skipIf(!existsSync('/usr/bin/python3'))(
    'a database whose log is in use is read with what was committed, and nothing is made beside it (skipped without /usr/bin/python3)',
    async () => {
      const directory = directoryWith({ 'keep.txt': '' });
      const made = spawnSync('/usr/bin/python3', ['-c', WAL, directory], { encoding: 'utf8' });
      expect(made.stderr).toBe('');
      for (const name of ['t.db', 't.db-wal']) copyFileSync(join(directory, 'src', name), join(directory, name));
      const before = readdirSync(directory).sort();
      const { rows } = await opened(join(directory, 't.db'));
      expect(rows.map(({ rollout }) => rollout?.score)).toEqual([0.5, null]);
      expect(readdirSync(directory).sort()).toEqual(before);
    },
  );

  test('a session is one rollout by its path; parents that lead in a circle end nowhere else', async () => {
    const line = (uuid: string, parentUuid: string, type: string, content: unknown) =>
      JSON.stringify({
        type,
        uuid,
        parentUuid,
        sessionId: 's',
        message: { role: type, id: type === 'assistant' ? `m-${uuid}` : undefined, content },
      });
    const lines = [
      line('a', 'b', 'user', 'q'),
      line('b', 'a', 'assistant', [
        { type: 'text', text: 'x' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      ]),
      line('c', 'b', 'user', [{ type: 'tool_result', tool_use_id: 't', content: '\u001b[31mred\u001b[0m' }]),
      '{"type":"assistant","uuid":"d","sess',
    ];
    const path = file('s.jsonl', lines.join('\n'));
    const { rows } = await opened(path);
    expect(rows.map(({ locator }) => locator)).toEqual([path]);
    // Half a line at the end is a turn that nobody can read.
    expect(rows[0]!.rollout!.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'unknown']);
    expect(rows[0]!.rollout!.turns[1]!.toolCalls[0]!.resultTurn).toBe(2);
    expect(parseLocator(`${path}#t1`)).toMatchObject({ path, line: null, turn: 1 });
  });

  test('a foreign record opens by the map of its keys', async () => {
    const record = {
      tot: {
        steps: [
          { who: 'human', said: 'q' },
          { who: 'model', said: 'a' },
        ],
      },
      final: 0.5,
    };
    const places = { turns: ['tot', 'steps'], score: ['final'], role: ['who'], text: ['said'] };
    const { rows } = await opened(file('a.jsonl', `${JSON.stringify(record)}\n`), {
      reading: { maps: [{ name: 'mine', places }] },
    });
    expect(rows[0]!.rollout).toMatchObject({ format: 'mine', score: 0.5 });
    expect(rows[0]!.rollout!.turns.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'q'],
      ['assistant', 'a'],
    ]);
  });

  test('lines in a .json are lines; a step file stays where it lies', async () => {
    const { rows, dump } = await opened(file('1.json', verlLine() + verlLine()));
    expect(rows.length).toBe(2);
    expect(dump.files[0]!.copiedBytes).toBe(0);
  });
});

const WAL = `
import sqlite3, sys, json, os
os.mkdir(sys.argv[1] + '/src')
c = sqlite3.connect(sys.argv[1] + '/src/t.db')
c.execute('pragma journal_mode=wal'); c.execute('pragma wal_autocheckpoint=0')
c.execute('create table traces(id text, run_name text, step int, key text, messages text, metadata text)')
m = json.dumps([{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': 'a'}]).encode()
c.execute('insert into traces values (?,?,?,?,?,?)', ('1', 'r', 1, 'k', m, b'{"reward": 0.5}')); c.commit()
c.execute('insert into traces values (?,?,?,?,?,?)', ('2', 'r', 1, 'k', m, b'{}')); c.commit()
c.execute('insert into traces values (?,?,?,?,?,?)', ('3', 'r', 1, 'k', m, b'{}'))
os._exit(0)
`;

const SAID = 'no row can be decoded (damaged): it is damaged; copy or write it again';
const SAID_DAMAGED =
  /^(its footer cannot be read|no row can be decoded|only the first \d+ rows? can be decoded) \(.+\): it is .*damaged; copy or write it again$/;

// A promise that nobody waits for would end the program: in a damaged parquet file several columns fail at once.
test.skipIf(!existsSync(PARQUET))(
  'a parquet file is read, or said to be damaged, wherever its bytes are wrong (skipped without ../shared/data)',
  async () => {
    const bytes = readFileSync(PARQUET);
    let refused = 0;
    for (let at = 4; at < bytes.length - 8; at += 61) {
      const damaged = Buffer.from(bytes);
      damaged.fill(0xa5, at, at + 8);
      const { error, rows } = await opened(file('damaged.parquet', damaged));
      if (error !== null) refused++;
      expect(error ?? SAID).toMatch(SAID_DAMAGED);
      expect(rows.every((row) => row.rollout !== null || row.error !== null)).toBe(true);
    }
    expect(refused).toBeGreaterThan(0);
  },
);

test('where the temporary folder cannot be used it is that which is named, not the dump', async () => {
  const path = file('run.zip', zipOf([['1.jsonl', '{"input": "q", "output": "a"}\n']]));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = join(path, '..', 'away');
  try {
    expect((await opened(path)).error).toMatch(
      /^the temporary folder .*away cannot be used \(no such file or directory\); TMPDIR names another$/,
    );
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
});

test.skipIf(!existsSync('/dev/full'))(
  'where no room is left it is the temporary folder which is named (skipped without /dev/full)',
  async () => {
    const full = openSync('/dev/full', 'w');
    const copy = lineCopyOf(full, [{ text: '{"input": "q", "output": "a"}' }]);
    await expect(
      (async () => {
        for await (const _ of copy.fill);
      })(),
    ).rejects.toThrow(/^no room left in the temporary folder .*; TMPDIR names another$/);
    closeSync(full);
  },
);
