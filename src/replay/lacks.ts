import { itemAt } from '../core/lists/at.ts';
import { failureOf } from '../core/rollout/tool-failure.ts';
import type { Execution } from './execution.ts';

/** Why a run is no evidence about the call: this backend cannot run it (skipped), or it hit one of its limits (infra). */
export interface Lack {
  kind: 'skipped' | 'infra';
  says: string;
}

export interface Surroundings {
  name: string;
  confined: boolean;
}

const topOf = (name: string): string => itemAt(name.split('.'), 0);
const lackHere = (what: string) => (name: string) => `${what} is not in ${name}`;

const MODULE =
  /ModuleNotFoundError: No module named '([^']+)'|ModuleNotFoundError: The module '([^']+)' is included in the Pyodide distribution|Error: Cannot find module '([^'./][^']*)'/;

/** Messages of a program whose environment lacks something that another sandbox has. */
const LACKS: readonly [RegExp, Lack['kind'], (name: string, match: RegExpExecArray) => string][] = [
  [/(?:^|: )([\w.+-]+): (?:command )?not found\s*$/m, 'skipped', (name, [, command = '']) => lackHere(command)(name)],
  [
    /OSError: .{0,200}does not support processes|emscripten does not support processes|_posixsubprocess|Module\._emscripten_system|\bsystem\b.{0,40}not supported/i,
    'skipped',
    lackHere('starting a process'),
  ],
  [/can't start new thread/, 'skipped', lackHere('starting a thread')],
  [/WebAssembly stack switching not supported/, 'skipped', lackHere('an event loop that waits')],
  [/module 'signal' has no attribute|Function not implemented/, 'skipped', lackHere('what it asks of the system')],
  [
    /\bMemoryError\b|OverflowError: cannot fit 'int' into an index-sized integer|Cannot allocate memory|killed: over the memory limit|std::bad_alloc|JavaScript heap out of memory/,
    'infra',
    (name) => `the memory limit of ${name} was reached`,
  ],
  [
    /\[Errno 28\]|No space left on device|\[Errno 27\]|File too large|\[Errno 122\]|Disk quota exceeded/,
    'infra',
    (name) => `the disk limit of ${name} was reached`,
  ],
  [
    /BlockingIOError: \[Errno 11\]|fork: (?:retry: )?Resource temporarily unavailable|pthread_create failed/,
    'infra',
    (name) => `the process limit of ${name} was reached`,
  ],
  [/\[Errno 30\]|Read-only file system/, 'infra', (name) => `what it writes to is read-only in ${name}`],
];

/** How a sandbox answers for a language it does not have: this program's own message, and upstream's bare KeyError. */
const NO_RUNNER = [/which has only [\w, ]+, not (\w+)/, /: '(\w+)' (?:\| )?None\s*$/];

/** Errors of a program that needed the network, which no local sandbox has. */
const NO_NETWORK =
  /socket\.gaierror|\[Errno -[235]\]|Temporary failure in name resolution|Name or service not known|\[Errno 101\]|Network is unreachable|\[Errno 111\]|Connection refused|\[Errno 113\]|No route to host|Host is unreachable|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|ECONNREFUSED|Could not resolve host|Max retries exceeded|externally-managed-environment|urlopen error/;
const ASKS_NETWORK =
  /urllib|urlopen|requests|httpx|aiohttp|http\.client|socket|ftplib|smtplib|websocket|curl\b|wget\b|pip3?['",\s\]]+install|conda install|npm install|apt(?:-get)? install|git clone|fetch\(/;

/** Requirements in which machines differ. */
const ASKS_LIMITS =
  /\bgetrlimit\b|\bdisk_usage\b|\bstatvfs\b|\bcpu_count\b|sched_getaffinity|virtual_memory|\bsysconf\b/;

/** Features that Pyodide lacks, as a program's messages name them. */
const PYODIDE_LACKS: readonly [RegExp, string][] = [
  [
    /\bos\.(?:system|popen|fork\w*|exec\w+|spawn\w+|wait\w*|kill)\b|\bsubprocess\b|\bpexpect\b|multiprocessing|ProcessPoolExecutor/,
    'starting a process',
  ],
  [/\bthreading\b|ThreadPoolExecutor|_thread\b|\bsched\b/, 'starting a thread'],
  [/\b(?:gethostby\w+|getaddrinfo|getfqdn)\b/, 'a name service'],
  [/\bsignal\.(?:alarm|setitimer|SIGALRM|signal|pause)\b/, 'a signal'],
  [/\bresource\.|\bctypes\b|\bfcntl\b|\btermios\b|\bgetpwuid\b|\bpwd\b/, 'a part of the system'],
];

/** Directories that exist on other machines and that their tools' programs write to. */
const FOREIGN_HOME = /['"](\/(?:mnt|content|kaggle|workspace|home|data|app)\/[^'"\n]*)['"]/;

/**
 * The missing thing that alone explains why this run failed or gave another result; null if the program itself caused the difference. If
 * the recorded result reports the same lack, it was made in the same environment.
 */
export function lackOf(
  run: Execution,
  code: string,
  recorded: string | null,
  { name, confined }: Surroundings,
): Lack | null {
  if (!run.isFinished) {
    const absent = NO_RUNNER.map((pattern) => pattern.exec(run.message)?.[1]).find((one) => one !== undefined);
    if (absent !== undefined) return { kind: 'skipped', says: lackHere(absent)(name) };
  }
  const recordedText = recorded ?? '';
  const said = `${run.stdout.slice(-20_000)}\n${run.stderr.slice(-20_000)}`;
  const isPyodide = name.startsWith('Pyodide');
  const failed = run.exitStatus !== 0 || !run.isFinished;
  const module = failed ? MODULE.exec(run.stderr) : null;
  if (module !== null) {
    const missing = topOf(module[1] ?? module[2] ?? module[3] ?? '');
    if (new RegExp(`No module named '${missing}`).test(recordedText)) return null;
    const how = isPyodide ? '' : '; --sandbox-python names an interpreter that has it';
    return { kind: 'skipped', says: `${missing} is not in ${name}${how}` };
  }
  const network = NO_NETWORK.test(said) && ASKS_NETWORK.test(code) && confined;
  if (network) {
    const when = NO_NETWORK.test(recordedText)
      ? 'no network then, nor now: the two say it in other words'
      : `no network in ${name}`;
    return { kind: 'infra', says: when };
  }
  if (failed || isPyodide)
    for (const [pattern, kind, says] of LACKS) {
      const match = pattern.exec(said);
      if (match !== null && !pattern.test(recordedText)) return { kind, says: says(name, match) };
    }
  if (run.exitStatus === -9 && !/\bkill/.test(code) && !/killed|Killed|memory/i.test(recordedText))
    return { kind: 'infra', says: `it was killed, as by the memory limit of ${name}` };
  if (isPyodide) {
    const lack = PYODIDE_LACKS.find(([pattern]) => pattern.test(code));
    if (lack !== undefined) return { kind: 'skipped', says: lackHere(lack[1])(name) };
    if (ASKS_NETWORK.test(code.replace(/^\s*#.*$/gm, '')) && !run.isFinished)
      return { kind: 'skipped', says: `no network in ${name}` };
  }
  if (failed && /FileNotFoundError|PermissionError|\[Errno (?:2|13)\]/.test(run.stderr)) {
    const path = FOREIGN_HOME.exec(code)?.[1];
    if (path !== undefined && run.stderr.includes(path) && !recordedText.includes(path))
      return { kind: 'skipped', says: `${path} is not in ${name}` };
  }
  if (ASKS_LIMITS.test(code))
    return { kind: 'infra', says: `it asks for limits of the machine, which are others in ${name}` };
  return null;
}

/** Modules that a program imports by name. */
export function modulesOf(code: string): string[] {
  const found = new Set<string>();
  for (const [, names = ''] of code.matchAll(/^\s*import\s+([\w., ]+)/gm))
    for (const name of names.split(',')) found.add(topOf(name.trim().split(/\s+/)[0] ?? ''));
  for (const [, name = ''] of code.matchAll(/^\s*from\s+([\w.]+)\s+import/gm)) found.add(topOf(name));
  for (const [, name = ''] of code.matchAll(/(?:find_spec|import_module|__import__)\(\s*['"]([\w.]+)['"]/g))
    found.add(topOf(name));
  found.delete('');
  return [...found];
}

/** Messages of a failed sandbox, gateway or host, before what the tool adds. */
const FAULTS =
  /(?:fork: (?:retry: )?Resource temporarily unavailable|API Request Error|API Call Failed|Gateway Time-?out|Bad Gateway|Service Unavailable|Too Many Requests|rate limit|Internal Server Error|SandboxError|Sandbox ?(?:is )?(?:error|unavailable|overloaded|timeout)|Connection (?:refused|reset|aborted|timed out|error)|Max retries exceeded|Remote end closed|Failed to (?:connect|reach)|Cannot connect|could not be reached|ServerDisconnected|upstream connect error|No space left on device|Cannot allocate memory|Too many open files|Broken pipe|(?:HTTP|status)[^\n]{0,12}\b(?:429|50[0234])\b)/i;

/**
 * Whether a recorded result reports a failure of the sandbox or the connection to it, and its message; a program's own traceback does not
 * count.
 */
export function recordedFault(recorded: string): string | null {
  const text = recorded.trim();
  if (text.length > 4000 || /^Traceback \(most recent call last\):|^ {2}File "/m.test(text)) return null;
  const known = failureOf(text, null);
  if (known !== null && (known.kind === 'rate_limit' || known.kind === 'unavailable')) return known.says;
  const fault = FAULTS.exec(text);
  // A text that merely mentions such a failure is longer.
  if (fault !== null && text.split('\n').length <= 3 && text.length < 400) return `the record says "${fault[0]}"`;
  return known?.kind === 'tool_failure' ? known.says : null;
}

/** Whether a recorded result reports that the program timed out. */
export const tellsTimeout = (recorded: string): boolean =>
  failureOf(recorded, null)?.kind === 'timeout' ||
  (recorded.length < 400 &&
    /\btime(?:d)? ?-?out\b|time limit|TimeLimitExceeded|took too long|exceeded the (?:maximum )?(?:execution )?time/i.test(
      recorded,
    ));

/** Whether a recorded result reports a failure. */
export const tellsFailure = (recorded: string): boolean => failureOf(recorded, null) !== null;
