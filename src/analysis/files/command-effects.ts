import type { ShellWord, SimpleCommand } from '../actions/shell-words.ts';
import { codeEffects, loopEffects } from './code-effects.ts';
import { anyFile, type FileEffect, touchOf } from './file-effect.ts';
import { gitEffects } from './git-effects.ts';
import { INTERPRETERS, programEffects, programName, SHELLS, unwrapped } from './program-effects.ts';
import { shownBy } from './shown-files.ts';

/** Programs that change no file of a project, whatever their words. */
const READS = new Set(
  `cat head tail less more grep egrep fgrep rg ag ls ll dir find wc sort uniq cut awk gawk mawk sed diff cmp stat file echo printf pwd which type
  printenv date nl xxd od hexdump md5sum sha1sum sha256sum tree du df ps true false test [ : sleep whoami id uname hostname basename dirname
  realpath readlink column tr jq comm paste seq expr strings export set unset alias unalias history exit return wait kill pgrep free uptime
  mkdir rmdir chmod chown touch shopt ulimit umask jobs read local declare hash trap disown tac rev fold fmt yes nproc lscpu groups env time
  [[ (( let getopts shift break continue builtin typeset mapfile readarray complete bind enable help times fg bg logout tput clear reset stty
  join pr iconv base64 base32 cksum sum b2sum sha224sum sha384sum sha512sum factor numfmt bc dc cal nm objdump readelf ldd strings size zcat zgrep
  bzcat xzcat zless fd fdfind bat batcat eza exa look tsort shuf pstree top htop who w last lsof ss netstat ping dmesg lsblk arch locale getent
  lsb_release nslookup dig host vmstat iostat pidof pwdx nohup pkill killall sync cloc tokei jobs`
    .trim()
    .split(/\s+/),
);
/** Programs that say so if they fail. */
const LOUD = new Set(
  'cat echo printf patch mv cp rm mkdir cd tee touch ln chmod ls pushd popd : export set true'.split(' '),
);
const UNPACKERS =
  /^(?:tar|bsdtar|unzip|rsync|cpio|7z|patch|rename|mmv|pre-commit|gunzip|gzip|xz|bunzip2|zstd|ed|ex|vim?|nvim|nano)$/;
const FORMATTERS =
  /^(?:black|isort|autopep8|yapf|prettier|gofmt|goimports|rustfmt|clang-format|eslint|ruff|2to3|pyupgrade|autoflake|dos2unix|unix2dos)$/;
const FORMATS = /^(?:fmt|format|lint:fix|--fix|--write|--in-place|fix)$/;
const PACKAGERS = /^(?:npm|yarn|pnpm|cargo|go|poetry|uv|bundle|composer)$/;
const PACKAGE_FILES =
  'package.json package-lock.json yarn.lock pnpm-lock.yaml Cargo.toml Cargo.lock go.mod go.sum pyproject.toml poetry.lock uv.lock Gemfile.lock composer.json composer.lock';
const REMOVES = /^-\w*[rR]|^--recursive/;

/** Whether a failure of this command is certain to print an error. */
export const isLoud = ({ words }: SimpleCommand): boolean => words.length === 0 || LOUD.has(programName(words[0]));

/** After it, later commands of the text may not run. */
export const isStop = ({ words }: SimpleCommand): boolean =>
  /^(?:exit|return|exec|kill|trap)$/.test(programName(words[0])) ||
  (words[0]?.text === 'set' && words.some(({ text }) => /^-\w*e|errexit/.test(text)));

/** The effects of a pipeline. @param command the whole text */
export function pipelineEffects(group: readonly SimpleCommand[], command: string): FileEffect[] {
  const [only] = group;
  const seen = shownBy(group);
  if (seen !== null) return [seen];
  if (group.length === 1 && only !== undefined) return commandEffects(only, command);
  return group.flatMap((one, i) => {
    const effects = commandEffects(one, command);
    if (i === 0) return effects.filter(({ kind }) => kind !== 'cd');
    const [head, ...rest] = unwrapped(one.words);
    const name = programName(head);
    if (SHELLS.test(name) && rest.every(({ text }) => text.startsWith('-'))) return loopEffects(command);
    if (INTERPRETERS.test(name) && rest.every(({ text }) => text.startsWith('-')))
      return codeEffects(command, '', `${name}, a program from a pipe`);
    // The text from a pipe is not known.
    return effects
      .filter(({ kind }) => kind !== 'cd')
      .map((effect): FileEffect => (effect.kind === 'write' ? touchOf(effect.path) : effect));
  });
}

/** A file that changes, by a word of the command. */
function changedBy({ text, isPlain }: ShellWord): FileEffect {
  if (isPlain) return touchOf(text);
  // The shell makes the last part of the name.
  if (/[$`]/.test(text.slice(text.lastIndexOf('/') + 1)))
    return anyFile('the shell makes the name of a file that changes');
  return { kind: 'named', text };
}

function commandEffects({ words, redirects }: SimpleCommand, command: string): FileEffect[] {
  const inputs = redirects.filter(({ op }) => op.startsWith('<') && op !== '<>' && op !== '<&');
  const body = inputs.at(-1)?.body;
  const outs = redirects.filter(
    ({ op, fd, target }) =>
      ['>', '>>', '>|', '&>', '&>>', '<>'].includes(op) && fd !== 2 && !target.text.startsWith('/dev/'),
  );
  const errors = redirects.filter(
    ({ op, fd, target }) => fd === 2 && op.startsWith('>') && op !== '>&' && !target.text.startsWith('/dev/'),
  );
  const effects: FileEffect[] = errors.map(({ target }) => changedBy(target));
  const [head, ...rest] = unwrapped(words);
  const name = programName(head);
  const args = rest.map(({ text }) => text);
  const isPlain = rest.every((word) => word.isPlain);
  const isSimple = redirects.every(({ op, fd }) => (op !== '>&' && op !== '<>') || fd === 2);
  /** The text goes into the last file; those before it are emptied. */
  const written = (text: string): FileEffect[] =>
    outs.map(({ target, op }, i) =>
      target.isPlain && isSimple
        ? { kind: 'write', path: target.text, text: i === outs.length - 1 ? text : '', appends: op.endsWith('>>') }
        : changedBy(target),
    );

  if (name === 'cat' && args.length === 0 && outs.length > 0) {
    if (body?.isPlain === true) return [...effects, ...written(body.text)];
    return [...effects, ...outs.map(({ target }) => changedBy(target))];
  }
  if (name === 'tee') {
    const appends = args.some((arg) => arg === '-a' || arg === '--append');
    const targets = rest.filter(({ text }) => !text.startsWith('-'));
    const isKnown = body?.isPlain === true && outs.length === 0;
    return [
      ...effects,
      ...outs.map(({ target }) => changedBy(target)),
      ...targets.map(
        (target): FileEffect =>
          isKnown && target.isPlain
            ? { kind: 'write', path: target.text, text: body.text, appends }
            : changedBy(target),
      ),
    ];
  }
  if ((name === 'printf' || name === 'echo') && outs.length > 0 && isPlain) {
    const text = printedBy(name, args);
    if (text !== null) return [...effects, ...written(text)];
  }
  // `> FILE` empties it.
  if (name === '' || (name === ':' && args.length === 0)) return [...effects, ...written('')];
  effects.push(...outs.map(({ target }) => changedBy(target)));
  const plainArgs = args.filter((arg) => !arg.startsWith('-'));
  const last = rest.at(-1);
  if (name === 'cd' || name === 'pushd' || name === 'popd') {
    const [to] = rest;
    const isKnown = name !== 'popd' && to?.isPlain === true && rest.length === 1 && !/^[-+]/.test(to.text);
    return [...effects, { kind: 'cd', to: isKnown ? to.text : null }];
  }
  if (name === 'mv' || name === 'cp') {
    const [from, to] = plainArgs;
    if (isPlain && plainArgs.length === 2 && from !== undefined && to !== undefined)
      if (args.every((arg) => !arg.startsWith('-') || /^-[fvpT]+$/.test(arg)))
        return [...effects, { kind: name === 'mv' ? 'move' : 'copy', from, to }];
    const below: FileEffect =
      last?.isPlain === true
        ? { kind: 'below', dir: last.text, why: `${name} writes there` }
        : anyFile(`${name} writes to a place that the text does not name`);
    return [...effects, { kind: 'named', text: command }, below];
  }
  if (name === 'rm' || name === 'unlink') {
    if (!isPlain) return [...effects, ...rest.map(changedBy), { kind: 'named', text: command }];
    const recursive = args.some((arg) => REMOVES.test(arg));
    return [...effects, ...plainArgs.map((path): FileEffect => ({ kind: 'delete', path, recursive }))];
  }
  if (name === 'ln') {
    const [from, to = '.'] = plainArgs;
    if (!isPlain || from === undefined || plainArgs.length > 2) return [...effects, anyFile('ln makes links')];
    return [...effects, { kind: 'link', from, to }];
  }
  const patch = unifiedPatch(name, args, body?.isPlain === true ? body.text : null);
  if (patch !== null) return [...effects, patch];
  if (name === 'sed' && args.some((arg) => /^-\w*i|^--in-place/.test(arg))) return [...effects, ...inPlace(rest)];
  if ((name === 'perl' || name === 'ruby') && args.some((arg) => /^-\w*i/.test(arg)))
    return [...effects, ...inPlace(rest)];
  if (name === 'find' && args.some((arg) => /^-(?:delete|exec|execdir|ok|okdir|fprint|fls)/.test(arg)))
    return [
      ...effects,
      {
        kind: 'below',
        dir: isPlain && !args[0]?.startsWith('-') ? (args[0] ?? null) : null,
        why: 'find runs a command on files',
      },
    ];
  if (writesByOption(name, args)) {
    if (/[$`]/.test(args.join(' '))) effects.push(anyFile(`${name} writes to a place that the text does not name`));
    return [...effects, { kind: 'named', text: args.join(' ') }];
  }
  if (name === 'git') return [...effects, ...gitEffects(args)];
  if (name === 'xargs') {
    const inner = rest.find(({ text }, i) =>
      i > 0 ? !text.startsWith('-') && !/^-[adILnPsE]$/.test(args[i - 1] ?? '') : !text.startsWith('-'),
    );
    const verb = programName(inner);
    const isRead = READS.has(verb) || (verb === 'sed' && !/\s-\w*i/.test(command));
    return isRead && !/\s-\w*i\b/.test(args.join(' '))
      ? effects
      : [...effects, anyFile('xargs runs a command on files')];
  }
  if (FORMATTERS.test(name) || args.some((arg) => FORMATTERS.test(arg) || FORMATS.test(arg)))
    return [...effects, anyFile(`${name} rewrites files`)];
  // Commands that a shell runs later count from now on.
  if (name === 'trap' || name === 'alias') return [...effects, ...loopEffects(args.join(' '))];
  if (READS.has(name)) return effects;
  if (UNPACKERS.test(name)) {
    const isListing = name === 'tar' && /^-?[a-z]*t/.test(args[0] ?? '');
    const isPacking = name === 'tar' && /^-?[a-z]*c/.test(args[0] ?? '');
    if (isListing) return effects;
    return [...effects, isPacking ? { kind: 'named', text: args.join(' ') } : anyFile(`${name} writes files`)];
  }
  if (PACKAGERS.test(name)) effects.push({ kind: 'named', text: PACKAGE_FILES });
  return [...effects, ...programEffects(name, head, rest, body?.text ?? null)];
}

/** Programs that read, but for an option or a second file. */
function writesByOption(name: string, args: readonly string[]): boolean {
  switch (name) {
    case 'sort':
      return args.some((arg) => /^-\w*o|^--output/.test(arg));
    case 'uniq':
      return args.filter((arg) => !arg.startsWith('-')).length > 1;
    case 'xxd':
      return args.some((arg) => /^-r/.test(arg)) || args.filter((arg) => !/^-/.test(arg)).length > 1;
    case 'tree':
      return args.includes('-o');
    case 'sed':
      return args.some((arg) => /(?:^|[\s;{}/|\dgIp])w\s*\S/.test(arg) && /w\s+\S/.test(arg));
    case 'awk':
    case 'gawk':
    case 'mawk':
      return args.some((arg) => /^inplace$|\bprintf?\b[^}]*>|\bsystem\(/.test(arg));
    case 'less':
    case 'tail':
    case 'history':
      return name === 'history' && args.some((arg) => /^-[wa]/.test(arg));
    case 'dd':
      return true;
    default:
      return false;
  }
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
    (file): FileEffect => (file.isPlain ? { kind: 'touch', path: file.text, needsFile: true } : changedBy(file)),
  );
}

/** A patch that the command has in its text; null if it has none, or goes another way with it. */
function unifiedPatch(name: string, args: readonly string[], text: string | null): FileEffect | null {
  if (text === null) return null;
  if (name === 'git' && args[0] === 'apply') {
    if (
      args.some((arg) =>
        /^(?:-R|--reverse|--check|--stat|--cached|--directory|--reject|--3way|-3|-p|--unidiff-zero)/.test(arg),
      )
    )
      return null;
    return { kind: 'unified-patch', dir: '.', strip: 1, text };
  }
  if (
    name !== 'patch' ||
    args.some((arg) =>
      /^(?:-R|--reverse|--dry-run|-o|--output|-i|--input|-N|--forward|-b|--backup|-F|--fuzz)/.test(arg),
    )
  )
    return null;
  const strip = args.map((arg) => /^(?:-p|--strip=)(\d+)$/.exec(arg)?.[1]).find((one) => one !== undefined);
  const dirAt = args.indexOf('-d');
  const files = args.filter((arg, i) => !arg.startsWith('-') && i !== dirAt + 1);
  if (files.length > 0) return null;
  const dir =
    dirAt === -1
      ? (args.map((arg) => /^--directory=(.+)$/.exec(arg)?.[1]).find((one) => one !== undefined) ?? '.')
      : args[dirAt + 1];
  return { kind: 'unified-patch', dir: dir ?? '.', strip: Number(strip ?? 0), text };
}
