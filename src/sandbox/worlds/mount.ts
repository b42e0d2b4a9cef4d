import { shellQuoted } from './world-shell.ts';

/** overlayfs takes 500 lower directories; the names of all of them must fit into one page. */
const IN_ONE_MOUNT = 400;

/**
 * The lines of sh that mount a world at `root` in the current directory, writes going to `up`. The order of `lowers` is
 * that of overlayfs: the newest layer first, the image last.
 */
export function mountScript(lowers: readonly string[]): string {
  const image = lowers.at(-1) ?? '/';
  const layers = lowers.slice(0, -1);
  if (image === '/') return mountHost(layers);
  const newest = layers.slice(0, IN_ONE_MOUNT);
  const older = layers.slice(IN_ONE_MOUNT);
  const base =
    older.length === 0
      ? linked(image, 'base')
      : `${older.map((path, i) => linked(path, `o${i}`)).join('\n')}\n${linked(image, 'b')}\nmkdir -p l/base && mount -t overlay overlay -o ro,userxattr,lowerdir=${older.map((_, i) => `l/o${i}`).join(':')}:l/b l/base || exit 91`;
  return `mkdir -p l
${newest.map((path, i) => linked(path, String(i))).join('\n')}
${base}
mount -t overlay overlay -o lowerdir=${newest.map((_, i) => `l/${i}:`).join('')}l/base,upperdir=up,workdir=work,userxattr root || exit 91`;
}

/** A short name for a directory: neither its length nor its colons and commas reach the mount. */
const linked = (path: string, name: string): string => `ln -sfn ${shellQuoted(path)} l/${name}`;

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
