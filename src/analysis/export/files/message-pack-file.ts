import { writeSync } from 'node:fs';
import type { Printable } from '../../../core/json/print.ts';
import type { ExportRow } from '../format.ts';
import type { RowFile } from './row-file.ts';
import { WholeFile } from './whole-file.ts';

/** A MessagePack list of rows (the MessagePack specification). Each row is the list of its values: the keys are not written. */
export class MessagePackFile extends WholeFile implements RowFile {
  #rows = 0;

  constructor(path: string) {
    super(path);
    // The count is filled in at the end, when it is known.
    this.write(head(0xdd, 0));
  }

  add(row: ExportRow): void {
    this.#rows++;
    const out: Buffer[] = [];
    packInto(Object.values(row), out);
    this.write(Buffer.concat(out));
  }

  override async finish(): Promise<void> {
    this.flush();
    writeSync(this.fd, head(0xdd, this.#rows), 0, 5, 0);
    super.finish();
  }
}

/** A type byte and a length of four bytes. */
function head(type: number, length: number): Buffer {
  const out = Buffer.alloc(5);
  out.writeUInt8(type, 0);
  out.writeUInt32BE(length, 1);
  return out;
}

function packInto(value: Printable, out: Buffer[]): void {
  if (value === null || value === undefined) out.push(Buffer.of(0xc0));
  else if (typeof value === 'boolean') out.push(Buffer.of(value ? 0xc3 : 0xc2));
  else if (typeof value === 'number') out.push(packedNumber(value));
  else if (typeof value === 'string') out.push(head(0xdb, Buffer.byteLength(value)), Buffer.from(value));
  else if (Array.isArray(value)) {
    out.push(head(0xdd, value.length));
    for (const one of value) packInto(one, out);
  } else throw new TypeError('a row of this file holds lists of plain values');
}

function packedNumber(value: number): Buffer {
  if (Number.isInteger(value) && value >= 0 && value < 0x80) return Buffer.of(value);
  if (Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 31) {
    const out = Buffer.alloc(5);
    out.writeUInt8(0xd2, 0);
    out.writeInt32BE(value, 1);
    return out;
  }
  const out = Buffer.alloc(9);
  out.writeUInt8(0xcb, 0);
  out.writeDoubleBE(value, 1);
  return out;
}
