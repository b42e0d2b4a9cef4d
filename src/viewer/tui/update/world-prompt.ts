import type { ShellKind } from '../../../sandbox/worlds/world-shell.ts';
import type { WorldWish } from '../state/replay.ts';
import type { PromptKind } from './prompt-kind.ts';

const SHELLS: readonly string[] = ['persistent', 'cwd', 'stateless'] satisfies readonly ShellKind[];
const isShell = (text: string): text is ShellKind => SHELLS.includes(text);

/** Settings behind the image, in the words of the command line. */
const SETTINGS = ['workdir=', 'shell=', 'time-limit=', 'env=', 'network'];
const WORD = /(?:[^\s"]|"[^"]*"?)+/g;

interface Typed {
  wish: WorldWish | null;
  problem: { message: string; at: number } | null;
}

/** Reads `IMAGE workdir=/app shell=stateless`. */
function parseWorld(line: string): Typed {
  const [first, ...settings] = [...line.matchAll(WORD)].map(({ 0: word, index }) => ({
    word: word.replaceAll('"', ''),
    at: index,
  }));
  if (first === undefined) return { wish: null, problem: null };
  let wish: WorldWish = { image: first.word, network: false };
  const wrong = (message: string, at: number): Typed => ({ wish: null, problem: { message, at } });
  for (const { word, at } of settings) {
    const [, name = word, value = ''] = /^([\w-]+)=(.*)$/.exec(word) ?? [];
    if (name === 'network' && value === '') wish = { ...wish, network: true };
    else if (name === 'workdir' && value.startsWith('/')) wish = { ...wish, workdir: value };
    else if (name === 'shell' && isShell(value)) wish = { ...wish, shell: value };
    else if (name === 'time-limit' && Number(value) > 0) wish = { ...wish, timeLimit: Number(value) };
    else if (name === 'env' && /^[A-Za-z_]\w*=/.test(value)) {
      const [variable = ''] = value.split('=', 1);
      wish = { ...wish, env: { ...wish.env, [variable]: value.slice(variable.length + 1) } };
    } else if (name === 'shell') return wrong(`shell= is one of ${SHELLS.join(', ')}`, at);
    else if (name === 'workdir') return wrong('workdir= is an absolute path', at);
    else if (name === 'time-limit') return wrong('time-limit= is a number of seconds', at);
    else if (name === 'env') return wrong('env= is NAME=VALUE', at);
    else return wrong(`${name} is not a setting`, at);
  }
  return { wish, problem: null };
}

/** The image for calls of an agent's shell and editor. */
export const worldPrompt: PromptKind = {
  sign: 'image ',
  hint: () => 'rootfs:DIR, a name, a task folder, oci:FILE, host; then workdir=DIR shell=cwd …; empty: as recorded',
  check: (value) => parseWorld(value).problem,
  submit: (value) => ({ type: 'world', wish: parseWorld(value).wish }),
  // A variable may hold a key, and the history is a file.
  remembered: (value) =>
    (value.match(WORD) ?? []).filter((word) => !word.replaceAll('"', '').startsWith('env=')).join(' '),
  complete: (value) => {
    const line = /^(.*\s)(\S*)$/s.exec(value);
    return line === null
      ? ['rootfs:', 'oci:', 'host'].filter((word) => word.startsWith(value))
      : SETTINGS.filter((word) => word.startsWith(line[2] ?? '')).map((word) => `${line[1]}${word}`);
  },
};
