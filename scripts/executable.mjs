// node scripts/executable.mjs [FOLDER]: builds rollout-viewer-VERSION-PLATFORM-ARCH, one file that needs no Node: the Node that runs this
// script, with the built program in it (Node's single executable application). Prints its path.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { inject } from 'postject';
import { programFiles } from './program-files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const folder = resolve(process.argv[2] ?? join(root, 'dist-executable'));
const path = join(folder, `rollout-viewer-${version}-${process.platform}-${process.arch}`);
const work = mkdtempSync(join(tmpdir(), 'rollout-viewer-executable-'));
try {
  const files = programFiles('program').map(([name, bytes]) => ({ name, bytes }));
  const heads = Buffer.from(JSON.stringify(files.map(({ name, bytes }) => [name, bytes.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(heads.length);
  const plain = Buffer.concat([length, heads, ...files.map(({ bytes }) => bytes)]);
  writeFileSync(join(work, 'program'), brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  const name = createHash('sha256').update(plain).update(process.version).digest('hex').slice(0, 16);
  writeFileSync(join(work, 'name'), `${version}-${name}`);
  const settings = {
    main: join(root, 'scripts/executable-main.cjs'),
    output: join(work, 'blob'),
    disableExperimentalSEAWarning: true,
    assets: { program: join(work, 'program'), name: join(work, 'name') },
  };
  writeFileSync(join(work, 'settings.json'), JSON.stringify(settings));
  execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'settings.json')], {
    stdio: ['ignore', 2, 2],
  });
  mkdirSync(folder, { recursive: true });
  copyFileSync(process.execPath, path);
  chmodSync(path, 0o755);
  const isMac = process.platform === 'darwin';
  if (isMac) execFileSync('codesign', ['--remove-signature', path]);
  // The injector's own notes are none of the caller's.
  console.log = console.warn = () => undefined;
  await inject(path, 'NODE_SEA_BLOB', readFileSync(join(work, 'blob')), {
    sentinelFuse: FUSE,
    ...(isMac ? { machoSegmentName: 'NODE_SEA' } : {}),
  });
  if (isMac) execFileSync('codesign', ['--sign', '-', path]);
  process.stdout.write(`${relative(process.cwd(), path) || path}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
