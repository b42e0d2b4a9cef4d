import { UsageError } from './paths.ts';

/** `FILE:LINE`, with `#tN` where a turn is meant. LINE counts physical lines from 1, turns count from 0. */
export interface Locator {
  path: string;
  line: number;
  turn: number | null;
}

/** Reads a locator from the right, since a path may hold colons. @throws UsageError */
export function parseLocator(text: string): Locator {
  const match = /^(.+):(\d+)(?:#t(\d+))?$/s.exec(text);
  if (match === null)
    throw new UsageError(`${text}: not a locator; write FILE:LINE or FILE:LINE#tN, such as rollout_data/3.jsonl:57#t4`);
  const [, path, line, turn] = match as unknown as [string, string, string, string | undefined];
  return { path, line: Number(line), turn: turn === undefined ? null : Number(turn) };
}
