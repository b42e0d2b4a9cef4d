import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PROGRAMS =
  'bash cat chmod chown cp dd env find grep head id ln ls mkdir mkfifo mknod mount mv perl ps readlink rm rmdir sed seq setpriv sleep sort stat tail tar touch tr true truncate umount wc base64 nohup kill'.split(
    ' ',
  );

/** Programs of this machine that the root needs and this machine lacks. */
export const missingPrograms = (): string[] => ['bash', 'perl', 'ldd'].filter((name) => placeOf(name) === null);

const placeOf = (name: string): string | null =>
  ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((folder) => join(folder, name)).find(existsSync) ?? null;

/** Makes the root of an image out of a few programs of this machine. */
export function makeRootfs(folder: string): void {
  for (const name of [
    'bin',
    'etc',
    'tmp',
    'root',
    'home',
    'opt',
    'srv',
    'mnt',
    'var/tmp',
    'usr',
    'proc',
    'dev',
    'sys',
    'run',
    'work',
  ])
    mkdirSync(join(folder, name), { recursive: true });
  const libraries = new Set<string>();
  for (const name of PROGRAMS) {
    const place = placeOf(name);
    if (place === null) continue;
    cpSync(realpathSync(place), join(folder, 'bin', name));
    for (const [, path = ''] of linkedBy(place).matchAll(/(?:=> )?(\/\S+) \(0x/g)) libraries.add(path);
  }
  for (const path of libraries) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(realpathSync(path), join(folder, path));
  }
  cpSync(join(folder, 'bin/bash'), join(folder, 'bin/sh'));
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\n');
  writeFileSync(join(folder, 'etc/hostname'), 'small\n');
  for (const name of ['a', 'b', 'd/x', 'd/y']) {
    mkdirSync(join(folder, 'work', dirname(name)), { recursive: true });
    writeFileSync(join(folder, 'work', name), `${name}\n`);
  }
}

function linkedBy(place: string): string {
  if (readFileSync(place).subarray(0, 4).toString('latin1') !== '\x7fELF') return '';
  try {
    return execFileSync('ldd', [place], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
