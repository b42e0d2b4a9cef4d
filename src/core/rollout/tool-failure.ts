import { itemAt } from '../lists/at.ts';
import { lazily } from '../text/lazily.ts';
import { PatternScreen } from '../text/pattern-screen.ts';
import { causeOf, worldsCause } from './cause-of.ts';
import type { ErrorKind, ErrorPattern, Fault, ToolFailure } from './error-kind.ts';
import { KNOWN_LITERALS } from './error-literals.ts';
import { ERROR_PATTERNS } from './error-patterns.ts';
import { commandOutcome, framedOutcome } from './framed-outcome.ts';
import type { RecordedOutcome } from './outcome.ts';

/** The description of an error message without a cause. */
const VAGUE: ReadonlySet<ErrorKind> = new Set(['rejected', 'tool_failure', 'timeout', 'exception']);
const screen = lazily(() => new PatternScreen(KNOWN_LITERALS));

/** The built-in patterns with a word in the text, in their order. */
const likelyPatterns = (text: string): ErrorPattern[] =>
  text === ''
    ? []
    : screen()
        .candidates(text)
        .map((at) => itemAt(ERROR_PATTERNS, at));

/** The text that a template or a harness writes before a result. */
const FRAME =
  /^\s*(?:<\|[^|<>\s]{1,40}\|>(?:user|tool|ipython|observation)?\s*)*<(tool_response|tool_result|function_results?|function_response|observation|tool_output)>\s*/;

/**
 * The failure of a tool's result: by the user's patterns, else by its writer's note, else by what the text states by itself, else by the look of it.
 * @param own patterns of the user
 */
export function failureOf(
  text: string,
  tool: string | null,
  own: readonly ErrorPattern[] = [],
  outcome?: RecordedOutcome,
): ToolFailure | null {
  const [frame, tag] = FRAME.exec(text) ?? [];
  if (frame !== undefined) {
    const inner = text.slice(frame.length);
    const close = inner.lastIndexOf(`</${tag}>`);
    return movedBy(
      frame.length,
      failureOf((close === -1 ? inner : inner.slice(0, close)).trimEnd(), tool, own, outcome),
    );
  }
  // Most results of a calculator are numbers, and no pattern but a user's finds anything in a text without words.
  if (own.length === 0 && outcome === undefined && !WORDS.test(text)) return null;
  const said = matching(own, text, tool);
  const noted = notedOutcome(text, outcome);
  if (said !== null || noted?.isFailure === false) return said;
  const seen = ofAnother(failureIn(text, tool), text, tool);
  if (noted === undefined) return seen;
  const {
    kind = seen?.kind ?? (outcome === undefined ? 'rejected' : 'other'),
    fault = seen?.fault ?? null,
    evidence,
  } = noted;
  if (seen !== null) return { ...seen, kind: kind === 'exception' ? seen.kind : kind, fault };
  return { kind, fault, says: `recorded as a failure: ${evidence}`, ...lineFrom(text, text.search(/\S|$/)) };
}

/** A tool that looks for functions in a program may find none of a name: that is no call of an unknown tool. */
function ofAnother(failure: ToolFailure | null, text: string, tool: string | null): ToolFailure | null {
  if (failure?.kind !== 'unknown_tool' || tool === null) return failure;
  const name = NAMED.exec(text.slice(failure.start, failure.end))?.[1]?.toLowerCase();
  const called = tool.toLowerCase();
  return name === undefined || name.includes(called) || called.includes(name) ? failure : null;
}

const NAMED = /\b(?:tool|function)(?: named| called)?[ :]+['"`]?([\w.-]*\w)['"`]? (?:not|is|was|could|does)/i;

const WORDS = /[A-Za-z\x80-\uffff]/;

/** A text's own statement counts where nothing was recorded. That a tool worked does not mean that its command did. */
const notedOutcome = (text: string, outcome: RecordedOutcome | undefined): RecordedOutcome | undefined =>
  outcome === undefined
    ? framedOutcome(text)
    : outcome.isFailure || outcome.isExit === true
      ? outcome
      : (commandOutcome(text) ?? outcome);

/** Exact patterns come before a named cause, and that before a message without one. */
function failureIn(text: string, tool: string | null): ToolFailure | null {
  const trace = NODE_TRACE.exec(text)?.[0].length ?? 0;
  if (trace > 0) {
    const found = failureIn(text.slice(trace), tool);
    // `Error: …` below a mark of Node is an exception, not a refusal.
    return movedBy(trace, found?.kind === 'rejected' ? { ...found, kind: 'exception', fault: null } : found);
  }
  const likely = likelyPatterns(text);
  const isVague = ({ kind }: ErrorPattern): boolean => VAGUE.has(kind);
  const exact =
    matching(
      likely.filter((one) => !isVague(one)),
      text,
      tool,
    ) ?? raised(text);
  if (exact !== null) return exact;
  const named = causeOf(text);
  if (named !== null) {
    const { kind, fault, says } = named.cause;
    return { kind, fault, says, ...lineFrom(text, named.start) };
  }
  const inner = innerText(text);
  return matching(likely.filter(isVague), text, tool) ?? matching(likelyPatterns(inner), inner, tool);
}

const movedBy = (offset: number, failure: ToolFailure | null): ToolFailure | null =>
  failure && { ...failure, start: failure.start + offset, end: failure.end + offset };

function matching(patterns: readonly ErrorPattern[], text: string, tool: string | null): ToolFailure | null {
  for (const { tool: only, pattern, kind, fault, says } of patterns) {
    if (only !== null && only !== tool) continue;
    const found = pattern.exec(text);
    if (found === null) continue;
    const start = found.index + found[0].search(/\S|$/);
    return { kind, fault, says, ...lineFrom(text, start) };
  }
  return null;
}

/**
 * The words of a result that is an object with one text (verl's search: `{"result": "…"}`), padded with blanks so that
 * offsets stay valid; else ''.
 */
function innerText(text: string): string {
  const head = /^\s*\{\s*"(?:result|output|message|content)"\s*:\s*"/.exec(text)?.[0];
  return head === undefined ? '' : ' '.repeat(head.length) + text.slice(head.length).replace(/"\s*\}\s*$/, '');
}

const TRACEBACK = 'Traceback (most recent call last):';
/** The line with which Python names the exception, alone or after a traceback. */
const RAISED =
  /^(?:\[rank ?\d+\]: |Caused by: |Uncaught |Unhandled exception\. |ERROR: |LoadError: )*(?:[A-Za-z_](?:[\w.]|::|\\(?=\w))*(?:\.|::|\\))?((?:[A-Z]|[a-z]+[A-Z])\w*(?:Error|Exception|Interrupt|Exit|Warning|Expired|[a-z](?:NotFound|Denied|Refused|Exhausted|Exceeded|Failed|Failure|Timeout))|(?:Invalid|Bad)[A-Z]\w+)(?::|$)/;
/** A class that a module keeps among its errors, whatever its name. */
const AMONG_ERRORS = /^(?:[a-z_]\w*\.)*(?:exceptions?|errors?|_errors|exc)\.(?:\w+\.)*([A-Z]\w+)(?::|$)/;

/** Exceptions whose name says more than that the program raised. */
const EXCEPTIONS: readonly [RegExp, ErrorKind, Fault | null, string][] = [
  [/^(?:Syntax|Indentation|Tab|Parse)Error$/, 'syntax', 'model', 'the code does not parse'],
  [/^ModuleNotFoundError$/, 'missing_module', 'world', 'a module is missing'],
  // The model may have used a name that the module never had.
  [/^ImportError$/, 'missing_module', null, 'an import failed'],
  [/^MemoryError$/, 'out_of_memory', null, 'it needed more memory than it was allowed'],
  [/^(?:Timeout\w*|\w*TimeoutError)$/, 'timeout', null, 'it took longer than it was allowed'],
  [/^(?:Connection\w*Error|\w*ConnectError)$/, 'unavailable', 'world', 'the server could not be reached'],
  [
    /^SSL\w*$|^(?:ServiceUnavailable|InternalServer|Overloaded|BadGateway|GatewayTimeout|APIConnection|ChunkedEncoding|ServerDisconnected|ServerSelection|NoBrokersAvailable)(?:Error|Exception)?$/,
    'unavailable',
    'world',
    'a server failed, or was not there',
  ],
  [
    /^(?:Sandbox|Container|DeadKernel|KernelDied|TargetClosed|BrowserClosed|InvalidSessionId|NoSuchWindow|SessionNotCreated)\w*$/,
    'sandbox',
    null,
    'the sandbox broke',
  ],
  [
    /^(?:Authentication|Authorization|Unauthorized|Forbidden|PermissionDenied|BadRequest|UnprocessableEntity|NotFound|Conflict)(?:Error|Exception)$/,
    'http',
    null,
    'a request was refused',
  ],
  [
    /^(?:RateLimit|Ratelimit|TooManyRequests|Throttl|QuotaExceeded|UsageLimit)\w*$/,
    'rate_limit',
    'world',
    'too many requests',
  ],
  [/^(?:KeyboardInterrupt|SystemExit|CalledProcessError)$/, 'exception', null, 'the code was stopped'],
  // The model may have named a wrong file, or the machine may lack it.
  [
    /^(?:OS|IO|BlockingIO|BrokenPipe|ChildProcess|File(?:NotFound|Exists)|(?:Not|Is)ADirectory|Permission|ProcessLookup)Error$/,
    'exception',
    null,
    'the operating system refused a request of the code',
  ],
];

/**
 * Exceptions of a language and its library for computing: the code that was run is at fault. Those of other packages may
 * be about their settings, or about a server.
 */
const OF_CODE =
  /^(?:(?:java\.(?:lang|util)|System|builtins|numpy|np|pandas|scipy|sympy|sqlite3|json|re|ast|decimal|fractions|statistics|struct|binascii|collections|itertools|csv|datetime|zoneinfo|yaml|networkx|sklearn|torch|duckdb|__main__)\.|(?:Arithmetic|Assertion|Attribute|Buffer|EOF|FloatingPoint|Index|Key|Lookup|Name|NotImplemented|Overflow|Recursion|Reference|Runtime|Stop\w*|Type|UnboundLocal|Unicode\w*|Value|ZeroDivision|Range|Eval|URI|Internal|NoMethod|Argument|LinAlg|Sympify|JSONDecode|Operational|Programming|Integrity)(?:Error|Iteration)\b|(?:NullPointer|IndexOutOf\w*|ArrayIndex\w*|NumberFormat|ClassCast|Arithmetic|IllegalArgument|IllegalState|NoSuchElement|InputMismatch|StackOverflow\w*)(?:Exception|Error)\b)/;

/** Words of those who serve models and training: a bare `RuntimeError` about them may be of the machine. */
const OF_MACHINES =
  /\b(?:N?CCL|MPI|ranks? \d|world size|process group|communicator|KV cache|max(?:imum)? (?:model|seq\w*)[ _]len\w*|engine|cluster|node|daemon|driver|GPUs?|workers?|peer|server|host|endpoint|replica|shard|checkpoint|DataLoader|cuBLAS|cuDNN|CUDA)\b/i;

/** A script that Node could not run to its end: the place, the line, a mark below it, and the exception. */
const NODE_TRACE =
  /^\s*(?:node:[\w/.-]+|\[eval\]|<anonymous_script>|(?:file:\/\/)?\S*\.[cm]?[jt]sx?):\d+\n[^\n]*\n\s*\^+[^\n]*\n\s*(?=\w*(?:Error|Exception)\b)/;

function raised(text: string): ToolFailure | null {
  const traceback = lineStart(text, TRACEBACK);
  const cell = traceback === -1 ? notebookException(text) : null;
  const line =
    traceback !== -1
      ? exceptionLine(text, traceback)
      : (cell ?? (/^\s*File "/.test(text) ? exceptionLine(text, 0) : lineFrom(text, text.search(/\S|$/))));
  const said = text.slice(line.start, line.end);
  const name = RAISED.exec(said)?.[1] ?? AMONG_ERRORS.exec(said)?.[1] ?? cell?.name;
  const isTraceback = traceback !== -1 || cell !== null;
  if (!isTraceback && name === undefined) return null;
  const known = EXCEPTIONS.find(([pattern]) => pattern.test(name ?? ''));
  const exception = name === undefined ? {} : { exception: name };
  // A client of HTTP reads the answer of a server.
  if (/^(?:requests|httpx|aiohttp|urllib3)\./.test(said) && /^(?:JSONDecode|ContentType)Error$/.test(name ?? ''))
    return { kind: 'http', fault: null, says: 'the answer of the server was no JSON', ...exception, ...line };
  const cause = worldsCause(said);
  // A timeout that names a connection is the server's.
  if (known?.[1] === 'timeout' && cause?.kind === 'unavailable')
    return { kind: cause.kind, fault: cause.fault, says: cause.says, ...exception, ...line };
  // The message of a system's error says whose it is.
  if (known?.[1] === 'exception' && (cause?.kind === 'unavailable' || cause?.kind === 'missing_module'))
    return {
      kind: cause.kind,
      fault: cause.kind === 'unavailable' ? cause.fault : null,
      says: cause.says,
      ...exception,
      ...line,
    };
  if (known !== undefined) return { kind: known[1], fault: known[2], says: known[3], ...exception, ...line };
  if (cause?.fault !== 'world' && name === 'HTTPError')
    return { kind: 'http', fault: null, says: 'a request was refused', exception: name, ...line };
  if (cause !== null) return { kind: cause.kind, fault: cause.fault, says: cause.says, ...exception, ...line };
  const says = isTraceback ? 'a Python traceback' : 'the code raised an exception';
  // A truncated traceback does not show the exception.
  const raisedBy = said.replace(/^(?:Caused by: |Uncaught |Unhandled exception\. |ERROR: |LoadError: )+/, '');
  // An exception without a module, below frames, is of the code itself.
  const isCertain =
    name !== undefined &&
    // A message on later lines may be about anything.
    !/:\s*$/.test(said) &&
    (isTraceback || !OF_MACHINES.test(said)) &&
    (OF_CODE.test(raisedBy) || (isTraceback && (cell !== null || raisedBy.startsWith(name))));
  const named = isCertain || isTraceback ? null : causeOf(raisedBy)?.cause;
  if (named != null) return { kind: named.kind, fault: named.fault, says: named.says, ...exception, ...line };
  return { kind: 'exception', fault: isCertain ? 'model' : null, says, ...exception, ...line };
}

const COLOUR = String.raw`(?:\x1b\[[\d;]*m)*`;
/** IPython names the exception above the frames, and again below them. */
const NOTEBOOK_HEADER = new RegExp(
  String.raw`(?:^|\n)${COLOUR}([A-Za-z_][\w.]*)${COLOUR} +Traceback \(most recent call last\)${COLOUR}[ \t]*(?=\n|$)`,
);
/** The first frame, if the header is cut off or missing (code that does not parse). */
const NOTEBOOK_FRAME = new RegExp(
  String.raw`^\s*${COLOUR}(?:Cell ${COLOUR}In *\[\d+\]|Input ${COLOUR}In \[\d+\]|(?:File )?${COLOUR}<ipython-input-\d+-\w+>)[^\n]*\n`,
);

/** The line of an IPython traceback that names the exception; null without such a traceback. */
function notebookException(text: string): { start: number; end: number; name: string | undefined } | null {
  if (!text.includes('Traceback (most recent call last)') && !/\b(?:In|ipython-input)\b/.test(text.slice(0, 100)))
    return null;
  const header = NOTEBOOK_HEADER.exec(text) ?? NOTEBOOK_FRAME.exec(text);
  if (header === null) return null;
  const name = header[1];
  const from = header.index + header[0].length;
  let last: { start: number; end: number } | null = null;
  for (let at = text.indexOf('\n', from - 1); at !== -1; at = text.indexOf('\n', at + 1)) {
    const colours = /^(?:\x1b\[[\d;]*m)*/.exec(text.slice(at + 1, at + 60))?.[0].length ?? 0;
    const line = lineFrom(text, at + 1 + colours);
    const words = text.slice(line.start, line.end);
    if (name === undefined ? RAISED.test(words) : words.startsWith(name)) last = line;
  }
  if (last === null && name === undefined) return null;
  return { ...(last ?? lineFrom(text, header.index + header[0].search(/\S|$/))), name: name?.split('.').at(-1) };
}

/** The last place at which the words begin a line, ignoring indents and quote marks. */
function lineStart(text: string, words: string): number {
  // A check from the front first: it is many times faster, and most texts do not contain it.
  if (!text.includes(words)) return -1;
  for (let at = text.lastIndexOf(words); at !== -1; at = at === 0 ? -1 : text.lastIndexOf(words, at - 1)) {
    const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
    if (before.length < 40) return at;
  }
  return -1;
}

/** Frames are indented: the first unindented line after a traceback names the exception. */
function exceptionLine(text: string, traceback: number): { start: number; end: number } {
  for (let at = text.indexOf('\n', traceback); at !== -1; at = text.indexOf('\n', at + 1))
    if (/\S/.test(text[at + 1] ?? ' ')) return lineFrom(text, at + 1);
  // Truncated within the traceback: its last line is all there is.
  const end = text.trimEnd().length;
  return { start: text.lastIndexOf('\n', end - 1) + 1, end };
}

function lineFrom(text: string, start: number): { start: number; end: number } {
  const newline = text.indexOf('\n', start);
  return { start, end: newline === -1 ? text.length : newline };
}
