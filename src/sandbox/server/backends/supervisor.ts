// The process with pid 1 in a bubblewrap sandbox: a bash script that runs the compile and the run step, cleans up after
// them, and returns the fetched files before the sandbox and its memory-backed file system vanish.
//
// Being pid 1 protects it: the kernel drops signals that a program inside sends to it, and `kill -1` reaches every
// other process of the sandbox at once, daemons and fork bombs too. bash can distinguish a death by signal from an exit code
// above 128 only in its job table, so the output of `jobs` is reported.
//
// A program of the same user could still read and trace it, so it is started from a copy of bash that may be executed
// but not read: the kernel keeps such a process out of reach (proc(5), /proc/PID/: dumpable).

/** Base64 characters a line. */
const LINE_OF_FILE = 65_536;
/** No report is longer than a line of a file. */
export const LONGEST_REPORT = 2 * LINE_OF_FILE;

/**
 * File descriptors: 3 reports, 4 and 5 the compile step's stdout and stderr, 6 and 7 the run's.
 * Arguments: compile command ('' for none), run command, stdin file, limits for `ulimit`, bytes to fetch, files to fetch.
 * The first line it reads from 3 is a word that no program sees, and each report begins with it: `start STEP`, a
 * line of `jobs`, `end STEP STATUS MICROSECONDS`, `file INDEX` with lines of base64 up to a `.`, `done`.
 */
export const SUPERVISOR = `
[ $$ = 1 ] || { echo "the supervisor must be pid 1" >&2; exit 97; }
compile=$1 run=$2 stdin=$3 limits=$4 budget=$5
shift 5
read -r -u 3 nonce
printf 'root:x:0:0:root:/root:/bin/bash\\nnobody:x:65534:65534:nobody:/:/bin/false\\n' >/etc/passwd
printf 'root:x:0:\\nnogroup:x:65534:\\n' >/etc/group
printf '127.0.0.1 localhost\\n::1 localhost\\n' >/etc/hosts
trap 'kill -KILL -1' USR1
trap '{ printf "%s " "$nonce"; jobs; echo; } >&3' CHLD
step() {
  echo "$nonce start $1" >&3
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
  echo "$nonce end $1 $status $(( \${to/[.,]/} - \${from/[.,]/} ))" >&3
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
    echo "$nonce file $index" >&3
    head -c $((budget + 1)) -- "$file" | base64 -w ${LINE_OF_FILE} >&3
    echo . >&3
  fi
  index=$((index + 1))
done
echo "$nonce done" >&3
`;

export type Step = 'compile' | 'run';
export type BackendReport =
  | { kind: 'start'; step: Step }
  /** The command ended by `exit`, whatever its code; without this report a signal ended it. */
  | { kind: 'exited' }
  | { kind: 'end'; step: Step; status: number; seconds: number }
  /** A part of a fetched file; its first part is empty. */
  | { kind: 'file'; index: number; content: Buffer }
  | { kind: 'done' };

/** Reads the reports of one run; lines that do not begin with its nonce are ignored. */
export class ReportReader {
  readonly #nonce: string;
  #file: number | null = null;

  constructor(nonce: string) {
    this.#nonce = nonce;
  }

  read(bytes: Buffer): BackendReport | null {
    const line = bytes.toString('latin1');
    if (this.#file !== null) {
      const index = this.#file;
      if (line === '.') this.#file = null;
      return line === '.' ? null : { kind: 'file', index, content: Buffer.from(line, 'base64') };
    }
    if (!line.startsWith(`${this.#nonce} `)) return null;
    const said = line.slice(this.#nonce.length + 1);
    const [word, first = '', second = '', third = ''] = said.split(' ', 4);
    const step = first === 'compile' || first === 'run' ? first : null;
    if (word === 'start' && step) return { kind: 'start', step };
    if (word === 'end' && step) return { kind: 'end', step, status: Number(second), seconds: Number(third) / 1e6 };
    if (word === 'file') {
      this.#file = Number(first);
      return { kind: 'file', index: this.#file, content: Buffer.alloc(0) };
    }
    if (word === 'done') return { kind: 'done' };
    return /^\[\d+\][+-]?\s+(?:Done|Exit \d)/.test(said) ? { kind: 'exited' } : null;
  }
}
