import type { Execution } from './execution.ts';

interface Lack {
  pattern: RegExp;
  /** What is missing, from the match. */
  says: (match: RegExpExecArray) => string;
}

const topOf = (name: string): string => name.split('.')[0] as string;

/** What a program says where its surroundings lack something that another sandbox has. */
const LACKS: readonly Lack[] = [
  { pattern: /ModuleNotFoundError: No module named '([^']+)'/, says: ([, name = '']) => topOf(name) },
  {
    pattern: /ModuleNotFoundError: The module '([^']+)' is included in the Pyodide distribution/,
    says: ([, name = '']) => topOf(name),
  },
  { pattern: /Error: Cannot find module '([^'./][^']*)'/, says: ([, name = '']) => name },
  { pattern: /(?:^|: )([\w.+-]+): (?:command )?not found\s*$/m, says: ([, name = '']) => name },
  { pattern: /OSError: .{0,200}does not support processes/, says: () => 'starting a process' },
  { pattern: /RuntimeError: can't start new thread/, says: () => 'starting a thread' },
];

/** What a sandbox answers for a language that it does not have: this program's own, and upstream's bare KeyError. */
const NO_RUNNER = [/which has only [\w, ]+, not (\w+)/, /: '(\w+)' (?:\| )?None\s*$/];

/** Errors of a program that wanted the network, which no local sandbox has. */
const NO_NETWORK =
  /(?:socket\.gaierror|\[Errno -[23]\]|Temporary failure in name resolution|Name or service not known|Network is unreachable|getaddrinfo (?:EAI_AGAIN|ENOTFOUND))/;

/**
 * What this run lacked, in words, when it failed for that alone; null where the failure is the program's own. A recorded result that tells
 * of the same lack was made in the same surroundings, and is compared.
 */
export function lackOf(
  run: Execution,
  recorded: string | null,
  { name, confined }: { name: string; confined: boolean },
): string | null {
  if (!run.isFinished) {
    const absent = NO_RUNNER.map((pattern) => pattern.exec(run.message)?.[1]).find((one) => one !== undefined);
    if (absent !== undefined) return `${absent} is not in ${name}`;
  }
  if (run.exitStatus === 0) return null;
  for (const { pattern, says } of LACKS) {
    const match = pattern.exec(run.stderr);
    if (match === null) continue;
    const lack = says(match);
    if (recorded !== null && pattern.exec(recorded)?.[0] === match[0]) return null;
    return `${lack} is not in ${name}`;
  }
  if (confined && NO_NETWORK.test(run.stderr) && !(recorded !== null && NO_NETWORK.test(recorded)))
    return `no network in ${name}`;
  return null;
}
