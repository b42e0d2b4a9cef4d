// The writer never holds a trainer up: forks beside writing threads, many turns, values that are no JSON.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directoryWith, execute, jsonLines, root } from '../../program.ts';

const env = { PYTHONPATH: join(root, 'wheel') };
const python = async (script: string, ...args: string[]) => {
  const { code, stdout, stderr } = await execute(
    'python3',
    [...(script.endsWith('.py') ? [script] : ['-c', script]), ...args],
    { env },
  );
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return { stdout, stderr };
};

test.each([0, 16])('150 forks beside four writing threads all write, %s in a queue', async (queue) => {
  const directory = directoryWith({});
  const { stdout } = await python(join(root, 'test/engine/python/forking_writer.py'), directory, '150', String(queue));
  const [acknowledged, written, errors] = stdout.trim().split(' ').map(Number);
  expect([acknowledged, errors]).toEqual([150, 0]);
  const lines = readdirSync(directory).flatMap((name) =>
    readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'),
  );
  for (const line of lines) JSON.parse(line);
  expect(lines).toHaveLength(150 + written!);
});

const COUNTING = `
import sys
from rollout_viewer._writer import _decoded, _runs
class Tokenizer:
    count = 0
    # As SentencePiece: the first id of a text loses its blank.
    def decode(self, ids):
        self.count += len(ids)
        return "".join(" w%d" % one for one in ids)[1:]
for turns in (10, 100):
    ids = list(range(turns * 400))
    mask = [(at // 200) % 2 for at in ids]
    one = Tokenizer()
    texts = _decoded(one.decode, ids, _runs(mask))
    assert "".join(texts) == Tokenizer().decode(ids) and len(texts) == 2 * turns, texts[:2]
    assert texts[1].startswith(" w200"), texts[1][:9]
    print(one.count / len(ids))
`;

test('decoding grows with the ids, not with the turns', async () => {
  const { stdout } = await python(COUNTING);
  for (const times of stdout.trim().split('\n').map(Number)) expect(times).toBeLessThan(2.2);
});

const SPLIT = `
from rollout_viewer._writer import _decoded, _runs
pieces = [b"a", "\\u20ac".encode()[:1], "\\u20ac".encode()[1:], b"b"]
decode = lambda ids: b"".join(pieces[one] for one in ids).decode("utf-8", "replace")
print(_decoded(decode, [0, 1, 2, 3], _runs([1, 1, 0, 1])), _decoded(decode, [0, 1, 2, 3], _runs([1, 0, 0, 1])))
`;

test('a border within a character is no border', async () => {
  expect((await python(SPLIT)).stdout.trim()).toBe("[] ['a', '€', 'b']");
});

test('a value that is no JSON is written as its text, counted and logged', async () => {
  const directory = directoryWith({});
  const script = `
import sys, datetime, logging
logging.basicConfig()
from rollout_viewer import Writer
writer = Writer(sys.argv[1], rank=0)
assert writer.write(step=1, messages=[], rewards=1.0, when=datetime.date(2026, 1, 2), what=object)
print(writer.odd, writer.errors)`;
  const { stdout, stderr } = await python(script, directory);
  expect(stdout.trim()).toBe('2 0');
  expect(stderr).toContain('a value of the type date is written as its text (1 so far)');
  const [name] = readdirSync(directory);
  expect(readFileSync(join(directory, name!), 'utf8')).toContain('"when": "2026-01-02"');
});

const UNWRITABLE = `
import sys, threading
from rollout_viewer import Writer
for queue in (0, 4):
    writer = Writer(sys.argv[1], rank=0, queue=queue)
    said = [writer.write(step=1, messages=[], rewards=1.0) for _ in range(40)]
    print(any(said) if queue == 0 else "", writer.flush(), writer.written, writer.errors, type(writer.last_error).__name__)
`;

test('a folder that cannot be made is counted, and each write answers', async () => {
  expect((await python(UNWRITABLE, '/dev/null/rollouts')).stdout).toBe(
    'False False 0 40 NotADirectoryError\n False 0 40 NotADirectoryError\n',
  );
});

const SHORT_DISK = `
import os, sys
from rollout_viewer import _writer, Writer
real, left = os.write, 5000
def write(fd, line):
    global left
    if left == 0: raise OSError(28, "No space left on device")
    done = real(fd, line[:left])
    left -= done
    return done
_writer.os = type("Os", (), {"__getattr__": lambda _, name: write if name == "write" else getattr(os, name)})()
writer = Writer(sys.argv[1], rank=0)
said = [writer.write(step=1, messages=[{"role": "user", "content": "x" * 1500}], uid=str(at)) for at in range(6)]
left = 1 << 30
said += [writer.write(step=1, messages=[], uid=str(at)) for at in range(6, 8)]
writer.close()
print(",".join(str(at) for at, one in enumerate(said) if one))
`;

test('a disk that is full for a while loses what it refused, and nothing that was acknowledged', async () => {
  const directory = directoryWith({});
  const { stdout } = await python(SHORT_DISK, directory);
  const acknowledged = stdout.trim().split(',');
  expect(acknowledged.slice(-2)).toEqual(['6', '7']);
  expect(acknowledged.length).toBeLessThan(7);
  const whole = readdirSync(directory).flatMap((name) =>
    readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1),
  );
  expect(whole.map((line) => String((JSON.parse(line) as { uid: string }).uid)).sort()).toEqual(acknowledged);
});

const SHARED = `
import sys
from rollout_viewer import Writer
Writer._name = lambda self: "rank0"  # Containers of one image: the same host, process id and rank.
writer = Writer(sys.argv[1])
for at in range(40):
    assert writer.write(step=1, messages=[{"role": "user", "content": "x" * (1 + at % 4 * 50000)}], uid="%s-%d" % (sys.argv[2], at))
writer.close()
with Writer(sys.argv[1]) as again:
    assert again.write(step=1, messages=[], uid="%s-again" % sys.argv[2])
`;

const BESIDE = `
import os, sys
from rollout_viewer import Writer
writers = [Writer(sys.argv[1], rank=0) for _ in range(2)]
for writer in writers + writers:
    assert writer.write(step=1, messages=[])
print(len(os.listdir(sys.argv[1])))
del writer, writers
for _ in range(3):
    assert Writer(sys.argv[1], rank=0).write(step=1, messages=[])
print(len(os.listdir(sys.argv[1])))
`;

test('a second writer of one name has a separate file; a later one continues the first', async () => {
  expect((await python(BESIDE, directoryWith({}))).stdout).toBe('2\n2\n');
});

test('processes that would share a file name each write a file, and a later one goes on in it', async () => {
  const directory = directoryWith({});
  await Promise.all(['a', 'b', 'c'].map((name) => python(SHARED, directory, name)));
  const found = readdirSync(directory).map((name) =>
    jsonLines(readFileSync(join(directory, name), 'utf8')).map(({ uid }) => String(uid)),
  );
  expect(found.flat()).toHaveLength(3 * 41);
  expect(new Set(found.flat()).size).toBe(3 * 41);
  expect(found.length).toBeLessThanOrEqual(3);
});
