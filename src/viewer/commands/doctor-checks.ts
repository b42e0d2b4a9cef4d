import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../core/files/places.ts';
import { sizeText } from '../../core/text/quantities.ts';
import type { DoctorCheck } from '../../sandbox/server/checks.ts';
import { keymapOf } from './keymap-of.ts';

const OLDEST = [20, 19] as const;
const FEWEST_FILES = 1024;
const FEWEST_WATCHES = 8192;

/** Checks of what the screen and the readers need on this machine. */
export const HERE: readonly DoctorCheck[] = [
  {
    name: 'Node.js',
    needed: true,
    remedy: `Node ${OLDEST.join('.')} or later`,
    async prove() {
      const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
      if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
        throw new Error(`${process.version} is too old`);
      return process.version;
    },
  },
  {
    name: 'terminal',
    needed: false,
    remedy: 'start it in a terminal; TERM names what it can do (xterm-256color, tmux-256color …)',
    async prove() {
      const { stdout, stdin, env } = process;
      if (!stdout.isTTY || !stdin.isTTY) throw new Error('no terminal: the list is printed instead of the screen');
      if (env.TERM === undefined || env.TERM === 'dumb') throw new Error(`TERM is ${env.TERM ?? 'not set'}`);
      return `${env.TERM}, ${stdout.columns} × ${stdout.rows}${env.TMUX ? ', in tmux' : ''}`;
    },
  },
  {
    name: 'letters',
    needed: false,
    remedy: 'LC_ALL or LANG with UTF-8 in it, such as C.UTF-8',
    async prove() {
      const { LC_ALL, LC_CTYPE, LANG } = process.env;
      const locale = LC_ALL || LC_CTYPE || LANG || '';
      if (!/utf-?8/i.test(locale)) throw new Error(`the locale is ${locale || 'not set'}: bars and signs may be wrong`);
      return locale;
    },
  },
  {
    name: 'colours',
    needed: false,
    remedy: 'TERM=xterm-256color, or COLORTERM=truecolor; without NO_COLOR',
    async prove() {
      if (process.env.NO_COLOR) throw new Error('NO_COLOR is set: the gutter still shows the loss mask');
      const depth = process.stdout.isTTY ? process.stdout.getColorDepth() : 1;
      if (depth < 4) throw new Error('none here');
      return depth >= 24 ? 'all' : depth >= 8 ? '256' : '16';
    },
  },
  {
    name: 'clipboard',
    needed: false,
    remedy: 'tmux: `set -s set-clipboard on` in ~/.tmux.conf; screen has no way',
    async prove() {
      const { TMUX, STY } = process.env;
      if (STY) throw new Error('GNU screen passes nothing on');
      return `copied text goes to the terminal (OSC 52)${TMUX ? '; tmux passes it on if set-clipboard is on' : ''}`;
    },
  },
  {
    name: 'open files',
    needed: false,
    remedy: 'ulimit -n 65536',
    async prove() {
      const soft = limitOf('/proc/self/limits', /Max open files\s+(\d+)/);
      if (soft === null) return 'unknown here';
      if (soft < FEWEST_FILES) throw new Error(`${soft} at most`);
      return `${soft} at most`;
    },
  },
  {
    name: 'watched folders',
    needed: false,
    remedy: 'sysctl fs.inotify.max_user_watches=524288; until then folders are polled',
    async prove() {
      const most = limitOf('/proc/sys/fs/inotify/max_user_watches', /(\d+)/);
      const instances = limitOf('/proc/sys/fs/inotify/max_user_instances', /(\d+)/);
      if (most === null) return 'unknown here';
      if (most < FEWEST_WATCHES) throw new Error(`${most} at most`);
      return `${most} at most, ${instances ?? '?'} programs`;
    },
  },
  {
    name: 'cache',
    needed: false,
    remedy: `it may be removed at any time: rm -r '${cacheFolder()}'`,
    async prove() {
      const names = folderNames(cacheFolder());
      if (names.length === 0) return 'empty';
      return `${names.map((name) => `${name} ${sizeText(bytesBelow(join(cacheFolder(), name)))}`).join(', ')} in ${cacheFolder()}`;
    },
  },
  {
    name: 'settings',
    needed: false,
    remedy: 'each line names its place; `rollout-viewer help keys` and `help formats` have what can be set',
    async prove() {
      const { problems } = await keymapOf(undefined);
      if (problems.length > 0) throw new Error(problems.join('; '));
      return 'no mistake';
    },
  },
];

function limitOf(path: string, pattern: RegExp): number | null {
  try {
    const found = pattern.exec(readFileSync(path, 'utf8'))?.[1];
    return found === undefined ? null : Number(found);
  } catch {
    return null;
  }
}

function folderNames(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function bytesBelow(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  return stats.isDirectory()
    ? folderNames(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0)
    : stats.size;
}
