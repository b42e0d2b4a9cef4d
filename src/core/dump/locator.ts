import { statSync } from 'node:fs';
import { UsageError } from './paths.ts';

/**
 * `FILE:LINE`, `FILE:LINE.PART` if a line holds several rollouts, `FILE/MEMBER` of a zip, or just FILE if the whole
 * file is one rollout; `#tN` adds a turn.
 */
export interface Locator {
  path: string;
  /** Physical lines from 1, or records; null if the file or its member is the rollout. */
  line: number | null;
  /** From 1; 0 if the line holds one rollout. */
  part: number;
  /** The path from the zip to the member, with its slash, or ''. */
  member: string;
  /** Counts from 0. */
  turn: number | null;
}

/** Parses a locator from the right, because a path may contain colons and dots. @throws UsageError */
export function parseLocator(text: string): Locator {
  const turned = /^(.+)#t(\d+)$/s.exec(text);
  const turn = turned === null ? null : Number(turned[2]);
  const rest = turned?.[1] ?? text;
  if (pathKind(rest) !== null) return { path: rest, line: null, part: 0, member: '', turn };
  const numbered = /^(.+):(\d+)(?:\.(\d+))?$/s.exec(rest);
  const base = numbered?.[1] ?? rest;
  const file = archiveOf(base);
  if (numbered === null && file === null)
    throw new UsageError(`${text}: not a locator; write FILE:LINE or FILE:LINE#tN, such as rollout_data/3.jsonl:57#t4`);
  return {
    path: file ?? base,
    line: numbered === null ? null : Number(numbered[2]),
    part: numbered?.[3] === undefined ? 0 : Number(numbered[3]),
    member: file === null ? '' : base.slice(file.length),
    turn,
  };
}

/** The part after the file's path. */
export const endingOf = ({ member, line, part }: Pick<Locator, 'member' | 'line' | 'part'>): string =>
  `${member}${line === null ? '' : `:${line}`}${part === 0 ? '' : `.${part}`}`;

/** The first prefix of a path that is a regular file, if something follows it; else null. */
function archiveOf(path: string): string | null {
  if (pathKind(path) === 'file') return null;
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1))
    if (pathKind(path.slice(0, at)) === 'file') return path.slice(0, at);
  return null;
}

function pathKind(path: string): 'file' | 'folder' | null {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return null;
  }
}
