// A Pyodide child in whose process a program has got hold of everything: it says on the server's channel what it likes.
//   argv[2]: the folder of Pyodide, which here names the attack
import { closeSync, readSync, writeSync } from 'node:fs';

const KINDS = ['ready', 'start', 'turn', 'end', 'file', 'too large', 'done'];
const say = (kind, body = Buffer.alloc(0), length = body.length) => {
  const head = Buffer.alloc(5);
  head[0] = KINDS.indexOf(kind);
  head.writeUInt32LE(length, 1);
  writeSync(3, Buffer.concat([head, body]));
};
const number = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const forever = () => {
  for (;;) sleep(1000);
};
const text = (value) => Buffer.concat([number(0), Buffer.from(value)]);

const ATTACKS = {
  'an invalid end': () => {
    say('end', number(0));
    forever();
  },
  'an end, and files without end': () => {
    say('end', number(0));
    for (;;) say('file', Buffer.concat([number(0), Buffer.alloc(1 << 20)]));
  },
  'a file of four gigabytes': () => {
    say('file', text(''), 0xffffffff);
    forever();
  },
  'a file that never ends': () => {
    say('file', text('begun'), 1000);
    forever();
  },
  'frames without end': () => {
    for (;;) say('turn');
  },
  'a thousand starts': () => {
    for (let at = 0; at < 1000; at++) say('start');
    forever();
  },
  'lines of JSON': () => {
    const line = Buffer.from(`${JSON.stringify(Array.from({ length: 100_000 }, () => ({})))}\n`);
    for (;;) writeSync(3, line);
  },
  'an unknown kind': () => {
    writeSync(3, Buffer.from([255, 0, 0, 0, 0]));
    forever();
  },
  'a channel that is closed': () => {
    closeSync(3);
    forever();
  },
  'no word at all': forever,
  'a file of a run that asked for none': () => {
    say('file', text('x'));
    say('end', number(0));
    forever();
  },
  'an index of no file': () => {
    say('file', Buffer.concat([number(-7), Buffer.from('x')]));
    say('file', Buffer.concat([number(99), Buffer.from('x')]));
    say('too large', number(-1));
    say('end', number(0));
    say('done');
    forever();
  },
  'done before it is late': () => {
    say('done');
    forever();
  },
};

say('ready');
const length = Buffer.alloc(4);
readSync(3, length, 0, 4, null);
if (!process.argv[2].endsWith('no start')) say('start');
(ATTACKS[process.argv[2].split('/').at(-1)] ?? forever)();
