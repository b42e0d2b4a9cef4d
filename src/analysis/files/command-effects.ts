import type { ShellWord, SimpleCommand } from '../actions/shell-words.ts';
import { codeEffects, loopEffects } from './code-effects.ts';
import { anyFile, type FileEffect, touchOf } from './file-effect.ts';

/** Programs that change no file of a project, whatever their words. */
const READS = new Set(
  `cat head tail less more grep egrep fgrep rg ag ls ll dir find wc sort uniq cut awk gawk mawk sed diff cmp stat file echo printf pwd which type
  printenv date nl xxd od hexdump md5sum sha1sum sha256sum tree du df ps true false test [ : sleep whoami id uname hostname basename dirname
  realpath readlink column tr jq comm paste seq expr strings export set unset alias unalias history exit return wait kill pgrep free uptime
  mkdir rmdir chmod chown touch shopt ulimit umask jobs read local declare hash trap disown tac rev fold fmt yes nproc lscpu groups env time`
    .trim()
    .split(/\s+/),
);
/** Programs that say so if they fail. */
const LOUD = new Set(
  'cat echo printf patch mv cp rm mkdir cd tee touch ln chmod ls pushd popd : export set true'.split(' '),
);
/** Programs that read the files that they are given. */
const RUNNERS =
  /^(?:pytest|py\.test|tox|nox|unittest|node|deno|gcc|g\+\+|clang|clang\+\+|cc|c\+\+|rustc|javac|java|go|cargo|make|ninja|cmake|mypy|pyright|flake8|pylint|pyflakes|bandit|shellcheck|jest|vitest|mocha|tsc|npm|yarn|pnpm|npx|pip[\d.]*|uv|poetry|curl|wget|docker|podman|apt|apt-get|dpkg|xmllint|coverage|gdb|valgrind|strace|Rscript|php|ruby|perl|lua|julia|open)$/;
const INTERPRETERS = /^(?:python[\d.]*|pypy\d?|node|deno|perl|ruby|php|lua|bash|sh|zsh|dash|ksh)$/;
const SHELLS = /^(?:bash|sh|zsh|dash|ksh)$/;
const UNPACKERS =
  /^(?:tar|bsdtar|unzip|rsync|cpio|7z|patch|rename|mmv|pre-commit|gunzip|gzip|xz|bunzip2|zstd|ed|ex|vim?|nvim|nano)$/;
const FORMATTERS =
  /^(?:black|isort|autopep8|yapf|prettier|gofmt|goimports|rustfmt|clang-format|eslint|ruff|2to3|pyupgrade|autoflake|dos2unix|unix2dos)$/;
const FORMATS = /^(?:fmt|format|lint:fix|--fix|--write|--in-place|fix)$/;
const PACKAGERS = /^(?:npm|yarn|pnpm|cargo|go|poetry|uv|bundle|composer)$/;
const PACKAGE_FILES =
  'package.json package-lock.json yarn.lock pnpm-lock.yaml Cargo.toml Cargo.lock go.mod go.sum pyproject.toml poetry.lock uv.lock Gemfile.lock composer.json composer.lock';
const GIT_READS = new Set(
  `status log diff show blame branch ls-files rev-parse rev-list grep remote config tag describe shortlog reflog fetch add commit init
  clone cat-file ls-tree bundle notes check-ignore version help push`
    .trim()
    .split(/\s+/),
);
const REMOVES = /^-\w*[rR]|^--recursive/;

const programName = (head: ShellWord | undefined): string => head?.text.replace(/^.*\//, '') ?? '';

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
        : anyFile(`${name} writes where the text does not say`);
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
    if (/[$`]/.test(args.join(' '))) effects.push(anyFile(`${name} writes where the text does not say`));
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
  // What a shell runs later counts from now on.
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

/** A program that is not known, or whose effects are in the text that it runs. */
function programEffects(
  name: string,
  head: ShellWord | undefined,
  rest: readonly ShellWord[],
  body: string | null,
): FileEffect[] {
  const args = rest.map(({ text }) => text);
  const what = [name, ...args].join(' ').slice(0, 80);
  if (name === 'eval') return loopEffects(args.join(' '));
  if (name === 'source' || name === '.') {
    const [path] = rest;
    return path?.isPlain === true
      ? [{ kind: 'script', path: path.text, language: 'shell', args: args.slice(1).join(' ') }]
      : [anyFile('a script runs that the text does not name')];
  }
  if (INTERPRETERS.test(name)) {
    const codeAt = args.findIndex((arg) => /^-\w*[ce]$/.test(arg));
    const code = codeAt !== -1 ? args.slice(codeAt + 1).join('\n') : body;
    const isShell = SHELLS.test(name);
    if (code !== null && (codeAt !== -1 || args.every((arg) => arg.startsWith('-'))))
      return isShell
        ? loopEffects(code).filter(({ kind }) => kind !== 'cd')
        : codeEffects(code, args.join('\n'), `${name}, a program in the command`);
    const at = rest.findIndex(({ text }) => !text.startsWith('-'));
    const script = rest[at];
    const isModule = args[at - 1] === '-m';
    if (script !== undefined && !isModule && script.isPlain)
      return [
        {
          kind: 'script',
          path: script.text,
          language: isShell ? 'shell' : 'other',
          args: args.slice(at + 1).join(' '),
        },
      ];
    if (isModule && RUNNERS.test(script?.text ?? '')) return [{ kind: 'runs', what }];
  } else if (RUNNERS.test(name)) {
    const out = args.flatMap((arg, i) => (/^-o$|^--out(?:put)?$/.test(args[i - 1] ?? '') ? [touchOf(arg)] : []));
    return [...out, { kind: 'runs', what }];
  } else if (head?.isPlain === true && head.text.includes('/'))
    return [{ kind: 'script', path: head.text, language: 'other', args: args.join(' ') }];
  // A program that is given a file may change it.
  const isHidden = rest.some(({ text, isPlain }) => !isPlain && /[$`]/.test(text));
  return [
    { kind: 'named', text: args.join(' ') },
    ...(isHidden && head?.isPlain !== true ? [anyFile('the text does not say what runs')] : []),
    { kind: 'runs', what },
  ];
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

function gitEffects(args: readonly string[]): FileEffect[] {
  const verb = args.find((arg, i) => !arg.startsWith('-') && args[i - 1] !== '-C' && args[i - 1] !== '-c') ?? '';
  const written = args.filter((arg) => arg.startsWith('--output'));
  if (GIT_READS.has(verb)) return written.length > 0 ? [{ kind: 'named', text: args.join(' ') }] : [];
  const marked = args.indexOf('--');
  const paths = args.slice(marked + 1).filter((arg) => !arg.startsWith('-') && arg !== verb);
  // A pathspec may be a folder.
  if (
    marked !== -1 &&
    paths.every((path) => /\.\w+$/.test(path) && !/[*?[\]:$`]/.test(path)) &&
    /^(?:checkout|restore|reset)$/.test(verb)
  )
    return [{ kind: 'named', text: paths.join(' ') }];
  return [anyFile(`git ${verb} changes the work tree`)];
}

/** The command that `sudo`, `env`, `timeout 5` … run. */
function unwrapped(words: readonly ShellWord[]): ShellWord[] {
  let rest = [...words];
  for (;;) {
    while (rest[0] !== undefined && /^[A-Za-z_]\w*\+?=/.test(rest[0].text)) rest = rest.slice(1);
    const name = programName(rest[0]);
    if (!/^(?:sudo|nohup|timeout|env|command|builtin|nice|stdbuf|time|exec|setsid|ionice|unbuffer)$/.test(name))
      return rest;
    const [head, ...inner] = rest;
    let at = inner.findIndex(({ text }) => !/^-|^[A-Za-z_]\w*=/.test(text));
    if (at === -1) return head === undefined || /^(?:env|time|exec|command|sudo|nice)$/.test(name) ? [] : rest;
    // Options of these take words of their own, as does the time itself.
    while (at < inner.length && /^\d+(?:\.\d+)?[smhd]?$|^[A-Z]+$/.test(inner[at]?.text ?? '')) at++;
    if (at > 0 && /^-(?:u|C|S)$/.test(inner[at - 1]?.text ?? '')) at++;
    rest = inner.slice(at);
    if (rest.length === 0) return [];
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
