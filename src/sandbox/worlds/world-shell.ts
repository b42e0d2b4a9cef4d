/** How an agent's shell behaves between calls. persistent: one shell; cwd: a new one in the directory that the last successful command ended in; stateless: a new one each time. */
export type ShellKind = 'persistent' | 'cwd' | 'stateless';

export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Lines that a shell reads first. Status lines go to descriptor 3, which commands do not get. */
export const PROLOGUE = `shopt -s expand_aliases 2>/dev/null
__rv_done() { builtin printf '%s' "$2"; builtin printf '%s' "$2" >&2; builtin printf '%s %s %s\\n' "$2" "$1" "$PWD" >&3; return "$1"; }
`;

/** The text that makes a shell of this kind run a command. `mark` ends its output on both streams. */
export function commandText(command: string, mark: string, kind: ShellKind, dir: string, merged: boolean): string {
  const both = merged ? ' 2>&1' : '';
  if (kind === 'persistent')
    return `\\builtin eval ${shellQuoted(command)} </dev/null${both} 3>&-\n__rv_done "$?" ${mark}\n`;
  const run =
    kind === 'stateless'
      ? `exec bash -c ${shellQuoted(command)} 3>&-`
      : `exec bash -c ${shellQuoted(`eval ${shellQuoted(command)} 3>&-\n__rv=$?; [ $__rv = 0 ] && printf 'cwd %s\\n' "$(pwd -P)" >&3; exit $__rv`)}`;
  // A shell that waits writes how a child was killed; the agent's tool had no such shell.
  const alone = `( cd ${shellQuoted(dir)} && unset OLDPWD SHLVL && ${run} ) </dev/null`;
  const quiet = merged ? `{ ${alone} 2>&1; } 2>/dev/null` : `{ ${alone} 2>&9 9>&-; } 9>&2 2>/dev/null`;
  return `${quiet}\n__rv_done "$?" ${mark}\n`;
}

/** Runs our own script in the same files; restores the shell's `$?`. */
export const helperText = (script: string, mark: string): string =>
  `__rv_kept=$?; ( umask 022; cd / ; ${script} ) </dev/null 3>&-\n__rv_done "$?" ${mark}; (exit "$__rv_kept")\n`;

/** Prints commands that give another shell the arguments, the directory stack, the exported functions and the traps of this one. */
const REST_OF_STATE = `builtin printf 'set --'; [ "$#" = 0 ] || builtin printf ' %q' "$@"; builtin printf '\\n'
for ((__rv_i = \${#DIRSTACK[@]} - 1; __rv_i > 0; __rv_i--)); do builtin printf 'pushd -n -- %q >/dev/null\\n' "$(builtin dirs -l "+$__rv_i")"; done
builtin declare -Fx; builtin trap -p`;

/** Asks a shell for its whole state: directories, mask, variables, functions, aliases, options, arguments, traps. */
export const captureText = (mark: string): string =>
  `__rv_kept=$?; { printf 'cd -- %q\\n' "$PWD"; umask -p; declare -p; declare -f; alias -p; shopt -p; set +o; ${REST_OF_STATE}; } 2>/dev/null\n__rv_done "$__rv_kept" ${mark}\n`;

/** Variables that belong to the shell itself, and cannot or must not be set again. */
const OWN_VARIABLES =
  /^declare -\S* (?:BASH\w*|EUID|PPID|SHELLOPTS|UID|FUNCNAME|GROUPS|DIRSTACK|PIPESTATUS|SECONDS|RANDOM|SRANDOM|LINENO|HISTCMD|EPOCH\w*|_|COMP_\w*|OPTIND|__rv\w*)(?:=|$)/;

/** The text that restores another shell's state in a new one. */
export function restoreText(captured: string): string {
  const lines = captured.split('\n').filter((line) => !OWN_VARIABLES.test(line));
  // Declarations in a text that a function sources would be local.
  return `eval ${shellQuoted(lines.join('\n'))} 2>/dev/null\n`;
}
