// What is pid 1 in a bubblewrap sandbox: a bash script that runs the compile and the run step, sweeps away what they
// left, and hands fetched files out before the sandbox and its memory-backed file system vanish.
//
// Being pid 1 protects it: the kernel drops signals that a program inside sends to it, and `kill -1` reaches every
// other process of the sandbox at once, daemons and fork bombs too. bash knows a signal's death from an exit code
// above 128 only in its job table, so `jobs` is what is reported.

/**
 * File descriptors: 3 reports, 4 and 5 the compile step's stdout and stderr, 6 and 7 the run's.
 * Arguments: compile command ('' for none), run command, stdin file, limits for `ulimit`, bytes to fetch, files to fetch.
 * Reports, a line each: `start STEP`, `jobs …`, `end STEP MICROSECONDS`, `file INDEX BASE64`, `done`.
 */
export const SUPERVISOR = `
[ $$ = 1 ] || { echo "the supervisor must be pid 1" >&2; exit 97; }
compile=$1 run=$2 stdin=$3 limits=$4 budget=$5
shift 5
printf 'root:x:0:0:root:/root:/bin/bash\\nnobody:x:65534:65534:nobody:/:/bin/false\\n' >/etc/passwd
printf 'root:x:0:\\nnogroup:x:65534:\\n' >/etc/group
printf '127.0.0.1 localhost\\n::1 localhost\\n' >/etc/hosts
trap 'kill -KILL -1' USR1
trap 'jobs >&3' CHLD
step() {
  echo "start $1" >&3
  local from=$EPOCHREALTIME
  (
    trap - USR1 CHLD
    IFS=,
    for limit in $limits; do IFS=' '; ulimit $limit || exit 98; done
    # A plain command needs no second shell (a millisecond); one that is missing gets bash's own words from it.
    case $2 in
      *[!A-Za-z0-9_./+:' '-]*) ;;
      *) words=($2); type -P "\${words[0]}" >/dev/null && exec "\${words[@]}" ;;
    esac
    exec /bin/bash --norc -c "$2"
  ) <"$3" >&"$4" 2>&"$5" 3>&- 4>&- 5>&- 6>&- 7>&- &
  local pid=$!
  while kill -0 $pid; do wait $pid; done 2>/dev/null
  local to=$EPOCHREALTIME
  kill -KILL -1 2>/dev/null
  echo "end $1 $(( \${to/[.,]/} - \${from/[.,]/} ))" >&3
}
if [ -n "$compile" ]; then
  step compile "$compile" /dev/null 4 5
  exec 4>&- 5>&-
  read -r go <&3
fi
if [ "\${go-run}" = run ]; then step run "$run" "$stdin" 6 7; fi
exec 6>&- 7>&-
trap - CHLD
index=0
for file; do
  if [ -f "$file" ]; then
    printf 'file %s ' $index >&3
    head -c $((budget + 1)) -- "$file" | base64 -w 0 >&3
    echo >&3
  fi
  index=$((index + 1))
done
echo done >&3
`;

export type Step = 'compile' | 'run';
export type Report =
  | { kind: 'start'; step: Step }
  | { kind: 'ended'; code: number }
  | { kind: 'end'; step: Step; seconds: number }
  | { kind: 'file'; index: number; content: Buffer }
  | { kind: 'done' };

/** bash's words for a death by signal (strsignal of glibc), and the real-time ones by their number. */
const SIGNALS: Record<string, number> = {
  Hangup: 1,
  Interrupt: 2,
  Quit: 3,
  'Illegal instruction': 4,
  'Trace/breakpoint trap': 5,
  Aborted: 6,
  'Bus error': 7,
  'Floating point exception': 8,
  Killed: 9,
  'User defined signal 1': 10,
  'Segmentation fault': 11,
  'User defined signal 2': 12,
  'Broken pipe': 13,
  'Alarm clock': 14,
  Terminated: 15,
  'Stack fault': 16,
  'CPU time limit exceeded': 24,
  'File size limit exceeded': 25,
  'Virtual timer expired': 26,
  'Profiling timer expired': 27,
  'I/O possible': 29,
  'Power failure': 30,
  'Bad system call': 31,
};

/** The return code that a line of `jobs` tells; null while the job runs. Signals are negative, as upstream has them. */
function jobCode(line: string): number | null {
  const state = /^\[\d+\][+-]?\s+(.*)$/.exec(line)?.[1];
  if (state === undefined || /^(?:Running|Stopped)/.test(state)) return null;
  const exit = /^Exit (\d+)/.exec(state)?.[1];
  if (exit !== undefined) return Number(exit);
  if (/^Done/.test(state)) return 0;
  const realTime = /^(?:Real-time signal|Unknown signal #?)\s*(\d+)/.exec(state)?.[1];
  if (realTime !== undefined) return -Number(realTime);
  const word = Object.keys(SIGNALS).find((name) => state.startsWith(name));
  return word === undefined ? -9 : -SIGNALS[word]!;
}

/** null for a line that says nothing: the channel is written by bash, and a hostile program could reach it through ptrace. */
export function parseReport(line: string): Report | null {
  const [word, first = '', second = ''] = line.split(' ', 3);
  const step = first === 'compile' || first === 'run' ? first : null;
  if (word === 'start' && step) return { kind: 'start', step };
  if (word === 'end' && step) return { kind: 'end', step, seconds: Number(second) / 1e6 };
  if (word === 'file') return { kind: 'file', index: Number(first), content: Buffer.from(second, 'base64') };
  if (word === 'done') return { kind: 'done' };
  const code = jobCode(line);
  return code === null ? null : { kind: 'ended', code };
}
