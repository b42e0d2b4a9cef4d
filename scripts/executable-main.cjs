// The script inside the single executable. The program starts threads and confined processes from files, so it is unpacked once, into the
// user's cache; its child processes run on a Node that lies there, too.
const { execFileSync } = require('node:child_process');
const { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { homedir, tmpdir, userInfo } = require('node:os');
const { dirname, join } = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { brotliDecompressSync } = require('node:zlib');

/** With ":1" behind it a Node runs the script that it carries, with ":0" it is a plain Node. */
const FUSE = ['NODE_SEA_FUSE', 'fce680ab2cc467b6e072b8b5df1996b2:'].join('_');

/** Nobody else may put code where this user would run it. */
function isOwn(folder) {
  try {
    const { uid, mode } = lstatSync(folder);
    const isDirectory = (mode & 0o170000) === 0o040000;
    return isDirectory && (process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0));
  } catch {
    return false;
  }
}

function folders() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return [join(cache, 'rollout-viewer', 'program'), join(tmpdir(), `rollout-viewer-program-${userInfo().uid}`)];
}

function unpack(folder) {
  const packed = brotliDecompressSync(Buffer.from(getRawAsset('program')));
  let at = 4 + packed.readUInt32LE(0);
  for (const [name, length] of JSON.parse(packed.subarray(4, at).toString('utf8'))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), packed.subarray(at, at + length));
    at += length;
  }
  writeFileSync(
    join(folder, 'start.cjs'),
    "import(require('node:url').pathToFileURL(require('node:path').join(__dirname, 'program/dist/rollout-viewer.js')));\n",
  );
  const node = readFileSync(process.execPath);
  // The name of the fuse may also be in texts of Node's, without the bit behind it.
  for (let bit = node.indexOf(FUSE); bit !== -1; bit = node.indexOf(FUSE, bit + 1))
    if (node[bit + FUSE.length] === 0x31) node[bit + FUSE.length] = 0x30;
  writeFileSync(join(folder, 'node'), node, { mode: 0o755 });
  if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', join(folder, 'node')]);
}

/** The program's folder; several processes may unpack it at once. */
function place() {
  const problems = [];
  for (const parent of folders()) {
    const folder = join(parent, getAsset('name', 'utf8'));
    try {
      mkdirSync(parent, { recursive: true, mode: 0o700 });
      if (!isOwn(parent)) throw new Error(`${parent} belongs to somebody else, or others may write to it`);
      if (isOwn(folder)) return folder;
      const draft = mkdtempSync(join(parent, '.draft-'));
      try {
        unpack(draft);
        renameSync(draft, folder);
      } catch (error) {
        rmSync(draft, { recursive: true, force: true });
        if (!isOwn(folder)) throw error;
      }
      return folder;
    } catch (error) {
      problems.push(error.message);
    }
  }
  process.stderr.write(`rollout-viewer: it can be unpacked nowhere:\n${problems.join('\n')}\n`);
  process.exit(2);
}

const folder = place();
process.execPath = join(folder, 'node');
process.argv = [process.execPath, join(folder, 'program/dist/rollout-viewer.js'), ...process.argv.slice(2)];
createRequire(join(folder, 'start.cjs'))('./start.cjs');
