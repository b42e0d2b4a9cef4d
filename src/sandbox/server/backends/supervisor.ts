// What is pid 1 in a bubblewrap sandbox: a bash script that runs the compile and the run step, sweeps away what they
// left, and hands fetched files out before the sandbox and its memory-backed file system vanish.
//
// Being pid 1 protects it: the kernel drops signals that a program inside sends to it, and `kill -1` reaches every
// other process of the sandbox at once, daemons and fork bombs too. bash knows a signal's death from an exit code
// above 128 only in its job table, so `jobs` is what is reported.

/**
 * File descriptors: 3 reports, 4 and 5 the compile step's stdout and stderr, 6 and 7 the run's.
 * Arguments: compile command ('' for none), run command, stdin file, limits for `ulimit`, bytes to fetch, files to fetch.
 * Reports, a line each: `start STEP`, lines of `jobs`, `end STEP STATUS MICROSECONDS`, `file INDEX BASE64`, `done`.
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
  # A wait that the timeout's signal cuts short does not count.
  local status
  while wait $pid; status=$?; kill -0 $pid; do :; done 2>/dev/null
  local to=$EPOCHREALTIME
  kill -KILL -1 2>/dev/null
  echo "end $1 $status $(( \${to/[.,]/} - \${from/[.,]/} ))" >&3
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
  /** The command left by `exit`, whatever its code; without this report a signal ended it. */
  | { kind: 'exited' }
  | { kind: 'end'; step: Step; status: number; seconds: number }
  | { kind: 'file'; index: number; content: Buffer }
  | { kind: 'done' };

/** null for a line that says nothing: the channel is written by bash, and a hostile program could reach it through ptrace. */
export function parseReport(line: string): Report | null {
  const [word, first = '', second = '', third = ''] = line.split(' ', 4);
  const step = first === 'compile' || first === 'run' ? first : null;
  if (word === 'start' && step) return { kind: 'start', step };
  if (word === 'end' && step) return { kind: 'end', step, status: Number(second), seconds: Number(third) / 1e6 };
  if (word === 'file') return { kind: 'file', index: Number(first), content: Buffer.from(second, 'base64') };
  if (word === 'done') return { kind: 'done' };
  return /^\[\d+\][+-]?\s+(?:Done|Exit \d)/.test(line) ? { kind: 'exited' } : null;
}
