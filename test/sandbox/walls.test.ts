// The walls around Pyodide, by what a process behind them reaches, and the channel that a hostile one writes to.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameReader, frame, u32 } from '../../src/sandbox/server/backends/pyodide-protocol.ts';
import { filterForOne, seccompFilter } from '../../src/sandbox/server/backends/seccomp.ts';
import { sandboxProfile } from '../../src/sandbox/server/backends/walls.ts';

const reading = () => {
  const heard: string[] = [];
  let excess = 0;
  const reader = new FrameReader(
    ({ kind, number, content }) => heard.push(`${kind} ${number} ${content.toString()}`),
    () => excess++,
  );
  return { reader, heard, excess: () => excess };
};

describe('frames of a Pyodide child', () => {
  test('arrive whole, however the channel cuts them', () => {
    const frames = [
      frame('ready'),
      frame('start'),
      frame('file', 2, Buffer.from('held')),
      frame('end', -9),
      frame('done'),
    ];
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 12 }), (cuts) => {
        const { reader, heard, excess } = reading();
        reader.allow(5, 4);
        const bytes = Buffer.concat(frames);
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        for (const [index, from] of places.slice(0, -1).entries()) reader.push(bytes.subarray(from, places[index + 1]));
        expect(heard).toEqual(['ready 0 ', 'start 0 ', 'file 2 held', 'end -9 ', 'done 0 ']);
        expect(excess()).toBe(0);
      }),
    );
  });

  test('one more than was allowed ends the channel', () => {
    const { reader, heard, excess } = reading();
    reader.allow(1, 0);
    reader.push(Buffer.concat([frame('ready'), frame('start'), frame('end')]));
    expect([heard.length, excess()]).toEqual([1, 1]);
  });

  test('a length is refused before its bytes are read', () => {
    for (const head of [
      Buffer.concat([Buffer.from([3]), u32(5)]),
      Buffer.concat([Buffer.from([4]), u32(0xffffffff)]),
      Buffer.concat([Buffer.from([4]), u32(1025)]),
      Buffer.concat([Buffer.from([4]), u32(3)]),
      Buffer.concat([Buffer.from([99]), u32(0)]),
    ]) {
      const { reader, heard, excess } = reading();
      reader.allow(10, 1020);
      reader.push(head);
      reader.push(Buffer.alloc(100_000));
      expect([heard.length, excess()]).toEqual([0, 1]);
    }
  });

  test('no bytes whatever make it hold more than was allowed', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        const { reader, heard } = reading();
        reader.allow(3, 16);
        for (const chunk of chunks) reader.push(Buffer.from(chunk));
        expect(heard.length).toBeLessThanOrEqual(3);
        expect(heard.join('').length).toBeLessThanOrEqual(3 * 24 + 16);
      }),
    );
  });
});

test('the profile for macOS denies what it does not name, and quotes the paths', () => {
  const profile = sandboxProfile({ node: '/opt/node', read: ['/Users/a "b"\\c'] }, ['/opt/lib']);
  expect(profile).toMatch(/^\(version 1\)\n\(deny default\)\n\(deny network\*\)\n\(deny process-fork\)/);
  expect(profile).toContain('(subpath "/Users/a \\"b\\"\\\\c")');
  expect(profile.match(/\(allow process-exec[^\n]*/g)).toEqual(['(allow process-exec (literal "/opt/node"))']);
  expect(profile).not.toMatch(/allow (?:network|file-write\*|mach-lookup|process-fork)/);
});

/** The kernel's decision on a call: seccomp's machine, as far as the filters use it. */
function answer(filter: Buffer, number: number, args: readonly number[] = [], arch = 0xc000003e): number {
  const word = (at: number): number => {
    if (at === 0) return number;
    if (at === 4) return arch;
    return (args[(at - 16) >> 3] ?? 0) >>> 0;
  };
  let held = 0;
  for (let at = 0; ; at++) {
    const code = filter.readUInt16LE(at * 8);
    const [yes, no, value] = [filter[at * 8 + 2] ?? 0, filter[at * 8 + 3] ?? 0, filter.readUInt32LE(at * 8 + 4)];
    if (code === 0x20) held = word(value);
    else if (code === 0x06) return value;
    else if (code === 0x15) at += held === value ? yes : no;
    else if (code === 0x25) at += held > value ? yes : no;
    else if (code === 0x45) at += (held & value) !== 0 ? yes : no;
    else throw new Error(`no instruction ${code}`);
  }
}

describe('the filters of system calls', () => {
  const ALLOW = 0x7fff0000;
  const one = filterForOne('x64');
  const many = seccompFilter(false, 'x64');

  test('one process gets no socket, no other process and no signal', () => {
    const calls = { socket: 41, connect: 42, socketpair: 53, sendmsg: 46, fork: 57, vfork: 58, kill: 62, ptrace: 101 };
    for (const [name, number] of Object.entries(calls)) expect(answer(one, number), name).not.toBe(ALLOW);
    const THREAD = 0x3d0f00;
    expect(answer(one, 56, [THREAD])).toBe(ALLOW);
    expect(answer(one, 56, [17])).not.toBe(ALLOW);
    const attributes = [188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199];
    for (const number of attributes) expect(answer(one, number), String(number)).not.toBe(ALLOW);
    // F_GETFD and F_SETOWN.
    expect([answer(one, 72, [3, 1]), answer(one, 72, [3, 8]) === ALLOW]).toEqual([ALLOW, false]);
    for (const number of [0, 1, 9, 12, 202, 232, 59]) expect(answer(one, number)).toBe(ALLOW);
  });

  test('a thread shares the descriptors of its process, or is not made', () => {
    expect(answer(many, 56, [0x3d0f00])).toBe(ALLOW);
    expect(answer(many, 56, [0x3d0f00 & ~0x400])).not.toBe(ALLOW);
    expect(answer(many, 56, [17])).toBe(ALLOW);
    expect(answer(many, 272, [0x400])).not.toBe(ALLOW);
  });

  test('a filter of its own is refused where nothing counts it', () => {
    expect([answer(many, 157, [22]) === ALLOW, answer(many, 157, [15]) === ALLOW]).toEqual([false, true]);
    expect(answer(many, 317)).not.toBe(ALLOW);
    expect(answer(seccompFilter(true, 'x64'), 157, [22])).toBe(ALLOW);
  });

  test('pages that a process gives up are not kept for it', () => {
    expect(answer(many, 278)).not.toBe(ALLOW);
    expect(answer(seccompFilter(true, 'x64'), 278)).toBe(ALLOW);
  });

  test('another machine’s calls end the process', () => {
    for (const filter of [one, many]) expect(answer(filter, 1, [], 0x40000003)).toBe(0x80000000);
  });

  test('both machines have a filter of a size that the kernel takes', () => {
    for (const machine of ['x64', 'arm64'])
      for (const filter of [filterForOne(machine), seccompFilter(false, machine), seccompFilter(true, machine)])
        expect(filter.length / 8).toBeLessThan(4096);
  });
});
