import { existsSync } from 'node:fs';
import { nearestWord } from '../../core/text/nearest.ts';

/** Up to this many typing errors, one word is taken for another. */
const NEAR = 2;

/** A first path that does not exist may be a mistyped command. @returns the message; null if it can only be a path */
export function mistyped(path: string | undefined, commands: readonly string[]): string | null {
  if (path === undefined || !/^[a-z][a-z-]*$/i.test(path) || existsSync(path)) return null;
  const near = nearest(path, commands);
  const hint =
    near === null ? `commands: ${commands.join(', ')}; --help says more` : `did you mean \`rollout-viewer ${near}\`?`;
  return `${path}: no such file or directory, and no such command; ${hint}`;
}

/** @returns the message for `help NAME` of no command and no topic */
export function unknownTopic(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  const hint = near === null ? '`rollout-viewer help` lists them' : `did you mean \`rollout-viewer help ${near}\`?`;
  return `help: no command or topic ${name}; ${hint}`;
}

const nearest = (typed: string, known: readonly string[]): string | null =>
  nearestWord(typed.toLowerCase(), known, (name) => Math.max(1, Math.min(NEAR, name.length - 2)));
