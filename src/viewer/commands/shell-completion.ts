import { scriptWord } from '../../core/text/shell-quote.ts';
import type { CommandEntry, FlagEntry, FlagValue } from './command-tree.ts';

export const COMPLETED_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof COMPLETED_SHELLS)[number];

/** A shell script that completes commands, flags, their values and paths. */
export function completionScript(shell: Shell, commands: readonly CommandEntry[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands);
}

const namedCommands = (commands: readonly CommandEntry[]): CommandEntry[] => commands.filter(({ name }) => name !== '');

/** The last word of an expression follows the last of these characters. */
const BETWEEN_WORDS = '[^A-Za-z0-9_.:]';

function bashScript(commands: readonly CommandEntry[]): string {
  const names = namedCommands(commands).map(({ name }) => name);
  // The cases of commands must precede the one without a command, which matches everything.
  const inOrder = [...namedCommands(commands), ...commands.filter(({ name }) => name === '')];
  const flagCases = inOrder.map(
    ({ name, flags }) => `    ${name || '*'}) flags=${scriptWord(flags.flatMap((flag) => flag.names).join(' '))} ;;`,
  );
  const wordCases = namedCommands(commands)
    .filter(({ words }) => words.length > 0)
    .map(
      ({ name, words }) => `    ${name}) COMPREPLY=($(compgen -W ${scriptWord(words.join(' '))} -- "$cur")); return ;;`,
    );
  return `# rollout-viewer completion bash
# The names that may follow in an expression, each behind what is typed already.
_rollout_viewer_expression() {
  local last=\${2##*${BETWEEN_WORDS}}
  local before=\${2%"$last"} word
  compopt -o nospace 2>/dev/null
  for word in $(compgen -W "$1" -- "$last"); do COMPREPLY+=("$before$word"); done
}
_rollout_viewer() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= flags= word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
    ${names.join('|')}) command=$word; break ;;
    esac
  done
  case "$command $prev" in
${bashValues(inOrder).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${flagCases.join('\n')}
    esac
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  if [[ $prev == "$command" ]]; then
    case $command in
${wordCases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -f -- "$cur"))
  if ((COMP_CWORD == 1)); then COMPREPLY+=($(compgen -W ${scriptWord(names.join(' '))} -- "$cur")); fi
}
complete -o filenames -F _rollout_viewer rollout-viewer
`;
}

/** A case for each answer, with the commands and flags that share it. A flag with one answer everywhere is named without a command. */
function bashValues(commands: readonly CommandEntry[]): string[] {
  const cases = commands.flatMap(({ name, flags }) =>
    flags
      .filter(({ value }) => value !== 'none')
      .flatMap(({ names, value }) => names.map((flag) => ({ name, flag, answer: bashAnswer(value) }))),
  );
  const isShared = (flag: string) =>
    new Set(cases.filter((one) => one.flag === flag).map(({ answer }) => answer)).size === 1;
  const shared = new Map([...new Set(cases.map(({ flag }) => flag))].map((flag) => [flag, isShared(flag)]));
  const isGeneral = ({ name, flag }: BashCase) => name === '' || shared.get(flag) === true;
  // The meaning of a flag for a command precedes its meaning for the program.
  const [own, general] = [cases.filter((one) => !isGeneral(one)), cases.filter(isGeneral)];
  return [...byAnswer(own, ({ name, flag }) => `'${name} ${flag}'`), ...byAnswer(general, ({ flag }) => `*' ${flag}'`)];
}

interface BashCase {
  name: string;
  flag: string;
  answer: string;
}

function byAnswer(cases: readonly BashCase[], pattern: (one: BashCase) => string): string[] {
  const patterns = new Map<string, Set<string>>();
  for (const one of cases) patterns.set(one.answer, (patterns.get(one.answer) ?? new Set()).add(pattern(one)));
  return [...patterns].map(([answer, those]) => `    ${[...those].join('|')}) ${answer}; return ;;`);
}

function bashAnswer(value: FlagValue): string {
  if (typeof value === 'string') return 'COMPREPLY=()';
  // Bash breaks words at colons, so it is offered values up to their colon; within quotes it breaks none.
  const upToColon = (word: string) => word.replace(/:.*/, ':');
  const words = scriptWord([...new Set(value.isExpression ? value.words : value.words.map(upToColon))].join(' '));
  if (value.isExpression) return `_rollout_viewer_expression ${words} "$2"`;
  return `COMPREPLY=($(compgen ${value.hasPaths ? '-f ' : ''}-W ${words} -- "$cur"))`;
}

function zshScript(commands: readonly CommandEntry[]): string {
  const inBrackets = (text: string): string => text.replace(/[[\]\\:]/g, '\\$&');
  const specs = ({ names, help, value }: FlagEntry): string[] =>
    names.map((flag) => scriptWord(`*${flag}[${inBrackets(help)}]${zshAction(value)}`));
  const argumentsOf = ({ flags, words }: CommandEntry): string =>
    [
      '_arguments -S',
      ...flags.flatMap(specs),
      scriptWord(words.length === 0 ? '*:path:_files' : `:word:(${words.join(' ')})`),
    ].join(' \\\n        ');
  const described = namedCommands(commands).map(({ name, description }) =>
    scriptWord(`${name}:${description.replaceAll(':', '\\:')}`),
  );
  return `#compdef rollout-viewer
# The names that may follow in an expression, each behind what is typed already.
_rollout_viewer_expression() {
  compset -P '*${BETWEEN_WORDS}'
  compadd "$expl[@]" -S '' -- "$@"
}
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

function zshAction(value: FlagValue): string {
  if (value === 'none') return '';
  if (value === 'text') return ':value: ';
  const words = value.words.map((word) => word.replaceAll(':', '\\:')).join(' ');
  if (value.isExpression) return `:value: _rollout_viewer_expression ${words}`;
  if (value.hasPaths) return words === '' ? ':path:_files' : `:value:{ compadd -- ${words}; _files }`;
  return `:value:(${words})`;
}

function fishScript(commands: readonly CommandEntry[]): string {
  const names = namedCommands(commands)
    .map(({ name }) => name)
    .join(' ');
  const lines = [
    '# rollout-viewer completion fish',
    '# The names that may follow in an expression, each behind what is typed already.',
    'function __rollout_viewer_expression',
    `  set -l typed (string replace -r '^["\\']' '' -- (commandline -ct))`,
    `  set -l before (string replace -r '[A-Za-z0-9_.:]*$' '' -- $typed)`,
    '  for word in $argv; echo "$before$word"; end',
    'end',
  ];
  for (const { name, description, flags, words } of commands) {
    const when = name === '' ? `not __fish_seen_subcommand_from ${names}` : `__fish_seen_subcommand_from ${name}`;
    if (name !== '')
      lines.push(
        `complete -c rollout-viewer -n ${scriptWord(`__fish_is_first_arg`)} -a ${name} -d ${scriptWord(description)}`,
      );
    for (const { names: aliases, help, value } of flags) {
      const options = aliases.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      lines.push(
        `complete -c rollout-viewer -n ${scriptWord(when)} ${options.join(' ')} ${fishValue(value)} -d ${scriptWord(help)}`,
      );
    }
    if (words.length > 0)
      lines.push(`complete -c rollout-viewer -n ${scriptWord(when)} -f -a ${scriptWord(words.join(' '))}`);
  }
  return `${lines.join('\n')}\n`;
}

function fishValue(value: FlagValue): string {
  if (value === 'none') return '';
  if (value === 'text') return '-x';
  const words = value.words.join(' ');
  if (value.isExpression) return `-x -a ${scriptWord(`(__rollout_viewer_expression ${words})`)}`;
  return `${value.hasPaths ? '-r -F' : '-x'}${words === '' ? '' : ` -a ${scriptWord(words)}`}`;
}
