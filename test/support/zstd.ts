/** A frame of zstd whose only block is stored as it is. */
export function storedFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head[4] = 0b1010_0000;
  head.writeUInt32LE(body.length, 5);
  head.writeUIntLE((body.length << 3) | 1, 9, 3);
  return Buffer.concat([head, body]);
}

/** Frames with the table of zstd's seekable format behind them. */
export function seekable(frames: readonly Uint8Array[]): Buffer {
  const table = Buffer.alloc(8 + frames.length * 8 + 9);
  table.writeUInt32LE(0x184d2a5e, 0);
  table.writeUInt32LE(table.length - 8, 4);
  for (const [at, { length }] of frames.entries()) table.writeUInt32LE(length, 8 + at * 8);
  table.writeUInt32LE(frames.length, table.length - 9);
  table.writeUInt32LE(0x8f92eab1, table.length - 4);
  return Buffer.concat([...frames, table]);
}
