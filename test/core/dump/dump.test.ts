import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { allowThreads } from '../../../src/core/async/thread-count.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { DumpFile, DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { UsageError } from '../../../src/core/dump/paths.ts';
import { RecordWorker } from '../../../src/core/dump/record-worker-client.ts';
import { directoryWith, verlLine } from '../../program.ts';

async function opened(...paths: string[]): Promise<Dump> {
  const dump = Dump.open(paths);
  for (const file of dump.files) await dump.index(file);
  return dump;
}
const rowsOf = (file: DumpFile | undefined): DumpRecord[] =>
  Array.from({ length: file?.count ?? 0 }, (_, record) => file!.read(record));
const rowsIn = async (content: string | Uint8Array): Promise<DumpRecord[]> => {
  const dump = await opened(join(directoryWith({ '1.jsonl': content }), '1.jsonl'));
  return rowsOf(dump.files[0]);
};

describe('the files of a dump', () => {
  test('a look at one that is no longer listed changes nothing, even if its name is in use again', async () => {
    const directory = directoryWith({ '1.jsonl': verlLine(), '2.jsonl': verlLine() });
    const dump = await opened(directory);
    const [first] = dump.files;
    const changes: string[] = [];
    dump.onChange(({ kind, file }) => changes.push(`${kind} ${file.stem}`));
    rmSync(join(directory, '1.jsonl'));
    dump.rescan();
    writeFileSync(join(directory, '1.jsonl'), verlLine());
    if (first) await dump.refresh(first);
    expect(changes).toEqual(['gone 1']);
    for (const file of dump.rescan()) await dump.refresh(file);
    expect(changes).toEqual(['gone 1', 'appended 1']);
  });

  test('is gone once, and comes back whole', async () => {
    const directory = directoryWith({ 'run/1.jsonl': verlLine() });
    const dump = await opened(join(directory, 'run'));
    const [first] = dump.files;
    const changes: string[] = [];
    dump.onChange(({ kind, from }) => changes.push(`${kind} ${from}`));
    const look = async () => {
      dump.rescan();
      if (first) await dump.refresh(first);
    };
    renameSync(join(directory, 'run'), join(directory, 'away'));
    await look();
    await look();
    renameSync(join(directory, 'away'), join(directory, 'run'));
    await look();
    await look();
    expect(changes).toEqual(['gone 0', 'replaced 0']);
  });

  test('are in the order of streams and of step numbers; names without a number come last; dot directories are left out', async () => {
    const directory = directoryWith({
      'train/10.jsonl': verlLine(),
      'train/9.jsonl': verlLine(),
      'train/step_100.jsonl': verlLine(),
      'train/notes.jsonl': verlLine(),
      'train/README.md': 'x',
      'val/0.jsonl': verlLine(),
      '.cache/1.jsonl': verlLine(),
      'train/.hidden.jsonl': verlLine(),
    });
    const { files } = Dump.open([directory]);
    expect(files.map((file) => [file.stream, file.stem, file.step, file.validation])).toEqual([
      ['train', '9', 9, false],
      ['train', '10', 10, false],
      ['train', 'step_100', 100, false],
      ['train', 'notes', null, false],
      ['val', '0', 0, true],
    ]);
  });

  test('may be a file, several, a pattern, an archive', async () => {
    const directory = directoryWith({
      '1.jsonl': verlLine(),
      '2.jsonl': verlLine({ step: 2 }),
      '3.jsonl.gz': gzipSync(verlLine({ score: 0.25 }) + verlLine()),
    });
    expect((await opened(join(directory, '2.jsonl'))).files.length).toBe(1);
    expect(
      (await opened(join(directory, '2.jsonl'), join(directory, '1.jsonl'), join(directory, '1.jsonl'))).files.map(
        (file) => file.stem,
      ),
    ).toEqual(['1', '2']);
    expect((await opened(join(directory, '*.jsonl'))).files.length).toBe(2);
    const [archive] = (await opened(join(directory, '3.jsonl.gz'))).files;
    expect(rowsOf(archive).map((row) => [row.locator, row.rollout?.score])).toEqual([
      [`${directory}/3.jsonl.gz:1`, 0.25],
      [`${directory}/3.jsonl.gz:2`, 1],
    ]);
  });

  test('open at the newest train step', async () => {
    const directory = directoryWith({
      'train/2.jsonl': verlLine(),
      'train/10.jsonl': verlLine(),
      'val/20.jsonl': verlLine(),
    });
    expect(Dump.open([directory]).newest()?.path).toBe(`${directory}/train/10.jsonl`);
  });

  test('a directory that links to itself is read once', () => {
    const directory = directoryWith({ '1.jsonl': verlLine() });
    symlinkSync(directory, join(directory, 'again'));
    expect(Dump.open([directory]).files.length).toBe(1);
  });

  test.each([
    ['missing', (directory: string) => join(directory, 'none'), /no such file or directory/],
    ['empty', (directory: string) => join(directory, 'empty.jsonl'), /empty/],
    ['binary', (directory: string) => join(directory, 'model.bin'), /binary/],
    ['without a dump in it', (directory: string) => join(directory, 'void'), /no file in it that may hold rollouts/],
    ['a pattern that nothing matches', (directory: string) => join(directory, '*.nothing'), /no path matches/],
  ])('a named path that is %s is one clear message', (_, path, message) => {
    const directory = directoryWith({ 'empty.jsonl': '', 'model.bin': Buffer.from([1, 0, 2, 0]) });
    mkdirSync(join(directory, 'void'));
    expect(() => Dump.open([path(directory)])).toThrow(UsageError);
    expect(() => Dump.open([path(directory)])).toThrow(message);
  });

  test('inside a directory an unreadable file is a notice beside the others', async () => {
    const directory = directoryWith({
      '1.jsonl': verlLine(),
      '2.jsonl': '',
      '3.jsonl': Buffer.from([0, 1, 2]),
      '4.jsonl.gz': Buffer.from([0x1f, 0x8b, 8, 0, 1]),
    });
    symlinkSync(join(directory, 'gone'), join(directory, '5.jsonl'));
    const dump = await opened(directory);
    expect(dump.files.map((file) => file.state)).toEqual(['ready', 'failed', 'failed', 'failed']);
    expect(dump.notices.length).toBe(4);
    expect(dump.notices).toContainEqual(expect.stringMatching(/5\.jsonl: a link that leads nowhere/));
    expect(rowsOf(dump.files[0]).length).toBe(1);
  });

  test('while a run is followed a binary file is a notice still; one that is empty is not', async () => {
    const directory = directoryWith({ '1.jsonl': verlLine(), '2.jsonl': '', '3.jsonl': Buffer.from([0, 1, 2]) });
    const dump = Dump.open([directory], { holdBack: 'while-arriving' });
    await dump.start();
    expect(dump.notices).toEqual([expect.stringMatching(/3\.jsonl: binary/)]);
    dump.close();
  });

  test('a cut archive gives what could be unpacked, and says so', async () => {
    const whole = gzipSync(Array.from({ length: 5000 }, (_, i) => verlLine({ uid: String(Math.sin(i)) })).join(''));
    const dump = await opened(join(directoryWith({ '1.jsonl.gz': whole.subarray(0, whole.length / 2) }), '1.jsonl.gz'));
    expect(dump.files[0]!.count).toBeGreaterThan(100);
    expect(dump.notices[0]).toMatch(/not complete/);
  });
});

describe('the lines of a file', () => {
  test('are found as a split on newlines finds them, whatever is in them and however long they are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.constantFrom('', ' ', '\r', '{}', '\u2028', 'é', '\t'),
            fc.string({ maxLength: 30 }).map((text) => text.replaceAll('\n', '')),
            fc.nat(2_500_000).map((length) => `"${'x'.repeat(length)}"`),
          ),
          { minLength: 1, maxLength: 8 },
        ),
        fc.boolean(),
        async (lines, endsWithNewline) => {
          const content = lines.join('\n') + (endsWithNewline ? '\n' : '');
          if (content === '' || content.includes('\0') || content.startsWith('\ufeff')) return;
          const dump = await opened(join(directoryWith({ '1.jsonl': content }), '1.jsonl'));
          const expected = lines
            .map((text, i) => ({ line: i + 1, text }))
            .filter(({ text }) => !/^[ \r\t]*$/.test(text));
          expect(rowsOf(dump.files[0]).map((row) => [row.line, row.raw])).toEqual(
            expected.map(({ line, text }) => [line, text.endsWith('\r') ? text.slice(0, -1) : text]),
          );
          for (const [record, { line }] of expected.entries())
            expect(dump.files[0]!.index.recordAtLine(line)).toBe(record);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('keep their numbers: lines count blank ones, samples do not', async () => {
    const rows = await rowsIn(`\n${verlLine()}\n\nnot json\n${verlLine()}`);
    expect(rows.map((row) => [row.line, row.sample, row.error === null])).toEqual([
      [2, 1, true],
      [5, 2, false],
      [6, 3, true],
    ]);
  });

  test('a line that is no record says why and hides nobody', async () => {
    const rows = await rowsIn(
      `${verlLine()}{"input": "a", "out\n[1]\n"text"\n{}\n{"prompt": 1, "x": 2}\n{"input": [], "output": "x"}\n${verlLine()}`,
    );
    expect(rows.map((row) => row.error)).toEqual([
      null,
      expect.stringMatching(/not JSON at character 16: the text ends inside a string/),
      'an array, not a JSON object',
      'a string, not a JSON object',
      'an empty object',
      'not a rollout: no format knows these keys: prompt, x',
      '`input` is an array, not a string',
      null,
    ]);
    expect(rows[1]!.raw).toBe('{"input": "a", "out');
  });

  test('a byte order mark, CRLF, invalid UTF-8 and a last line without newline are taken as they are', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`\ufeff${verlLine().replace('\n', '\r\n')}`),
      Buffer.from('{"input": "user\\nq\\nassistant\\n", "output": "'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('", "score": NaN}'),
    ]);
    const rows = await rowsIn(bytes);
    expect(rows.map((row) => row.error)).toEqual([null, null]);
    expect(rows[0]!.rollout!.texts.input).toBe('user\nWhat is 1+1?\nassistant\n');
    expect(rows[1]!.rollout!.texts.output).toBe('\ufffd\ufffd');
    expect(rows[1]!.rollout!.score).toBeNaN();
  });

  test('a file that shrinks, vanishes or is rewritten while it is open is reported, record by record', async () => {
    const directory = directoryWith({
      '1.jsonl': verlLine() + verlLine() + verlLine(),
      '2.jsonl': verlLine(),
      '3.jsonl': verlLine() + verlLine(),
    });
    const { files } = await opened(directory);
    truncateSync(join(directory, '1.jsonl'), verlLine().length);
    expect(rowsOf(files[0]).map((row) => row.error)).toEqual([
      null,
      expect.stringMatching(/shrank/),
      expect.stringMatching(/shrank/),
    ]);
    rmSync(join(directory, '2.jsonl'));
    expect(rowsOf(files[1])[0]!.error).toMatch(/no such file/);
    writeFileSync(join(directory, '3.jsonl'), `${'x'.repeat(500)}\n`);
    expect(rowsOf(files[2])[1]!.error).toMatch(/rewritten/);
  });
});

describe('a dump in the background', () => {
  test('is never more than whole while packed files are unpacked', async () => {
    const packed = gzipSync(Array.from({ length: 4000 }, () => verlLine({ output: 'x'.repeat(900) })).join(''));
    const dump = Dump.open([directoryWith({ '1.jsonl.gz': packed, '2.jsonl.gz': packed, '3.jsonl.gz': packed })]);
    const shares = new Set<number>();
    const started = dump.start().then(() => true);
    for (let isOver = false; !isOver; ) {
      const { phase, done, total } = dump.progress();
      if (phase === 'index' && total > 0) shares.add(done / total);
      isOver = await Promise.race([started, new Promise<false>((resolve) => setImmediate(resolve, false))]);
    }
    expect(Math.max(...shares)).toBeLessThanOrEqual(1);
    expect(shares.size).toBeGreaterThan(1);
    dump.close();
  });

  test('gets scores from the tails, then facts from a thread, wanted rows first', async () => {
    const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
    const content = Array.from({ length: 300 }, (_, i) => verlLine({ score: i, output: i % 2 ? call : 'x' })).join('');
    const dump = Dump.open([join(directoryWith({ '1.jsonl': `${content}broken\n` }), '1.jsonl')]);
    const changed = new Promise<void>((resolve) => {
      dump.subscribe(() => dump.progress().phase === 'done' && resolve());
    });
    await dump.start();
    const [file] = dump.files;
    expect(file!.count).toBe(301);
    expect(file!.score(299)).toBe(299);
    await changed;
    const told = (record: number) => {
      const facts = file!.facts(record)!;
      return [facts.value('turns'), facts.value('tool_calls'), facts.findings];
    };
    expect(told(1)).toEqual([2, 1, ['call_without_result']]);
    expect(told(2)).toEqual([2, 0, []]);
    expect(told(300)).toEqual([0, 0, ['bad_record']]);
    expect(file!.score(300)).toBeNull();
    dump.close();
  });

  test('finds groups by uid, else by prompt and ground truth, and has none where all prompts are equal', async () => {
    const directory = directoryWith({
      '1.jsonl': ['a', 'b', 'a'].map((gts) => verlLine({ gts, input: `user\n${gts}\nassistant\n` })).join(''),
      '2.jsonl': ['p_0_0', 'q_0_0', 'p_1_0'].map((uid) => verlLine({ uid })).join(''),
      '3.jsonl': ['a', 'b'].map((gts) => verlLine({ gts })).join(''),
    });
    const dump = await opened(directory);
    const { Groups } = await import('../../../src/analysis/groups.ts');
    const [byPrompt, byUid, alike] = await Promise.all(
      dump.files.map(async (file) => new Groups(await dump.groupKeys(file), (record) => file.stepOf(record))),
    );
    expect(byPrompt!.membersOf(0)).toEqual([0, 2]);
    expect(byUid!.keyOf(0)).toBe('p');
    expect(byUid!.membersOf(2)).toEqual([0, 2]);
    expect(alike!.keyOf(0)).toBeNull();
    expect(alike!.reasonOf(0)).toMatch(/all prompts of its step are equal/);
    dump.close();
  });

  test('reads the file only: it is the same before and after', async () => {
    const directory = directoryWith({ '1.jsonl': verlLine() });
    appendFileSync(join(directory, '1.jsonl'), 'half a li');
    const before = (await import('node:fs')).readFileSync(join(directory, '1.jsonl'));
    const dump = await opened(directory);
    rowsOf(dump.files[0]);
    expect((await import('node:fs')).readFileSync(join(directory, '1.jsonl')).equals(before)).toBe(true);
  });
});

test('findings of half a line do not carry over to the line that it became', async () => {
  const whole = verlLine({ score: 0.5 });
  const path = join(directoryWith({ '1.jsonl': verlLine() + whole.slice(0, 60) }), '1.jsonl');
  const dump = await opened(path);
  const [file] = dump.files;
  // The answer comes when the rest of the line has been seen.
  const looking = dump.lookAt(file!, [0, 1]);
  appendFileSync(path, whole.slice(60));
  await dump.refresh(file!);
  await looking;
  expect([file!.facts(0) === undefined, file!.facts(1) === undefined]).toEqual([false, true]);
  await dump.lookAt(file!, [1]);
  expect([file!.score(1), file!.facts(1)?.findings.length]).toEqual([0.5, 0]);
  dump.close();
});

test.skipIf(process.platform !== 'linux')(
  'threads that read behind a screen weigh less than the one that answers keys (skipped but on Linux)',
  async () => {
    const weights = () =>
      readdirSync('/proc/self/task').map((task) => {
        const fields = readFileSync(`/proc/self/task/${task}/stat`, 'latin1').split(') ')[1]!.split(' ');
        return Number(fields[16]);
      });
    const own = getPriority();
    const path = join(directoryWith({ '1.jsonl': verlLine() }), '1.jsonl');
    for (const givesWay of [false, true]) {
      const dump = Dump.open([path], { givesWay });
      await dump.index(dump.files[0]!);
      await dump.lookAt(dump.files[0]!, [0]);
      expect(weights().some((weight) => weight === own + 5)).toBe(givesWay);
      expect(getPriority()).toBe(own);
      dump.close();
    }
  },
);

test('a small dump is read by one thread, since another one takes longer to start', async () => {
  allowThreads(3);
  const ask = vi.spyOn(RecordWorker.prototype, 'ask').mockResolvedValue(null);
  try {
    for (const [megabytes, threads] of [
      [1, 1],
      [20, 3],
    ] as const) {
      ask.mockClear();
      const line = verlLine({ output: 'x'.repeat(1 << 20) });
      const path = join(directoryWith({ '1.jsonl': line.repeat(megabytes) }), '1.jsonl');
      const dump = await opened(path);
      await dump.lookAtAll();
      dump.close();
      // The dump of another test may still end.
      const asked = ask.mock.contexts.filter((_, i) => ask.mock.calls[i]?.[0].path === path);
      expect(new Set(asked).size).toBe(threads);
    }
  } finally {
    ask.mockRestore();
    allowThreads(null);
  }
});
