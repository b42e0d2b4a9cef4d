import { anyFile, type FileEffect, touchOf } from './file-effect.ts';

const WRITES =
  /\bwrite|\bopen\([^)]*['"][rbt]*[wax+]|\.(?:rename|replace|unlink|remove|rmtree|truncate|touch|save|dump|to_csv|move|copy\w*)\b|\b(?:shutil|fileinput|subprocess|child_process|Popen)\b|os\.(?:remove|rename|unlink|system|popen|truncate|symlink|link)|\b(?:append|copy|write|cp|rm|unlink|rename|truncate)(?:File)?(?:Sync)?\(|WriteStream|file_put_contents|\bunlink\b|\bsystem\b|\bexec\(|open\([^)]*['"][+]?>|FileUtils|File\.(?:open|delete|rename)/;
/** Names of files that the code makes or finds. */
const FINDS =
  /\b(?:os\.walk|glob\w*|rglob|listdir|iterdir|scandir|readdir\w*|argv|ARGV|environ|stdin|input\(|getenv)\b/;
const MAKES =
  /\b(?:open|Path)\(\s*(?:[rb]?f['"]|\w[\w.]*\s*[+/%]|['"][^'"\n]*['"]\s*[+%/.]|os\.path\.join|\w+\[)|\/\s*\(?f['"]/;

/** The effects of a program's text in a language other than the shell's. @param args words that it gets */
export function codeEffects(code: string, args: string, what: string): FileEffect[] {
  if (!WRITES.test(code)) return [{ kind: 'runs', what }];
  const effects: FileEffect[] = [{ kind: 'named', text: `${args}\n${code}` }];
  for (const [, path = ''] of code.matchAll(/open\(\s*['"]([^'"\n]+)['"]\s*,\s*(?:mode=)?['"][rbt]*[wax]/g))
    effects.push(touchOf(path));
  const findsOthers = FINDS.test(code.replace(/\b(?:sys|process)\.argv\b/g, /[$`*?]/.test(args) ? 'argv' : ''));
  if (findsOthers || MAKES.test(code)) effects.push(anyFile('a program writes files that it looks for'));
  return effects;
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
