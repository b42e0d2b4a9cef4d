import { existsSync } from 'node:fs';
import { nearestName } from '../../core/text/nearest.ts';

/** A first path that does not exist may be a mistyped command. @returns the message; null if it can only be a path */
export function mistyped(path: string | undefined, commands: readonly string[]): string | null {
  if (path === undefined || !/^[a-z][a-z-]*$/i.test(path) || existsSync(path)) return null;
  const near = nearestName(path, commands);
  const hint =
    near === null ? `commands: ${commands.join(', ')}; --help says more` : `did you mean \`rollout-viewer ${near}\`?`;
  return `${path}: no such file or directory, and no such command; ${hint}`;
}

/** @returns the message for `help NAME` of no command and no topic */
export function unknownTopic(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  const hint = near === null ? '`rollout-viewer help` lists them' : `did you mean \`rollout-viewer help ${near}\`?`;
  return `help: no command or topic ${name}; ${hint}`;
}
