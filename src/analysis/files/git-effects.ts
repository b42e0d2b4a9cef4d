import { anyFile, type FileEffect } from './file-effect.ts';

const GIT_READS = new Set(
  `status log diff show blame branch ls-files rev-parse rev-list grep remote config tag describe shortlog reflog fetch add commit init
  clone cat-file ls-tree bundle notes check-ignore version help push`
    .trim()
    .split(/\s+/),
);

/** The effects of a git command on the work tree. */
export function gitEffects(args: readonly string[]): FileEffect[] {
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
