import { anyFile, type FileEffect, touchOf } from './file-effect.ts';

const WRITES =
  /\bwrite|\bopen\([^)]*['"][rbt]*[wax+]|\.(?:rename|replace|unlink|remove|rmtree|truncate|touch|save|dump|to_csv|move|copy\w*)\b|\b(?:shutil|fileinput|subprocess|child_process|Popen)\b|os\.(?:remove|rename|unlink|system|popen|truncate|symlink|link)|\b(?:append|copy|write|cp|rm|unlink|rename|truncate)(?:File)?(?:Sync)?\(|WriteStream|file_put_contents|\bunlink\b|\bsystem\b|\bexec\(|open\([^)]*['"][+]?>|FileUtils|File\.(?:open|delete|rename)/;
/** Names of files that the code makes or finds. */
const FINDS =
  /\b(?:os\.walk|glob\w*|rglob|listdir|iterdir|scandir|readdir\w*|argv|ARGV|environ|stdin|input\(|getenv)\b/;
const MAKES =
  /\b(?:open|Path)\(\s*(?:[rb]?f['"]|\w[\w.]*\s*[+/%]|['"][^'"\n]*['"]\s*[+%/.]|os\.path\.join|\w+\[)|\/\s*\(?f['"]/;

/** Text that runs elsewhere: another program's, or one that is made or read first. */
const RUNS_OTHERS =
  /\b(?:subprocess|child_process|Popen|runpy|importlib|__import__|execfile|spawn\w*|popen|qx)\b|\bsystem\s*[('"]|\bos\.(?:exec|posix_spawn)|(?<!\.)\b(?:exec|eval)\s*\(|%x[({]/;
const HAS_BACKTICKS = /^(?:perl|ruby|php)\b|\.(?:pl|rb|php)\b/;
/** Modules of Python's own and of its libraries, which write only what their caller says. */
const LIBRARIES = new Set(
  `__future__ abc argparse array ast asyncio atexit base64 bisect builtins bs4 calendar cmath codecs collections colorsys concurrent configparser contextlib
  contextvars copy csv ctypes dataclasses datetime decimal difflib dis django email enum errno fcntl fileinput flask fnmatch fractions functools gc getpass
  gettext glob gzip hashlib heapq hmac html http inspect io ipaddress itertools json jsonschema keyword linecache locale logging math matplotlib mimetypes
  mmap msgpack multiprocessing networkx numbers numpy operator os packaging pandas pathlib pickle pkgutil platform pprint psutil pydantic pytest queue
  random re requests resource scipy secrets select shelve shlex shutil signal site six sklearn socket sqlite3 ssl stat statistics string struct subprocess
  sympy sys sysconfig tarfile tempfile textwrap threading time timeit tokenize toml tomllib torch tqdm traceback types typing typing_extensions unicodedata
  unittest urllib uuid warnings weakref xml yaml zipfile zlib zoneinfo`.split(/\s+/),
);

/** The effects of a program's text in a language other than the shell's. @param args words that it gets */
export function codeEffects(code: string, args: string, what: string): FileEffect[] {
  const effects = importsOf(code);
  if (RUNS_OTHERS.test(code) || (code.includes('`') && HAS_BACKTICKS.test(what)))
    effects.push(anyFile('a program runs others'));
  if (!WRITES.test(code)) return [...effects, { kind: 'runs', what }];
  effects.push({ kind: 'named', text: `${args}\n${code}` });
  for (const [, path = ''] of code.matchAll(/open\(\s*['"]([^'"\n]+)['"]\s*,\s*(?:mode=)?['"][rbt]*[wax]/g))
    effects.push(touchOf(path));
  const findsOthers = FINDS.test(code.replace(/\b(?:sys|process)\.argv\b/g, /[$`*?]/.test(args) ? 'argv' : ''));
  if (findsOthers || MAKES.test(code)) effects.push(anyFile('a program writes files that it looks for'));
  return effects;
}

/** Modules that the text of a program takes in. */
function importsOf(code: string): FileEffect[] {
  const modules: FileEffect[] = [];
  for (const [, from = '', what = '', list] of code.matchAll(
    /(?:^|[;:"'])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t(]+([\w, \t\n*]+)|import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*)[ \t]*(?=[;#"'\\\n]|$))/gm,
  )) {
    const [first, ...others] = (list ?? from).split(',').map((one) => one.trim().split(/[ \t]/)[0] ?? '');
    const members = list === undefined ? what.split(',').map((one) => one.trim().split(/\s/)[0] ?? '') : [];
    for (const one of [first ?? '', ...others])
      if (!LIBRARIES.has(one.split('.')[0] ?? ''))
        modules.push({ kind: 'module', path: one.replace(/^\.+/, '').replaceAll('.', '/'), members });
  }
  for (const [, path = ''] of code.matchAll(
    /\b(?:require|require_relative|require_once|include|include_once|import|from|do)\b[ \t]*\(?[ \t]*['"](\.{0,2}\/[^'"\n]+|[^'"\n]+\.(?:p[lm]|rb|php|[cm]?[jt]s))['"]/g,
  ))
    modules.push({ kind: 'module', path: path.replace(/^(?:\.{0,2}\/)+|\.\w+$/g, ''), members: [] });
  return modules;
}

/** The effects of shell text that is more than a list of commands: what it names may change. */
export function loopEffects(text: string): FileEffect[] {
  const effects: FileEffect[] = [{ kind: 'named', text }];
  // Writes in loops and conditions still name their files.
  for (const [, target = ''] of text.matchAll(/(?<![<\d&])>{1,2}\|?\s*([\w./@+-]+)/g))
    if (!target.startsWith('/dev/')) effects.push(touchOf(target));
  if (
    /\bgit\s+(?:checkout|stash|reset|clean|apply|restore|switch|merge|rebase|pull|revert|rm|mv|am|cherry-pick)\b/.test(
      text,
    )
  )
    effects.push(anyFile('git changes the work tree'));
  if (
    /(?<![<\d&])>{1,2}\|?\s*"?[^\s"]*\$|\b(?:rm|mv|cp|tee|patch|truncate|install|ln|dd|touch|sed|perl|ed|ex|awk|python\d?|eval)\b[^|;&\n]*\$|\b(?:xargs|tar|unzip|rsync|cpio|patch|rename|source|eval|mv|cp|ln)\b|-(?:exec|delete)/.test(
      text,
    )
  )
    effects.push(anyFile('a loop or a function changes files that the text does not name'));
  if (/\b(?:cd|pushd|popd)\b/.test(text)) effects.push({ kind: 'cd', to: null });
  return effects;
}
