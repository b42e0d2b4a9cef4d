import { posix } from 'node:path';
import { readShell, type SimpleCommand } from '../actions/shell-words.ts';
import { loopEffects } from './code-effects.ts';
import { isLoud, isStop, pipelineEffects } from './command-effects.ts';
import type { FileEffect } from './file-effect.ts';

/** A pipeline of a command line, and what must hold for it to have run. */
export interface ShellStep {
  effects: FileEffect[];
  /** always: it ran; after: if the one before it succeeded; maybe: unknown from the text. */
  runs: 'always' | 'after' | 'maybe';
  /** The command line ends with 0 only if it ran and succeeded. */
  isProven: boolean;
  /** If it fails, it prints an error that the record has. */
  isLoud: boolean;
}

export interface ShellEffects {
  steps: ShellStep[];
  /** A single command apart from `cd`; if it fails it does nothing. */
  isAlone: boolean;
  /** No `;` separates its commands, so an error is that of the last that ran. */
  isOneList: boolean;
  /** Names of functions and aliases that it defines. */
  defines: string[];
  /** The first words of its commands. */
  words: string[];
}

/** The effects of a command line. */
export function shellEffects(command: string): ShellEffects {
  const defines = [...command.matchAll(/(?:^|[\s;&|{])([A-Za-z_][\w-]*)\s*\(\)|\balias\s+(?:-\S+\s+)*([\w.-]+)=/g)].map(
    ([, name, alias]) => name ?? alias ?? '',
  );
  const codex =
    /(?:^|\n|&&\s*|;\s*)(?:apply_patch|applypatch)\s+(?:<<-?\s*(['"]?)(\w+)\1\n([\s\S]*?)\n\2|'([\s\S]*?)'\s*$|"([\s\S]*?)"\s*$)/.exec(
      command,
    );
  const patch = codex?.[3] ?? codex?.[4] ?? codex?.[5];
  if (patch !== undefined) {
    const cd = /^\s*cd\s+(\S+)\s*(?:&&|;)/.exec(command)?.[1];
    const goes: FileEffect[] = cd === undefined ? [] : [{ kind: 'cd', to: cd }];
    const rest = { runs: 'always', isProven: true, isLoud: true } as const;
    const steps: ShellStep[] = [
      { effects: goes, ...rest },
      { effects: [{ kind: 'codex-patch', text: patch }], ...rest },
    ];
    return { steps, isAlone: true, isOneList: true, defines, words: [] };
  }
  // A shell keeps carriage returns; a terminal may not have passed them on.
  const commands = command.includes('\r') ? null : readShell(command);
  if (commands === null) {
    const words = command.match(/(?<=^|[;&|(){}\s])[A-Za-z_.][\w.-]*/g) ?? [];
    const effects = loopEffects(command);
    return {
      steps: [{ effects, runs: 'maybe', isProven: false, isLoud: false }],
      isAlone: false,
      isOneList: false,
      defines,
      words,
    };
  }
  const steps = stepsOf(commands, command);
  // With several commands, the output of one cannot be separated from that of the others.
  const acts = steps.filter(({ effects }) => effects.length !== 1 || effects[0]?.kind !== 'cd').length;
  if (acts > 1) for (const step of steps) step.effects = step.effects.filter(({ kind }) => kind !== 'show');
  const words = commands.flatMap(({ words: [first] }) => first?.text ?? []);
  const isOneList = [...listsOf(commands)].length === 1;
  return { steps, isAlone: acts <= 1, isOneList, defines, words };
}

function stepsOf(commands: readonly SimpleCommand[], command: string): ShellStep[] {
  const steps: ShellStep[] = [];
  let isStopped = false;
  for (const list of listsOf(commands)) {
    const isLast = list.at(-1)?.at(-1) === commands.at(-1);
    const isBeside = list.at(-1)?.at(-1)?.next === '&';
    let isChain = !isStopped && !isBeside;
    for (const [i, group] of list.entries()) {
      const before = list[i - 1]?.at(-1)?.next;
      if (before === '||') isChain = false;
      const hidesErrors = group.some(({ redirects }) =>
        redirects.some(({ op, fd }) => op.startsWith('&>') || (fd === 2 && op.startsWith('>'))),
      );
      steps.push({
        effects: pipelineEffects(group, command),
        runs: !isChain ? 'maybe' : i === 0 ? 'always' : 'after',
        isProven: isChain && isLast && group.length === 1 && !list.some((one) => one.at(-1)?.next === '||'),
        isLoud: group.length === 1 && group.every(isLoud) && !hidesErrors,
      });
      if (group.some(isStop)) {
        isStopped = true;
        isChain = false;
      }
    }
  }
  return steps;
}

/** The lists that `;` and `&` end, as pipelines joined by `&&` and `||`. */
function* listsOf(commands: readonly SimpleCommand[]): Generator<SimpleCommand[][]> {
  let list: SimpleCommand[][] = [];
  let group: SimpleCommand[] = [];
  for (const one of commands) {
    group.push(one);
    if (one.next === '|') continue;
    list.push(group);
    group = [];
    if (one.next === '&&' || one.next === '||') continue;
    yield list;
    list = [];
  }
  if (group.length > 0) list.push(group);
  if (list.length > 0) yield list;
}

/** The path of a command that runs in `dir`; null = it stays relative. */
export const inDir = (dir: string | null, path: string): string =>
  posix.isAbsolute(path) || dir === null ? posix.normalize(path) : posix.join(dir, path);
