import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PIPES } from './pipes.ts';
import { shellQuoted } from './world-shell.ts';

/**
 * Makes what a world is mounted from in its folder. The layers have short names in `l`: neither their length nor their colons and
 * commas reach the mount. @param lowers the newest first, the image last
 */
export function makeFolders(folder: string, lowers: readonly string[]): void {
  for (const name of ['up', 'work', 'root', 'devices', PIPES.folder])
    mkdirSync(join(folder, name), { recursive: true });
  chmodSync(join(folder, 'up'), 0o755);
  const links = join(folder, 'l');
  rmSync(links, { recursive: true, force: true });
  mkdirSync(links, { mode: 0o700 });
  for (const [i, path] of lowers.entries()) symlinkSync(path, join(links, String(i)));
}

/**
 * The lines of sh that mount a world at `root` in the current directory, writes going to `up`. The order of `lowers` is
 * that of overlayfs: the newest layer first, the image last.
 */
export function mountScript(lowers: readonly string[]): string {
  if (lowers.at(-1) === '/') return mountHost(lowers.slice(0, -1));
  const names = lowers.map((_, i) => `l/${i}`).join(':');
  return `mount -t overlay overlay -o lowerdir=${names},upperdir=up,workdir=work,userxattr root || exit 91`;
}

/**
 * This machine's root contains its own mounts, so no overlay can cover all of it: each of its folders gets one.
 * A folder that another file system is mounted below cannot be covered: it begins empty, and `bare` names it.
 */
const mountHost = (layers: readonly string[]): string => `${layers.length === 0 ? '' : copyLayers(layers)}
for d in /*; do
n=\${d#/}
if [ -h "$d" ]; then [ -h "root/$n" ] || ln -s "$(readlink "$d")" "root/$n"
elif [ -d "$d" ]; then
  mkdir -p "root/$n" "up/$n" "work/$n"; chmod --reference="$d" "up/$n"
  l=; for k in ${layers.map((_, i) => i).join(' ')}; do [ -d "part/$k/$n" ] && l="$l\${l:+:}part/$k/$n"; done
  case $n in proc|dev|sys|run) ;; *)
    mount -t overlay overlay -o "lowerdir=$l\${l:+:}$d,upperdir=up/$n,workdir=work/$n,userxattr" "root/$n" 2>/dev/null || {
      mkdir -p bare && : > "bare/$n" || exit 91
      if [ -n "$l" ]; then mount -t overlay overlay -o "lowerdir=$l,upperdir=up/$n,workdir=work/$n,userxattr" "root/$n" || exit 92
      else mount --bind "up/$n" "root/$n" || exit 92; fi
    } ;;
  esac
fi
done`;

/** Layers inside the folder that they change cannot be mounted over it: copies of them in memory can. */
const copyLayers = (layers: readonly string[]): string =>
  `mkdir -p part && mount -t tmpfs part part || exit 91
${layers.map((path, i) => `mkdir part/${i} && cp -a ${shellQuoted(`${path}/.`)} part/${i}/ || exit 91`).join('\n')}`;
