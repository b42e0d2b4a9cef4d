/** How an agent's shell behaves between calls. persistent: one shell; cwd: a new one in the directory that the last successful command ended in; stateless: a new one each time. */
export type ShellKind = 'persistent' | 'cwd' | 'stateless';

export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Descriptors of ours, which commands do not get: agents open small numbers. */
const STATUS = 29;
const ERRORS = 28;
const OUTPUT = 27;
/** Our scripts' output, where no process of an agent's writes. */
const HELP = 26;
const HELP_ERRORS = 25;
const CLOSED = [STATUS, ERRORS, OUTPUT, HELP, HELP_ERRORS].map((number) => `${number}>&-`).join(' ');
const HARD_LIMITS = '__rv hard limits';
const LIMITS_END = '__rv limits end';
export const OWN_DESCRIPTORS: readonly number[] = [0, 1, 2, STATUS, ERRORS, OUTPUT, HELP, HELP_ERRORS, 255];

/**
 * Lines that a shell reads first. Nothing is kept in a variable: an agent's shell may have made any of them read-only. A helper is a
 * separate program, which knows no function, alias or path of the agent's.
 */
export const PROLOGUE = `exec ${STATUS}>&3 3>&- ${ERRORS}>&2 ${OUTPUT}>&1 ${HELP}>&5 5>&- ${HELP_ERRORS}>&6 6>&-
shopt -s expand_aliases 2>/dev/null
__rv_end() { builtin printf '%s' "$2" >&"$3"; builtin printf '%s' "$2" >&"$4"; builtin printf '%s %s %s\\n' "$2" "$1" "$PWD" >&${STATUS}; return "$1"; }
__rv_done() { __rv_end "$1" "$2" ${OUTPUT} ${ERRORS}; }
__rv_helped() { __rv_end "$1" "$2" ${HELP} ${HELP_ERRORS}; }
builtin eval "__rv_help() { ( { builtin set +x; } 2>/dev/null; builtin umask 022; builtin cd /; builtin exec -c $(builtin printf %q "$BASH") --norc --noprofile -s ) >&${HELP} 2>&${HELP_ERRORS} ${CLOSED}; __rv_helped \\"\\$?\\" \\"\\$2\\"; return \\"\\$1\\"; }"
__rv_folders() { [ "$1" -gt 0 ] || return 0; builtin printf 'pushd -n -- %q >/dev/null\\n' "$(builtin dirs -l "+$1")"; __rv_folders "$(($1 - 1))"; }
__rv_state() {
builtin printf 'cd -- %q\\n' "$PWD"; builtin ulimit -Sa; builtin printf '%s\\n' '${HARD_LIMITS}'; builtin ulimit -Ha; builtin printf '%s\\n' '${LIMITS_END}'
builtin umask -p; builtin declare -p; builtin declare -f; builtin alias -p; builtin shopt -p; builtin set +o
builtin printf 'set --'; [ "$#" = 3 ] || builtin printf ' %q' "\${@:4}"; builtin printf '\\n'
__rv_folders "$((\${#DIRSTACK[@]} - 1))"; builtin declare -Fx; builtin printf '%s\\n' "$3"; __rv_helped "$1" "$2"
}
`;

/** Ends a command's output. A shell that traces its commands must not write the mark twice. */
const done = (status: string, mark: string): string => `{ __rv_done ${status} ${mark}; } 2>/dev/null\n`;

/** Asks whether the shell answers. */
export const probeText = (mark: string): string => done('0', mark);

/** The text that makes a shell of this kind run a command. `mark` ends its output on both streams. */
export function commandText(command: string, mark: string, kind: ShellKind, dir: string, merged: boolean): string {
  // An agent's shell may have sent its own output elsewhere.
  const both = merged ? ` 2>&${OUTPUT}` : '';
  if (kind === 'persistent')
    return `\\builtin eval ${shellQuoted(command)} </dev/null${both} ${CLOSED}\n${done('"$?"', mark)}`;
  const run =
    kind === 'stateless'
      ? `exec bash -c ${shellQuoted(command)} ${CLOSED}`
      : `exec bash -c ${shellQuoted(`eval ${shellQuoted(command)} ${CLOSED}\n\\builtin set -- "$?"; [ "$1" = 0 ] && printf 'cwd %s\\n' "$(pwd -P)" >&${STATUS}; exit "$1"`)}`;
  // A shell that waits writes how a child was killed; the agent's tool had no such shell.
  const alone = `( cd ${shellQuoted(dir)} && unset OLDPWD SHLVL && ${run} ) </dev/null`;
  const quiet = merged ? `{ ${alone} 2>&1; } 2>/dev/null` : `{ ${alone} 2>&9 9>&-; } 9>&2 2>/dev/null`;
  return `${quiet}\n${done('"$?"', mark)}`;
}

/** Gives the shell other output streams. Processes that earlier commands left keep the old ones. */
export const streamsText = (out: string, errors: string): string =>
  `exec >${shellQuoted(out)} 2>${shellQuoted(errors)}; exec ${OUTPUT}>&1 ${ERRORS}>&2\n`;

/** Runs our own script in the same files; restores the shell's `$?`. */
export const helperText = (script: string, mark: string, env: Readonly<Record<string, string>>): string =>
  `{ __rv_help "$?" ${mark} <<'${mark}'; } 2>/dev/null
${Object.entries(env)
  .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
  .join('')}{ ${script}
} </dev/null
${mark}
`;

/** Asks a shell for its whole state: limits, directories, mask, variables, functions, aliases, options, arguments, traps. */
export const captureText = (mark: string): string =>
  `{ __rv_state "$?" ${mark} "$(builtin trap -p)" "$@"; } >&${HELP} 2>/dev/null\n`;

/** Variables that belong to the shell itself, and cannot or must not be set again. */
const OWN_VARIABLES =
  /^declare -\S* (?:BASH\w*|EUID|PPID|SHELLOPTS|UID|FUNCNAME|GROUPS|DIRSTACK|PIPESTATUS|SECONDS|RANDOM|SRANDOM|LINENO|HISTCMD|EPOCH\w*|_|COMP_\w*|OPTIND|__rv\w*)(?:=|$)/;

/** The text that restores another shell's state in a new one. */
export function restoreText(captured: string): string {
  const whole = captured.split('\n').filter((line) => !OWN_VARIABLES.test(line));
  const [hard, end] = [whole.indexOf(HARD_LIMITS), whole.indexOf(LIMITS_END)];
  const [first, soft, rest] = [whole.slice(0, 1), whole.slice(1, hard), whole.slice(end + 1)];
  // A limit of this moment is never above the lasting one.
  const lines = [...first, 'unset OLDPWD', ...limits(soft, 'S'), ...limits(whole.slice(hard + 1, end), 'H'), ...rest];
  // Declarations in a text that a function sources would be local.
  return `eval ${shellQuoted(lines.join('\n'))} 2>/dev/null\n`;
}

/** Commands for the lines of `ulimit -a`, such as `open files (-n) 1024`. */
const limits = (lines: readonly string[], kind: 'S' | 'H'): string[] =>
  lines.flatMap((line) => {
    const [, flag, value] = /-([a-zA-Z])\) +(\d+|unlimited)$/.exec(line) ?? [];
    return flag === undefined || flag === 'p' ? [] : [`ulimit -${kind}${flag} ${value}`];
  });
