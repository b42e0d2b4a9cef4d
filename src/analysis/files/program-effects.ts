import type { ShellWord } from '../actions/shell-words.ts';
import { codeEffects, loopEffects } from './code-effects.ts';
import { anyFile, type FileEffect, touchOf } from './file-effect.ts';

/** Programs that leave the files of a project alone, but for what they build and download. */
const RUNNERS =
  /^(?:pytest|py\.test|unittest|doctest|py_compile|compileall|timeit|cProfile|gcc|g\+\+|clang|clang\+\+|cc|c\+\+|rustc|javac|mypy|pyright|flake8|pylint|pyflakes|pycodestyle|bandit|shellcheck|jest|vitest|mocha|tsc|pip[\d.]*|ensurepip|venv|http\.server|json\.tool|curl|wget|apt|apt-get|dpkg|xmllint|coverage|open)$/;
/** Package managers, and their commands that run no script of the project's. */
const BUILDERS = /^(?:go|cargo|npm|yarn|pnpm|uv|poetry|bundle|composer|docker|podman)$/;
const BUILDS =
  /^(?:build|check|test|t|vet|clippy|bench|doc|list|install|i|ci|add|remove|sync|lock|get|mod|env|version|ls|tree|pull|push|images|ps|logs|inspect|--version|-v|-V)$/;
export const INTERPRETERS = /^(?:python[\d.]*|pypy\d?|node|deno|perl|ruby|php|lua|bash|sh|zsh|dash|ksh)$/;
export const SHELLS = /^(?:bash|sh|zsh|dash|ksh)$/;

export const programName = (head: ShellWord | undefined): string => head?.text.replace(/^.*\//, '') ?? '';

/** A program that is not known, or whose effects are in the text that it runs. */
export function programEffects(
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
    if (isModule) return [anyFile('a module runs whose text the record does not show')];
    if (args.every((arg) => /^--?(?:version|help|V|h)$/.test(arg))) return [{ kind: 'runs', what }];
  } else if (RUNNERS.test(name) || (BUILDERS.test(name) && BUILDS.test(args[0] ?? ''))) {
    const out = args.flatMap((arg, i) => (/^-o$|^--out(?:put)?$/.test(args[i - 1] ?? '') ? [touchOf(arg)] : []));
    // A download has the name that its address ends with.
    const loads = /^(?:curl|wget)$/.test(name) ? [{ kind: 'named', text: args.join(' ') } as const] : [];
    return [...out, ...loads, { kind: 'runs', what }];
  } else if (head?.isPlain === true && head.text.includes('/'))
    return [{ kind: 'script', path: head.text, language: 'other', args: args.join(' ') }];
  const isQuestion = args.length > 0 && args.every((arg) => /^--?(?:version|help|V)$/.test(arg));
  return [isQuestion ? { kind: 'runs', what } : anyFile('a program runs whose effects are not known')];
}

/** The command that `sudo`, `env`, `timeout 5` … run. */
export function unwrapped(words: readonly ShellWord[]): ShellWord[] {
  let rest = [...words];
  for (;;) {
    while (rest[0] !== undefined && /^[A-Za-z_]\w*\+?=/.test(rest[0].text)) rest = rest.slice(1);
    const name = programName(rest[0]);
    if (!/^(?:sudo|nohup|timeout|env|command|builtin|nice|stdbuf|time|exec|setsid|ionice|unbuffer)$/.test(name))
      return rest;
    const [head, ...inner] = rest;
    let at = inner.findIndex(({ text }) => !/^-|^[A-Za-z_]\w*=/.test(text));
    if (at === -1) return head === undefined || /^(?:env|time|exec|command|sudo|nice)$/.test(name) ? [] : rest;
    // Their options take separate words, as does the time itself.
    while (at < inner.length && /^\d+(?:\.\d+)?[smhd]?$|^[A-Z]+$/.test(inner[at]?.text ?? '')) at++;
    if (at > 0 && /^-(?:u|C|S)$/.test(inner[at - 1]?.text ?? '')) at++;
    rest = inner.slice(at);
    if (rest.length === 0) return [];
  }
}
