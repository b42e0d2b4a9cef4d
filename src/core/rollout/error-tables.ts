import type { ErrorCause } from './error-kind.ts';

// The closed tables of errors that systems, protocols and schedulers print: errno, signals, gRPC, HTTP, Kubernetes.

const exact = (words: string, rest: Pick<ErrorCause, 'kind' | 'fault' | 'says'>, flags = 'i'): ErrorCause => ({
  pattern: new RegExp(words, flags),
  ...rest,
  exact: true,
});

/** Words that occur in sentences, too. */
const loose = (words: string, rest: Pick<ErrorCause, 'kind' | 'fault' | 'says'>): ErrorCause => ({
  pattern: new RegExp(words, 'i'),
  ...rest,
});

/** At the end of a message, as perror and its peers put it: `cat: x: Input/output error`, `[Errno 5] Input/output error: 'x'`. */
const errno = (words: string): string =>
  String.raw`(?:^|: |\] |errno \d+, )(?:${words})(?: \(os error \d+\)| \(\d+\))?(?=\s*$|: ['"/]|\n|\)$)`;

/** `rpc error: code = X desc = …`, `StatusCode.X`, `X: …` as gRPC's clients name a status. */
const grpc = (camel: string, upper: string): string =>
  String.raw`\bcode = (?:${camel})\b|\bStatusCode\.(?:${upper})\b|\bstatus ?[:=] ?(?:${upper})\b|^(?:\d+ )?(?:${upper}): `;

/** `410 Gone`, `HTTP/1.1 410 Gone`, with the reason that the standard gives the code. */
const http = (reasons: string): string => String.raw`^(?:HTTP/[\d.]+ |HTTP |error:? )?(?:${reasons})\b(?! [a-z])`;

export const TABLE_CAUSES: readonly ErrorCause[] = [
  loose(
    errno(
      'connection (?:refused|reset by peer|timed out)|network is (?:down|unreachable)|host is down|no route to host|transport endpoint is not connected|software caused connection abort|cannot assign requested address|stale (?:NFS )?file handle',
    ),
    { kind: 'unavailable', fault: 'world', says: 'the server could not be reached' },
  ),
  loose(
    errno(
      'input/output error|device or resource busy|too many open files(?: in system)?|no space left on device|disk quota exceeded|no locks available|address already in use|no child processes|resource temporarily unavailable',
    ),
    { kind: 'exception', fault: 'world', says: 'the machine refused what was asked for' },
  ),
  loose(
    errno(
      'operation not permitted|no such (?:process|device(?: or address)?)|interrupted system call|argument list too long|exec format error|bad (?:file descriptor|address)|permission denied|block device required|file exists|invalid cross-device link|not a directory|is a directory|inappropriate ioctl for device|text file busy|file too large|illegal seek|read-only file system|too many (?:links|levels of symbolic links)|broken pipe|numerical (?:argument out of domain|result out of range)|resource deadlock avoided|file name too long|function not implemented|directory not empty|message too long|(?:protocol|operation) not supported|value too large for defined data type|the system cannot find the (?:file|path) specified\\.?|access is denied\\.?',
    ),
    { kind: 'exception', fault: null, says: 'the operating system refused what was asked for' },
  ),
  exact(String.raw`^(?:[^\n]{0,60}\d+ )?CPU time limit exceeded\b|^alarm clock\s*$|${http('408 Request Time-?out')}`, {
    kind: 'timeout',
    fault: null,
    says: 'it took longer than it was allowed',
  }),
  exact(
    String.raw`^(?:[^\n]{0,60}\d+ )?(?:hangup|quit|illegal instruction|trace/breakpoint trap|aborted|bus error|floating point exception|segmentation fault|terminated|file size limit exceeded|bad system call|stack fault|virtual timer expired)(?: \(core dumped\))?(?:\s*$| {2,}\S)`,
    { kind: 'exception', fault: null, says: 'the program crashed, or was stopped' },
  ),
  // The case of a status is what tells it from a word.
  exact(
    grpc('Unavailable', 'UNAVAILABLE'),
    { kind: 'unavailable', fault: 'world', says: 'a server failed, or was not there' },
    '',
  ),
  exact(
    grpc('DeadlineExceeded', 'DEADLINE_EXCEEDED'),
    { kind: 'timeout', fault: null, says: 'it took longer than it was allowed' },
    '',
  ),
  exact(
    grpc(
      'Unimplemented|PermissionDenied|Unauthenticated|NotFound|AlreadyExists|FailedPrecondition|Aborted|Canceled|OutOfRange',
      'UNIMPLEMENTED|PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND|ALREADY_EXISTS|FAILED_PRECONDITION|ABORTED|CANCELLED|OUT_OF_RANGE',
    ),
    { kind: 'rejected', fault: null, says: 'the server refused the call' },
    '',
  ),
  exact(
    grpc('InvalidArgument', 'INVALID_ARGUMENT'),
    { kind: 'bad_arguments', fault: 'model', says: "the call's arguments were not what the server takes" },
    '',
  ),
  exact(
    http(
      '400 Bad Request|401 Unauthorized|402 Payment Required|403 Forbidden|404 Not Found|405 Method Not Allowed|406 Not Acceptable|409 Conflict|410 Gone|411 Length Required|412 Precondition Failed|413 (?:Payload|Content|Request Entity) Too Large|414 (?:Request-)?URI Too (?:Long|Large)|415 Unsupported Media Type|416 (?:Requested )?Range Not Satisfiable|417 Expectation Failed|418 I.m a teapot|421 Misdirected Request|422 Unprocessable (?:Entity|Content)|423 Locked|424 Failed Dependency|426 Upgrade Required|428 Precondition Required|431 Request Header Fields Too Large|451 Unavailable For Legal Reasons',
    ),
    { kind: 'http', fault: null, says: 'a request was refused' },
  ),
  exact(
    `${http('500 Internal Server Error|501 Not Implemented|502 Bad Gateway|503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?out|505 HTTP Version Not Supported|507 Insufficient Storage|508 Loop Detected|511 Network Authentication Required')}|^error (?:code:? )?(?:52\\d|530|10(?:00|0[1-9]|1\\d|2[0-3]))(?:: [A-Z]|\\s*$)`,
    { kind: 'unavailable', fault: 'world', says: 'a server failed, or was not there' },
  ),
  exact(
    String.raw`\bFailedScheduling\b|\b0/\d+ nodes are available\b|\binsufficient (?:cpu|memory|ephemeral-storage|pods|\w[\w.-]*/\w+)\b|^(?:status: |reason: )?(?:Evicted|Unschedulable|NodeNotReady|NodeLost|Preempt(?:ed|ing))\b(?=\s*$|[:.])`,
    { kind: 'unavailable', fault: 'world', says: 'the cluster had no room for it' },
  ),
  exact(
    String.raw`\b(?:Err)?Image(?:Pull|NeverPull)?(?:BackOff|Error)?\b(?<=Err\w+|BackOff)|\bCrashLoopBackOff\b|\b(?:Create|Run)Container(?:Config)?Error\b|\bOCI runtime \w+ failed\b(?![^\n]*executable file not found)`,
    { kind: 'sandbox', fault: null, says: 'the container could not be started' },
  ),
];
