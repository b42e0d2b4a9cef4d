import type { ShellWord, SimpleCommand } from '../actions/shell-words.ts';
import type { FileEffect } from './file-effect.ts';

/** `cat F`, `sed -n 'A,Bp' F`, `head -n N F`, `nl -ba F | sed -n 'A,Bp'`; null for anything else. */
export function shownBy(group: readonly SimpleCommand[]): FileEffect | null {
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
