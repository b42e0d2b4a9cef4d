import { writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Printable } from '../../../core/json/print.ts';
import type { ExportRow } from '../format.ts';
import type { RowFile } from './row-file.ts';
import { WholeFile } from './whole-file.ts';

const DATA = 'archive/data.pkl';
/** Bytes of a zip's header before the name of a member. */
const HEADER = 30;

/**
 * `{"rollout_id": 0, "samples": [...]}` as torch.save writes it: an uncompressed zip that holds a pickle (pytorch,
 * caffe2/serialize/inline_container.h; Python's pickle protocol 2). It holds only plain values, so torch.load needs no
 * classes.
 */
export class TorchFile extends WholeFile implements RowFile {
  #crc = 0;
  #size = 0;

  constructor(path: string) {
    super(path);
    // Sizes and checksum are filled in at the end, when they are known.
    this.write(Buffer.concat([localHeader(DATA, 0, 0), Buffer.from(DATA)]));
    this.#pickle(
      Buffer.concat([bytes(0x80, 2), bytes(0x7d, 0x28), pickled('rollout_id'), pickled(0), pickled('samples')]),
    );
    this.#pickle(bytes(0x5d, 0x28));
  }

  #pickle(data: Buffer): void {
    this.#crc = crc32(data, this.#crc);
    this.#size += data.length;
    if (this.#size > 0xffff_0000) throw new Error('a torch file of more than 4 GB: export fewer rollouts at a time');
    this.write(data);
  }

  add(row: ExportRow): void {
    this.#pickle(pickled(row));
  }

  override async finish(): Promise<void> {
    this.#pickle(bytes(0x65, 0x75, 0x2e));
    const members = [{ name: DATA, crc: this.#crc, size: this.#size, at: 0 }];
    for (const [name, text] of [
      ['archive/version', '3\n'],
      ['archive/byteorder', 'little'],
    ] as const) {
      const data = Buffer.from(text);
      members.push({ name, crc: crc32(data), size: data.length, at: this.bytes });
      this.write(Buffer.concat([localHeader(name, crc32(data), data.length), Buffer.from(name), data]));
    }
    const start = this.bytes;
    for (const member of members) this.write(centralEntry(member));
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x0605_4b50, 0);
    end.writeUInt16LE(members.length, 8);
    end.writeUInt16LE(members.length, 10);
    end.writeUInt32LE(this.bytes - start, 12);
    end.writeUInt32LE(start, 16);
    this.write(end);
    this.flush();
    const header = localHeader(DATA, this.#crc, this.#size);
    writeSync(this.fd, header, 0, HEADER, 0);
    super.finish();
  }
}

const bytes = (...values: number[]): Buffer => Buffer.from(values);

function localHeader(name: string, crc: number, size: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(size, 18);
  header.writeUInt32LE(size, 22);
  header.writeUInt16LE(name.length, 26);
  return header;
}

function centralEntry({ name, crc, size, at }: { name: string; crc: number; size: number; at: number }): Buffer {
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x0201_4b50, 0);
  entry.writeUInt16LE(20, 4);
  entry.writeUInt16LE(20, 6);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(size, 20);
  entry.writeUInt32LE(size, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt32LE(at, 42);
  return Buffer.concat([entry, Buffer.from(name)]);
}

/** A value as Python's pickle protocol 2 writes it. */
function pickled(value: Printable): Buffer {
  const out: Buffer[] = [];
  pickleInto(value, out);
  return Buffer.concat(out);
}

function pickleInto(value: Printable, out: Buffer[]): void {
  if (value === null || value === undefined) out.push(bytes(0x4e));
  else if (typeof value === 'boolean') out.push(bytes(value ? 0x88 : 0x89));
  else if (typeof value === 'string') out.push(pickledText(value));
  else if (typeof value === 'bigint') out.push(pickledLong(value));
  else if (typeof value === 'number') out.push(pickledNumber(value));
  else if (Array.isArray(value)) {
    out.push(bytes(0x5d, 0x28));
    for (const one of value) pickleInto(one, out);
    out.push(bytes(0x65));
  } else {
    out.push(bytes(0x7d, 0x28));
    for (const [key, one] of Object.entries(value)) {
      if (one === undefined) continue;
      out.push(pickledText(key));
      pickleInto(one, out);
    }
    out.push(bytes(0x75));
  }
}

function pickledText(text: string): Buffer {
  const utf8 = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt8(0x58, 0);
  head.writeUInt32LE(utf8.length, 1);
  return Buffer.concat([head, utf8]);
}

function pickledNumber(value: number): Buffer {
  if (Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 31) {
    const out = Buffer.alloc(5);
    out.writeUInt8(0x4a, 0);
    out.writeInt32LE(value, 1);
    return out;
  }
  const out = Buffer.alloc(9);
  out.writeUInt8(0x47, 0);
  out.writeDoubleBE(value, 1);
  return out;
}

/** LONG1: at most 255 bytes, two's complement, the lowest byte first. */
function pickledLong(value: bigint): Buffer {
  const digits: number[] = [];
  let rest = value;
  do {
    digits.push(Number(BigInt.asUintN(8, rest)));
    rest >>= 8n;
  } while (rest !== 0n && rest !== -1n);
  const top = digits.at(-1) ?? 0;
  if (rest === 0n && top >= 0x80) digits.push(0);
  if (rest === -1n && top < 0x80) digits.push(0xff);
  return Buffer.from([0x8a, digits.length, ...digits]);
}
