import { scriptWord } from '../../core/text/shell-quote.ts';
import type { CommandEntry, FlagEntry } from './command-tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A shell script that completes commands, flags, their values and paths. */
export function completionScript(shell: Shell, commands: readonly CommandEntry[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands);
}

const namedCommands = (commands: readonly CommandEntry[]): CommandEntry[] => commands.filter(({ name }) => name !== '');
const isWords = (value: FlagEntry['value']): value is readonly string[] => typeof value !== 'string';

/** Bash breaks words at colons, so it is offered values up to their colon. */
function bashScript(commands: readonly CommandEntry[]): string {
  const names = namedCommands(commands).map(({ name }) => name);
  const flagCases = commands.map(
    ({ name, flags }) =>
      `    ${name === '' ? '*' : name}) flags=${scriptWord(flags.flatMap((flag) => flag.names).join(' '))} ;;`,
  );
  // The cases of commands must precede the one without a command, which matches everything.
  flagCases.push(flagCases.shift()!);
  const values = new Map<string, string>();
  for (const { flags } of commands) {
    for (const { names: aliases, value } of flags) {
      if (value === 'none') continue;
      const words = isWords(value) ? [...new Set(value.map((word) => word.replace(/:.*/, ':')))].join(' ') : '';
      const answer =
        value === 'path'
          ? 'COMPREPLY=($(compgen -f -- "$cur"))'
          : `COMPREPLY=($(compgen -W ${scriptWord(words)} -- "$cur"))`;
      for (const flag of aliases) values.set(flag, `    ${flag}) ${answer}; return ;;`);
    }
  }
  return `# rollout-viewer completion bash
_rollout_viewer() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= flags= word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
    ${names.join('|')}) command=$word; break ;;
    esac
  done
  case $prev in
${[...values.values()].join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${flagCases.join('\n')}
    esac
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  COMPREPLY=($(compgen -f -- "$cur"))
  if ((COMP_CWORD == 1)); then COMPREPLY+=($(compgen -W ${scriptWord(names.join(' '))} -- "$cur")); fi
}
complete -o filenames -F _rollout_viewer rollout-viewer
`;
}

function zshScript(commands: readonly CommandEntry[]): string {
  const inBrackets = (text: string): string => text.replace(/[[\]\\:]/g, '\\$&');
  const specs = ({ names, help, value }: FlagEntry): string[] =>
    names.map((flag) => {
      const action = isWords(value)
        ? `:value:(${value.map((word) => word.replaceAll(':', '\\:')).join(' ')})`
        : value === 'path'
          ? ':path:_files'
          : value === 'text'
            ? ':value: '
            : '';
      return scriptWord(`*${flag}[${inBrackets(help)}]${action}`);
    });
  const argumentsOf = ({ flags }: CommandEntry): string =>
    ['_arguments -S', ...flags.flatMap(specs), scriptWord('*:path:_files')].join(' \\\n        ');
  const described = namedCommands(commands).map(({ name, description }) =>
    scriptWord(`${name}:${description.replaceAll(':', '\\:')}`),
  );
  return `#compdef rollout-viewer
_rollout_viewer() {
  local -a commands
  commands=(${described.join('\n    ')})
  if ((CURRENT == 2)) && [[ \${words[2]} != -* ]]; then
    _describe command commands
    _files
    return
  fi
  case \${words[2]} in
${namedCommands(commands)
  .map((command) => `    ${command.name})\n      shift words; ((CURRENT--))\n      ${argumentsOf(command)} ;;`)
  .join('\n')}
    *)
      ${argumentsOf(commands.find(({ name }) => name === '')!)} ;;
  esac
}
if [[ \${funcstack[1]} == _rollout_viewer ]]; then _rollout_viewer "$@"; else compdef _rollout_viewer rollout-viewer; fi
`;
}

function fishScript(commands: readonly CommandEntry[]): string {
  const names = namedCommands(commands)
    .map(({ name }) => name)
    .join(' ');
  const lines = ['# rollout-viewer completion fish'];
  for (const { name, description, flags } of commands) {
    const when = name === '' ? `not __fish_seen_subcommand_from ${names}` : `__fish_seen_subcommand_from ${name}`;
    if (name !== '')
      lines.push(
        `complete -c rollout-viewer -n ${scriptWord(`__fish_is_first_arg`)} -a ${name} -d ${scriptWord(description)}`,
      );
    for (const { names: aliases, help, value } of flags) {
      const words = aliases.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      const takes = isWords(value)
        ? `-x -a ${scriptWord(value.join(' '))}`
        : value === 'none'
          ? ''
          : value === 'path'
            ? '-r -F'
            : '-x';
      lines.push(
        `complete -c rollout-viewer -n ${scriptWord(when)} ${words.join(' ')} ${takes} -d ${scriptWord(help)}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}
