import { posix } from 'node:path';
import { readShell, type ShellWord, type SimpleCommand } from '../actions/shell-words.ts';

/**
 * The effects of a command on files, as far as its text shows. Paths are as in the command; relative ones begin in `dir`.
 */
export type FileEffect =
  | { kind: 'write'; path: string; text: string; appends: boolean }
  | { kind: 'copy' | 'move'; from: string; to: string }
  | { kind: 'delete'; path: string; recursive: boolean }
  /** The output is this file, or its lines `from` to `to`. */
  | { kind: 'show'; path: string; from: number; to: number | null; isNumbered: boolean }
  | { kind: 'unified-patch'; dir: string; strip: number; text: string }
  | { kind: 'codex-patch'; text: string }
  /** The file changes in a way that the text does not show. */
  | { kind: 'touch'; path: string }
  /** Files that the text names, by part of their names or by a pattern, may change. */
  | { kind: 'named'; text: string }
  /** Any file below a directory may change. */
  | { kind: 'below'; dir: string | null; why: string }
  /** A program ran whose effects the record does not show. */
  | { kind: 'runs'; what: string };

export interface ShellEffects {
  effects: FileEffect[];
  /** All effects are known if the command succeeds. */
  isUnderstood: boolean;
  /** A single command apart from `cd`; if it fails it does nothing. */
  isAlone: boolean;
}

const READS = new Set(
  `cat head tail less more grep egrep fgrep rg ag ls ll dir find wc sort uniq cut awk gawk sed diff cmp stat file echo printf pwd which type
  env printenv date nl xxd od hexdump md5sum sha1sum sha256sum tree du df ps true false test [ : sleep whoami id uname hostname basename dirname
  realpath readlink column tr jq comm paste seq expr strings cd export set unset alias source history exit wait kill pgrep free uptime command`
    .trim()
    .split(/\s+/),
);
const GIT_READS = new Set(
  'status log diff show blame branch ls-files rev-parse grep remote config tag describe shortlog reflog fetch add commit'.split(
    ' ',
  ),
);
const FORMATTERS =
  /^(?:black|isort|autopep8|yapf|prettier|gofmt|goimports|rustfmt|clang-format|eslint|ruff|2to3|pyupgrade|autoflake|dos2unix|unix2dos)$/;
const WRITES_IN_CODE =
  /\bwrite|\bopen\([^)]*['"][wax+rb]*[wax+]|\.(?:rename|replace|unlink|remove|rmtree|truncate|touch|save|dump|to_csv)\b|shutil|os\.(?:remove|rename|unlink|system)|subprocess|writeFile|>>?/;

/** The effects of a command line. @param dir its starting directory; null = unknown */
export function shellEffects(command: string, dir: string | null): ShellEffects & { dir: string | null } {
  const codex =
    /(?:^|\n|&&\s*|;\s*)(?:apply_patch|applypatch)\s+(?:<<-?\s*(['"]?)(\w+)\1\n([\s\S]*?)\n\2|'([\s\S]*?)'\s*$|"([\s\S]*?)"\s*$)/.exec(
      command,
    );
  const patch = codex?.[3] ?? codex?.[4] ?? codex?.[5];
  if (patch !== undefined) {
    const cd = /^\s*cd\s+(\S+)\s*(?:&&|;)/.exec(command)?.[1];
    return {
      effects: [{ kind: 'codex-patch', text: patch }],
      isUnderstood: true,
      isAlone: true,
      dir: inDir(dir, cd ?? '.'),
    };
  }
  const commands = readShell(command);
  if (commands === null) return { ...opaque(command), dir };
  const effects: FileEffect[] = [];
  let here = dir;
  let acts = 0;
  let isUnderstood = true;
  let shows = 0;
  for (const group of pipelines(commands)) {
    const [first] = group;
    if (first === undefined) continue;
    const cd = group.length === 1 ? changedDir(first, here) : undefined;
    if (cd !== undefined) {
      here = cd;
      continue;
    }
    acts++;
    const found = pipelineEffects(group, command);
    const placed = found.map((effect) => placedIn(effect, here));
    if (placed.some(({ kind }) => kind === 'show')) shows++;
    if (placed.some(({ kind }) => ['touch', 'named', 'below', 'runs'].includes(kind))) isUnderstood = false;
    effects.push(...placed);
  }
  // With several commands, the output of one cannot be separated from that of the others.
  const kept = shows > 0 && acts > 1 ? effects.filter(({ kind }) => kind !== 'show') : effects;
  return { effects: kept, isUnderstood, isAlone: acts <= 1, dir: here };
}

/** The path of a command that runs in `dir`; null = it stays relative. */
export const inDir = (dir: string | null, path: string): string =>
  posix.isAbsolute(path) || dir === null ? posix.normalize(path) : posix.join(dir, path);

function placedIn(effect: FileEffect, dir: string | null): FileEffect {
  switch (effect.kind) {
    case 'write':
    case 'delete':
    case 'show':
    case 'touch':
      return { ...effect, path: inDir(dir, effect.path) };
    case 'copy':
    case 'move':
      return {
        ...effect,
        from: inDir(dir, effect.from),
        to: inDir(dir, effect.to) + (effect.to.endsWith('/') && !effect.to.endsWith('//') ? '' : ''),
      };
    case 'unified-patch':
      return { ...effect, dir: inDir(dir, effect.dir) };
    case 'below':
      return { ...effect, dir: effect.dir === null ? dir : inDir(dir, effect.dir) };
    default:
      return effect;
  }
}

function* pipelines(commands: readonly SimpleCommand[]): Generator<SimpleCommand[]> {
  let group: SimpleCommand[] = [];
  for (const one of commands) {
    group.push(one);
    if (one.next === '|') continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** The directory after `cd`; undefined if this is another command. */
function changedDir({ words, redirects }: SimpleCommand, dir: string | null): string | null | undefined {
  const [name, to] = words;
  if (name?.text !== 'cd' || redirects.length > 0) return undefined;
  if (to === undefined || !to.isPlain || to.text === '-') return null;
  return posix.isAbsolute(to.text) || dir !== null ? inDir(dir, to.text) : null;
}

function opaque(command: string): ShellEffects {
  const effects: FileEffect[] = [];
  // Writes in loops and conditions still name their files.
  for (const [, target = ''] of command.matchAll(/(?<![<\d&])>{1,2}\s*([\w./@+-]+)/g))
    if (!target.startsWith('/dev/')) effects.push({ kind: 'touch', path: target });
  if (/\bgit\s+(?:checkout|stash|reset|clean|apply|restore|switch|merge|rebase|pull|revert)\b/.test(command))
    effects.push({ kind: 'below', dir: null, why: 'git changes the work tree' });
  effects.push({ kind: 'named', text: command });
  return { effects, isUnderstood: false, isAlone: false };
}

function pipelineEffects(group: readonly SimpleCommand[], command: string): FileEffect[] {
  const [only] = group;
  const seen = shownBy(group);
  if (seen !== null) return [seen];
  if (group.length === 1 && only !== undefined) return commandEffects(only, command);
  return group.flatMap((one, i) => {
    const effects = commandEffects(one, command);
    // The text from a pipe is not known.
    return i === 0
      ? effects
      : effects.map((effect): FileEffect => (effect.kind === 'write' ? { kind: 'touch', path: effect.path } : effect));
  });
}

/** `cat F`, `sed -n 'A,Bp' F`, `head -n N F`, `nl -ba F | sed -n 'A,Bp'`; null for anything else. */
function shownBy(group: readonly SimpleCommand[]): FileEffect | null {
  if (
    group.some(({ redirects }) =>
      redirects.some(({ op, fd, target }) => !(fd === 2 && op === '>&') && target.text !== '/dev/null'),
    )
  )
    return null;
  const [first, second] = group.map(({ words }) => words);
  if (first === undefined || first.some(({ isPlain }) => !isPlain)) return null;
  const [name, ...rest] = first.map(({ text }) => text);
  const range = second === undefined ? { from: 1, to: null } : group.length === 2 ? lineRange(second) : null;
  if (range === null) return null;
  const show = (path: string | undefined, isNumbered: boolean, part = range): FileEffect | null =>
    path === undefined || path.startsWith('-') ? null : { kind: 'show', path, ...part, isNumbered };
  if (name === 'cat' && rest.length === 1) return show(rest[0], false);
  if (name === 'cat' && rest.length === 2 && rest[0] === '-n') return show(rest[1], true);
  if (name === 'nl' && rest.length === 2 && rest[0] === '-ba') return show(rest[1], true);
  const part = second === undefined ? lineRange(first.slice(0, -1)) : null;
  return part === null ? null : show(rest.at(-1), false, part);
}

function lineRange(words: readonly ShellWord[]): { from: number; to: number | null } | null {
  const [name, ...rest] = words.map(({ text }) => text);
  if (name === 'sed' && rest[0] === '-n' && rest.length === 2) {
    const match = /^(\d+)(?:,(\d+|\$))?p$/.exec(rest[1] ?? '');
    if (match === null) return null;
    const from = Number(match[1]);
    return { from, to: match[2] === undefined ? from : match[2] === '$' ? null : Number(match[2]) };
  }
  if (name !== 'head') return null;
  const count = /^-(?:n\s*)?(\d+)$/.exec(rest.join(' '))?.[1] ?? (rest.length === 0 ? '10' : undefined);
  return count === undefined ? null : { from: 1, to: Number(count) };
}

function commandEffects({ words, redirects }: SimpleCommand, command: string): FileEffect[] {
  const heredoc = redirects.find(({ body }) => body !== undefined);
  const outs = redirects.filter(
    ({ op, fd, target }) => ['>', '>>', '>|', '&>', '&>>'].includes(op) && fd !== 2 && !target.text.startsWith('/dev/'),
  );
  const errors = redirects.filter(
    ({ op, fd, target }) => fd === 2 && op.startsWith('>') && op !== '>&' && !target.text.startsWith('/dev/'),
  );
  const effects: FileEffect[] = errors.map(({ target }) => ({ kind: 'touch', path: target.text }));
  const [head, ...rest] = skipAssignments(words);
  const name = head?.text.replace(/^.*\//, '') ?? '';
  const args = rest.map(({ text }) => text);
  const isPlain = rest.every((word) => word.isPlain);
  const touches = (): FileEffect[] =>
    outs.map(
      ({ target }): FileEffect =>
        target.isPlain ? { kind: 'touch', path: target.text } : { kind: 'named', text: target.text },
    );

  if ((name === 'cat' && args.length === 0) || (name === 'tee' && outs.length === 0 && isPlain)) {
    const paths = name === 'cat' ? outs.map(({ target, op }) => ({ target, appends: op === '>>' })) : teeTargets(rest);
    if (heredoc?.body?.isPlain === true && paths.length > 0 && paths.every(({ target }) => target.isPlain))
      return [
        ...effects,
        ...paths.map(
          ({ target, appends }): FileEffect => ({
            kind: 'write',
            path: target.text,
            text: heredoc.body?.text ?? '',
            appends,
          }),
        ),
      ];
    return [...effects, ...paths.map(({ target }): FileEffect => ({ kind: 'touch', path: target.text }))];
  }
  if ((name === 'printf' || name === 'echo') && outs.length === 1 && isPlain) {
    const [out] = outs;
    const text = printedBy(name, args);
    if (out?.target.isPlain === true && text !== null)
      return [...effects, { kind: 'write', path: out.target.text, text, appends: out.op === '>>' }];
  }
  if (name === '' || (name === ':' && args.length === 0)) {
    // `> FILE` empties it.
    return [
      ...effects,
      ...outs.map(
        ({ target, op }): FileEffect =>
          target.isPlain
            ? { kind: 'write', path: target.text, text: '', appends: op === '>>' }
            : { kind: 'named', text: target.text },
      ),
    ];
  }
  effects.push(...touches());
  const plainArgs = args.filter((arg) => !arg.startsWith('-'));
  if (
    (name === 'mv' || name === 'cp') &&
    isPlain &&
    args.every((arg) => !arg.startsWith('-') || /^-[fnvap]+$/.test(arg)) &&
    plainArgs.length === 2
  ) {
    const [from, to] = plainArgs as [string, string];
    return [
      ...effects,
      { kind: name === 'mv' ? 'move' : 'copy', from, to: to.endsWith('/') ? to + posix.basename(from) : to },
    ];
  }
  if (name === 'rm' && isPlain)
    return [
      ...effects,
      ...plainArgs.map(
        (path): FileEffect => ({
          kind: 'delete',
          path,
          recursive: args.some((arg) => /^-\w*[rR]|^--recursive/.test(arg)),
        }),
      ),
    ];
  if (name === 'rm' || name === 'mv' || name === 'cp') return [...effects, { kind: 'named', text: command }];
  if (name === 'mkdir' || name === 'rmdir' || name === 'chmod' || name === 'chown') return effects;
  if (name === 'touch') return effects;
  const patch = unifiedPatch(name, args, heredoc?.body?.isPlain === true ? heredoc.body.text : null);
  if (patch !== null) return [...effects, patch];
  if (name === 'sed' && args.some((arg) => /^-\w*i|^--in-place/.test(arg))) return [...effects, ...inPlace(rest)];
  if ((name === 'perl' || name === 'ruby') && args.some((arg) => /^-\w*i/.test(arg)))
    return [...effects, ...inPlace(rest)];
  if (name === 'find' && args.some((arg) => /^-(?:delete|exec|execdir|fprint)/.test(arg)))
    return [
      ...effects,
      { kind: 'below', dir: isPlain ? (plainArgs[0] ?? null) : null, why: 'find runs a command on files' },
    ];
  if (name === 'sort' && args.some((arg) => /^-o/.test(arg)))
    return [...effects, { kind: 'named', text: args.join(' ') }];
  if (name === 'git') {
    const verb = args.find((arg, i) => !arg.startsWith('-') && args[i - 1] !== '-C' && args[i - 1] !== '-c') ?? '';
    if (GIT_READS.has(verb)) return effects;
    const marked = args.indexOf('--');
    if (marked !== -1 || verb === 'rm' || verb === 'mv')
      return [...effects, { kind: 'named', text: args.slice(marked + 1).join(' ') }];
    return [...effects, { kind: 'below', dir: null, why: `git ${verb} changes the work tree` }];
  }
  if (FORMATTERS.test(name)) return [...effects, { kind: 'below', dir: null, why: `${name} rewrites files` }];
  if (READS.has(name)) return effects;
  const inline = args.some((arg) => arg === '-c' || arg === '-e') || heredoc !== undefined;
  if (/^(?:python[\d.]*|node|perl|ruby|php|bash|sh|zsh)$/.test(name) && inline) {
    const code = `${args.join('\n')}\n${heredoc?.body?.text ?? ''}`;
    return [...effects, ...codeEffects(code, name)];
  }
  return [...effects, { kind: 'runs', what: [name, ...args].join(' ').slice(0, 80) }];
}

/** Code passed as part of the command. */
function codeEffects(code: string, name: string): FileEffect[] {
  if (!WRITES_IN_CODE.test(code)) return [{ kind: 'runs', what: `${name}, a program in the command` }];
  const effects: FileEffect[] = [{ kind: 'named', text: code }];
  for (const [, path = ''] of code.matchAll(/open\(\s*['"]([^'"\n]+)['"]\s*,\s*(?:mode=)?['"][rbt]*[wax]/g))
    effects.push({ kind: 'touch', path });
  if (/\b(?:os\.walk|glob|rglob|listdir|iterdir|scandir|readdir)\b/.test(code))
    effects.push({ kind: 'below', dir: null, why: 'a program writes files that it looks for' });
  return effects;
}

const skipAssignments = (words: readonly ShellWord[]): ShellWord[] => {
  const from = words.findIndex(({ text }) => !/^[A-Za-z_]\w*=/.test(text));
  const rest = from === -1 ? [] : words.slice(from);
  // `sudo`, `time`, `timeout 5` run another command.
  if (rest[0]?.text === 'sudo' || rest[0]?.text === 'nohup') return rest.slice(1);
  if (rest[0]?.text === 'timeout') return rest.slice(2);
  return rest;
};

function teeTargets(words: readonly ShellWord[]): { target: ShellWord; appends: boolean }[] {
  const appends = words.some(({ text }) => text === '-a' || text === '--append');
  return words.filter(({ text }) => !text.startsWith('-')).map((target) => ({ target, appends }));
}

/** The output of a plain echo or printf; null if it is not simply its arguments. */
function printedBy(name: string, args: readonly string[]): string | null {
  if (name === 'echo') {
    const isBare = args[0] === '-n';
    const words = isBare ? args.slice(1) : args;
    if (words[0]?.startsWith('-') === true) return null;
    return `${words.join(' ')}${isBare ? '' : '\n'}`;
  }
  const [format = '', ...values] = args;
  if (format === '%s' && values.length === 1) return values[0] ?? '';
  if (format === '%s\\n' && values.length > 0) return values.map((one) => `${one}\n`).join('');
  return values.length === 0 && !/[%\\]/.test(format.replaceAll('\\n', '')) ? format.replaceAll('\\n', '\n') : null;
}

/** Files that a stream editor rewrites: all words that are neither a flag nor the script. */
function inPlace(words: readonly ShellWord[]): FileEffect[] {
  const hasScript = words.some(({ text }) => /^-\w*e$|^--expression/.test(text));
  const plain = words.filter(({ text }, i) => !text.startsWith('-') && !/^-\w*e$/.test(words[i - 1]?.text ?? ''));
  const files = hasScript ? plain : plain.slice(1);
  return files.map(
    (file): FileEffect => (file.isPlain ? { kind: 'touch', path: file.text } : { kind: 'named', text: file.text }),
  );
}

function unifiedPatch(name: string, args: readonly string[], text: string | null): FileEffect | null {
  if (text === null) return null;
  if (name === 'git' && args[0] === 'apply') {
    if (args.some((arg) => /^(?:-R|--reverse|--check|--stat|--cached|--directory)/.test(arg))) return null;
    return { kind: 'unified-patch', dir: '.', strip: 1, text };
  }
  if (name !== 'patch' || args.some((arg) => /^(?:-R|--reverse|--dry-run|-o)/.test(arg))) return null;
  const strip = args.map((arg) => /^(?:-p|--strip=)(\d+)$/.exec(arg)?.[1]).find((one) => one !== undefined);
  const dirAt = args.indexOf('-d');
  const dir =
    dirAt === -1
      ? (args.map((arg) => /^--directory=(.+)$/.exec(arg)?.[1]).find((one) => one !== undefined) ?? '.')
      : args[dirAt + 1];
  return { kind: 'unified-patch', dir: dir ?? '.', strip: Number(strip ?? 0), text };
}
