import type { ErrorKind, Fault } from './error-kind.ts';

/** The cause named in an error message. */
export interface ErrorCause {
  pattern: RegExp;
  kind: ErrorKind;
  fault: Fault | null;
  says: string;
  /** Words that are a cause only in a message that calls itself an error. */
  loose?: true;
  /** The form of a program's message: no sentence about errors looks like it. */
  exact?: true;
}

/** Ordered: specific before general. Searched for in the first lines of a message. */
const ERROR_CAUSES: readonly ErrorCause[] = [
  {
    pattern:
      /^rate ?limit:|rate[ _-]?limit(?:ed|ing|s)?\b(?: \w+){0,3} (?:exceeded|reached|hit|error)|\brate[ _-]?limit(?:ed|[ _]?error|[ _]exceeded)\b|code = ResourceExhausted|too many requests|RequestLimitExceeded|\b\d{3} rate ?limit|^RateLimit|\bSlowDown\b|\bquota (?:\w+ )?exceeded|exceeded your (?:current )?(?:\w+ )?quota|\bRESOURCE_EXHAUSTED\b|\brequest was throttled|\bThrottlingException|(?:status|error|code|http)[ :=(]{1,3}429\b/i,
    kind: 'rate_limit',
    fault: 'world',
    says: 'too many requests',
  },
  {
    pattern:
      /\b(?:connection|connect)\s*(?:was |has been )?(?:refused|reset|aborted|closed|timed out|time-?out|lost|failed)\b|connection error\b|Connect(?:ion)?(?:Timeout|Error|Refused|Reset)|\b(?:Read|Pool|Proxy|Remote)(?:TimeoutError|Timeout|Error|ProtocolError|Disconnected)\b|Errno (?:111|104|110|113)\b|\bE(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|PIPE)\b|name or service not known|(?:temporary )?failure in name resolution|(?:could not|unable to|cannot) resolve (?:host|proxy)|getaddrinfo|no route to host|no such host|unknown ?host(?:exception)?\b|network (?:is )?unreachable|network error|max retries exceeded|failed to establish a new connection|(?:could not|couldn't|cannot|can't|failed to|unable to) (?:connect|reach)\b|remote end closed|server disconnected|socket hang up|upstream (?:connect error|request timeout)|(?:disconnect|reset) before headers|no healthy upstream|certificate verify failed|SSL(?:Error|: )|tunnel connection failed|dial (?:tcp|udp)|peer closed connection|fetch failed|ERR_(?:CONNECTION|NAME|TUNNEL|PROXY|CERT|SSL|ADDRESS|INTERNET|NETWORK|TIMED|EMPTY)_\w+|DNS (?:lookup|resolution)|all connection attempts failed|incomplete chunked read|IncompleteRead\(|connection broken|unexpected EOF on client connection|(?:SSL )?certificate (?:problem|has expired|is not trusted)|self[- ]signed certificate|\bx509: |server has gone away|lost connection to \w+|server closed the connection|transport is closing|code = Unavailable|request canceled while waiting|too many (?:clients|connections)|the database system is (?:starting|shutting)|\bNCCL error|temporary failure resolving|the connection to the server [^\n]{1,80} was refused|connection unexpectedly closed|failed to fetch `?https?:|\bdns error\b|RPC failed; curl|communications link failure|NoBrokersAvailable|no listener\b|fail(?:ed|ure)? connecting to|unable to communicate with|couldn't communicate with|^warning: retrying \(|^LOADING Redis/i,
    kind: 'unavailable',
    fault: 'world',
    says: 'the server could not be reached',
  },
  {
    pattern:
      /\b(?:HTTP|status(?: code)?|code|error|failed|response|returned)\b[^\n\d]{0,20}\b5\d\d\b(?! (?!internal|bad|service|gateway|server|error)\w)|\b50[0-9] (?:internal|bad gateway|service|gateway|server|error)|\(50[0-9]\)|service (?:is )?(?:temporarily |currently )?(?:unavailable|overloaded)|bad gateway|gateway time-?out|internal server error|server (?:is )?(?:overloaded|busy|unavailable|error)|\bservice \w* ?(?:is )?unavailable|temporarily unavailable|is currently overloaded|^overloaded\b|overloaded_error|\bUNAVAILABLE\b|(?:request|call)s? failed (?:or timed out )?after (?:\d+ )?(?:retries|attempts)/i,
    kind: 'unavailable',
    fault: 'world',
    says: 'a server failed, or was not there',
  },
  {
    pattern: /no space left on device|disk quota exceeded|\bENOSPC\b|too many open files|\bEMFILE\b/i,
    kind: 'exception',
    fault: 'world',
    says: 'the machine ran out of room',
  },
  {
    pattern:
      /out of memory|OutOfMemory|\bOOM(?:[- ]?killed)?\b|memory allocation of \d+ bytes failed|cannot allocate memory|memory limit exceeded|exceeded (?:the )?memory|std::bad_alloc|^terminate called after[^\n]*bad_alloc|^MemoryError|heap out of memory|unable to allocate|\bENOMEM\b|(?:exit(?:ed with)?|return|status)(?: code)?[ :]*137\b|^Killed\s*$|^[^\n]{0,80}: (?:line \d+: )?\s*\d+ Killed\b|killed by signal 9|signal:? (?:9|killed)|SIGKILL/i,
    kind: 'out_of_memory',
    fault: null,
    says: 'it needed more memory than it was allowed, or was killed',
  },
  {
    pattern:
      /segmentation fault|SIGSEGV|core dumped|dumped core|stack smashing detected|double free or corruption|^(?:free|malloc|realloc)\(\): |^corrupted size|terminated by signal \d+|^zsh: (?:abort|bus error|segmentation)|^(?:bus error|floating point exception|aborted \()|illegal instruction|SIGABRT|exit(?:ed with)? code 139|\(signal 11\)/i,
    kind: 'exception',
    fault: null,
    says: 'the program crashed',
  },
  {
    pattern:
      /\bCUDA error\b|\bcu(?:BLAS|DNN)\w* (?:error|status)|database (?:table )?is locked|deadlock (?:detected|found)/i,
    kind: 'exception',
    fault: null,
    says: 'the code raised an exception',
  },
  {
    pattern: /\bcannot connect to the docker daemon\b/i,
    kind: 'sandbox',
    fault: 'world',
    says: 'the sandbox broke',
    exact: true,
  },
  {
    pattern:
      /\bsandbox\b[^\n]{0,40}(?:error|fail|crash|died|lost|unavailable|not (?:available|running|found|ready))|no such container\b|(?:docker|container)[^\n]{0,40}(?:not running|exited|died|daemon|is stopped|failed to start)|(?:jupyter |ipython )?kernel (?:has )?(?:died|crashed|is dead|appears to have died|not responding)|browser has been closed|target (?:page|closed)|page crashed/i,
    kind: 'sandbox',
    fault: 'world',
    says: 'the sandbox broke',
  },
  {
    pattern:
      /\btimed[ -]?out\b|\btime-?out (?:after|error|expired|exceeded|of|reached)\b|^time-?out\b|: time-?out\b|time ?limit exceeded|TimeoutExpired|deadline exceeded|execution time (?:limit )?exceeded|exceeded the (?:time ?out|time limit)|took too long/i,
    kind: 'timeout',
    fault: null,
    says: 'it took longer than it was allowed',
  },
  {
    pattern:
      /^panic: |^fatal error: (?![^\n]*(?:no such file|out of memory|heap))|^thread '[^']+' panicked|^exception in thread\b|^PHP (?:fatal|parse) error: |^uncaught \w*error\b|^\[?unhandled ?(?:promise ?rejection|exception)|^\*\*\* Exception: |\battempt to (?:index|call|perform|compare|concatenate)\b|: undefined (?:local variable|method) |\((?:Name|NoMethod|Type|Argument|Zero ?Division|Key|Index|Runtime)Error\)$/i,
    kind: 'exception',
    fault: 'model',
    says: 'the code raised an exception',
    exact: true,
  },
  {
    pattern: /^your proposed edit has introduced|^awk: (?:cmd\. line|line \d+)|\bsyntax error at \S+ line \d+/i,
    kind: 'syntax',
    fault: 'model',
    says: 'the code does not parse',
    exact: true,
  },
  {
    pattern:
      /: error: (?:the following arguments are required|unrecognized arguments|argument \S+: |invalid choice)|^[\w.-]{1,40}: (?:unknown|unrecognized|invalid) (?:flag|option|argument)/i,
    kind: 'bad_arguments',
    fault: 'model',
    says: 'the command has no such option',
    exact: true,
  },
  {
    pattern:
      /ClassNotFoundException|NoClassDefFoundError|^can't locate \S+\.pm in @INC|cannot find package|no required module provides package|could not find or load main class|^no matching package named|: no matching package named/i,
    kind: 'missing_module',
    fault: null,
    says: 'a module is missing',
    exact: true,
  },
  {
    pattern:
      /(?:unknown|unrecogni[sz]ed|invalid|unsupported|no such|undefined) (?:tool|function)\b(?! call)|(?:tool|function)[ :]+['"`]?[\w.-]+['"`]? (?:was |is |could )?(?:not (?:found|available|defined|registered|be found|supported|recogni[sz]ed|a valid)|does(?: not|n't) exist)|no (?:tool|function) (?:named|called)|is not a (?:valid|known|registered) (?:tool|function)/i,
    kind: 'unknown_tool',
    fault: 'model',
    says: 'the model called a function that does not exist',
  },
  {
    pattern:
      /invalid json|json ?decode ?error|not (?:a )?valid json|JSON\.parse|(?:failed|unable|could not|cannot) (?:to )?(?:parse|decode)[^\n]{0,40}(?:json|argument|tool call|function call)|expecting (?:value|property name|',' delimiter|':' delimiter)|unexpected (?:token|end of (?:json|input))[^\n]{0,40}json|malformed (?:json|tool call|function call)/i,
    kind: 'bad_json',
    fault: 'model',
    says: 'the call was no JSON',
  },
  {
    pattern:
      /missing (?:\d+ )?(?:a )?(?:required )?(?:positional |keyword-only )?(?:argument|parameter|param|field|property)|unexpected (?:keyword )?argument|invalid (?:argument|parameter|param|tool input|input)s?\b|(?:input )?validation error|field required|required (?:property|parameter|argument|field)|is a required property|additional properties are not allowed|is not of type|(?:argument|parameter|param|field) ['"`]?\w+['"`]? (?:is required|is missing|must be|should be|was not provided)|takes (?:from )?\d+[^\n]{0,20}positional arguments?|Invalid params|input should be a valid/i,
    kind: 'bad_arguments',
    fault: 'model',
    says: "the call's arguments were not what the tool takes",
  },
  {
    pattern: /^[\w.-]{1,40}: (?:invalid|unrecogni[sz]ed|unknown|illegal) option\b/i,
    kind: 'bad_arguments',
    fault: 'model',
    says: 'the command has no such option',
  },
  {
    pattern:
      /no module named|cannot find module|ModuleNotFoundError|there is no package called|error while loading shared libraries|cannot find -l\w/i,
    kind: 'missing_module',
    fault: 'world',
    says: 'a module is missing',
  },
  {
    pattern:
      /(?:string to replace|old_str\w*|search (?:block|text|string))[^\n]{0,40}not found|did not appear verbatim|^no replacement was (?:performed|made)|(?:multiple|\d+) (?:occurrences|matches) of (?:the )?(?:string to replace|old_str\w*|search)|file has not been read yet|(?:element|node|ref|link|button)\b[^\n]{0,40} (?:does not exist|not found|is not (?:visible|clickable|attached))|^no element (?:found|matches)/i,
    kind: 'rejected',
    fault: 'model',
    says: 'the tool could not find what the call names',
    exact: true,
  },
  {
    pattern: /^the user (?:doesn't|does not) want to|tool use was rejected|rejected by (?:the )?user/i,
    kind: 'rejected',
    fault: null,
    says: 'a person or a rule refused the call',
    exact: true,
  },
  {
    pattern:
      /error in your SQL syntax|\bsyntax error (?:at or )?near\b|^incorrect syntax near\b|^unrecognized token: /i,
    kind: 'syntax',
    fault: 'model',
    says: 'the code does not parse',
    exact: true,
  },
  {
    pattern:
      /^(?:table|column|relation|view|function|schema|type)\b [^\n]{1,80} (?:does not|doesn't) exist|(?:^|, )no such (?:table|column)\b|^(?:unknown|invalid) (?:column|table|object) (?:name )?['"]|\btable \S+ (?:does not|doesn't) exist|\bunrecognized name: |table or view does not exist|invalid identifier\b|^ambiguous column name/i,
    kind: 'exception',
    // The model may have named it wrongly, or the database may never have been filled.
    fault: null,
    says: 'the query names what the database does not have',
    exact: true,
  },
  {
    pattern:
      /violates (?:unique|foreign key|check|not-null) constraint|\b(?:UNIQUE|FOREIGN KEY|CHECK|NOT NULL) constraint failed|duplicate key error|^duplicate entry '/i,
    kind: 'exception',
    fault: null,
    says: 'the database refused the change',
    exact: true,
  },
  {
    pattern:
      /(?:\.\w{1,5}|:\d+):\d+: (?:fatal )?error: (?![^\n]*no such file)|^(?:\.\/)?[\w/.-]+\.go:\d+:\d+: |\bundefined reference to\b|\bld returned \d+ exit status|^undefined symbols for architecture|\berror (?:TS|CS|FS|BC)\d{4}: |^TS\d{4,5}: |^error\[E\d{4}\]|: error: cannot find symbol|^# command-line-arguments$|^(?:\/\S*\/)?ld(?:\.\w+)?: /i,
    kind: 'syntax',
    fault: 'model',
    says: 'the code does not compile',
    exact: true,
  },
  {
    pattern:
      /\bunterminated (?:`|address|regexp|string|quoted)|^(?:unmatched|unbalanced|unknown command: |invalid (?:regular expression|preceding|back ?reference|range end))|: (?:paths must precede expression|missing operand|extra operand|missing (?:file )?operand|unbound variable)\b|(?:^|: )(?:paths must precede expression|no matches found: |unmatched [[({]|missing operand)/i,
    kind: 'syntax',
    fault: 'model',
    says: 'the command does not parse',
    exact: true,
  },
  {
    pattern: /^make(?:\[\d+\])?: \*\*\* no rule to make target/i,
    kind: 'exception',
    fault: 'model',
    says: 'the command does not exist',
    exact: true,
  },
  {
    pattern:
      /^make(?:\[\d+\])?: \*\*\* |^(?:npm ERR!|npm error|yarn error|E:) |^command failed with exit (?:code|status) [1-9]|^CONFLICT \(|automatic merge failed|^command exited with (?:code|status) [1-9]|unable to locate (?:package|credentials)|no matching distribution/i,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    pattern:
      /^this site can.t be reached|^(?:the )?(?:page|site|server) (?:could not be|cannot be|can't be) (?:reached|loaded)/i,
    kind: 'unavailable',
    fault: 'world',
    says: 'the server could not be reached',
    exact: true,
  },
  {
    pattern:
      /^(?:please )?verify (?:that )?you are (?:a )?human|^just a moment\.\.\.$|^checking your browser|^are you a robot\b|^enable javascript and cookies|^(?:your )?session (?:has )?expired\b|^(?:please )?(?:sign|log) in to continue|^request entity too large|^payload too large|^[\w|]+ did not understand your|^no data found\b|^\w+: no data found/i,
    kind: 'rejected',
    fault: null,
    says: 'a person or a rule refused the call',
    exact: true,
  },
  {
    pattern:
      /^invalid (?:action|tool call|function call|command)\b[.:]|^action failed\b|\belement (?:is )?not (?:interactable|clickable|visible|found)\b|\bhas no matching tool\b|^no matching tool/i,
    kind: 'rejected',
    fault: 'model',
    says: 'the tool could not find what the call names',
    exact: true,
  },
  {
    pattern:
      /^(?:BUILD FAILED\b|--- FAIL: |✖ \d+ problems?\b|FAILURE: Build failed|npm run \w+ failed)|^[\w-]*sh: !\S*: event not found|^[^\n:]{1,60}: argument list too long$|^kill: \(\d+\) - no such process|^sudo: |^-?[\w/]*sh: [^\n]{1,80}: (?:bad interpreter|cannot execute)/i,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    pattern: /^access to this (?:page|site|resource|url|file)[^\n]{0,40} denied/i,
    kind: 'rejected',
    fault: null,
    says: 'a person or a rule refused the call',
    exact: true,
  },
  {
    pattern:
      /^an error occurred \(\w+\) when calling|^[\w./+-]{1,40}: (?:fatal )?error(?: \([^\n)]*\))?: |^ERROR collecting |: exit status [1-9]\d*$|^error response from daemon: (?![^\n]*container)|^Msg \d+, Level \d+/i,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    pattern: /^(?:FAILED [\w./-]+::\S|E {2,}\w+(?:Error|Exception)\b|E {2,}assert )/,
    kind: 'exception',
    fault: 'model',
    says: 'a test failed',
    exact: true,
  },
  {
    pattern:
      /command not found|(?:^|: )\S{1,40}: not found\s*$|is not recognized as an internal or external command|executable file not found/i,
    kind: 'exception',
    // The model may have named a wrong program, or the machine may lack it.
    fault: null,
    says: 'the command does not exist',
  },
  {
    pattern:
      /^(?:\w*: )?(?:\w+ )?syntax ?error\b|syntax error near|SyntaxError|IndentationError|unexpected EOF while|parse error\b|unexpected end of file|compil(?:ation|e) (?:error|failed)|invalid syntax/i,
    kind: 'syntax',
    fault: 'model',
    says: 'the code does not parse',
  },
  {
    pattern:
      /no such file or directory|file (?:was )?not found|FileNotFoundError|\bENOENT\b|cannot (?:access|stat|open|find (?:or open|the (?:file|path)))|permission to \S+ denied|not a directory|is a directory|directory not empty|file exists|permission denied|\bE(?:ACCES|PERM|ISDIR|NOTDIR|EXIST)\b|operation not permitted|read-only file ?system|access (?:is )?denied/i,
    kind: 'exception',
    fault: null,
    says: 'the operating system refused what was asked for',
  },
  {
    pattern:
      /\b(?:HTTP|status(?: code)?|code|error|response|returned)\b[^\n\d]{0,20}\b4\d\d\b|\b40[0-9] (?:bad request|unauthorized|forbidden|not found|client error|method|payment)|unauthorized|forbidden|invalid api key|incorrect api key|authentication (?:failed|error|required)|not authenticated/i,
    kind: 'http',
    fault: null,
    says: 'a request was refused',
    loose: true,
  },
  {
    pattern:
      /^panic: |thread '\w+' panicked|exception in thread|uncaught (?:exception|\w*error)|unhandled (?:exception|rejection)|terminate called after(?![^\n]*bad_alloc)|assertion (?:`|')?[^\n]{0,80}failed|^fatal error: |runtime error: |stack overflow|maximum recursion depth|division by zero/i,
    kind: 'exception',
    fault: 'model',
    says: 'the code raised an exception',
  },
  {
    pattern:
      /internal (?:tool )?error|tool (?:execution |call )?(?:failed|crashed)|error (?:while |when |in )?(?:executing|running|calling) (?:the )?(?:tool|function)|unexpected error/i,
    kind: 'tool_failure',
    fault: 'tool',
    says: 'the tool call raised an exception',
  },
];

/** Words before a message that mark it as an error. */
const PREFIX =
  /^\s*(?:(?:\[|<|\*\*|❌\s*|⚠️?\s*)?(?:tool_use_error|error (?:when|while) executing (?:the )?tool|tool call failed|tool execution (?:error|failed)(?: with error)?|an unexpected error occurred|tool[ _]?error|execution error|runtime error|api (?:request )?error|error executing (?:tool|code|command)|search error|rpc error|mcp error -?\d+|\(error\)|Code: \d+\. DB::Exception|error (?:from|in|response|while|when|during|reading|opening|loading|near)\b[^\n:]{0,60}|error \[\w+\]|error \d{4} \(\w{5}\)(?: at line \d+)?|ORA-\d{5}|Msg \d+, Level \d+, State \d+(?:, Line \d+)?|npm ERR!|fetch error|error|exception|err|fatal|failed|failure|warning: error)(?:\]|>|\*\*)?\s*(?:[:：]|-|(?<=[\]>*]))\s*)+/i;

/** The message of an error in JSON: the first of these keys that contains words. */
const MESSAGE =
  /^\s*\{[^{}[\]]{0,200}?"(?:error|error_message|message|errors|detail|details|reason|errmsg|msg)"\s*:\s*(?:\[\s*(?=\{))?(?:\{[^{}]{0,200}?"(?:message|msg|detail)"\s*:\s*)?"((?:[^"\\]|\\.){1,600})/;
/** A JSON answer whose words alone may be an error. */
const ANSWER =
  /^\s*\{\s*"(?:result|output|content|response|text|stdout|stderr)"\s*:\s*"((?:[^"\\]|\\.){1,600})"\s*[,}]/;

/** The title of a page, as proxies send it instead of an answer. */
const PAGE = /^\s*<(?:!doctype html|html)\b[^<]*(?:<head\b[^<]*)?(?:<meta\b[^<]*)*<title>([^<]{1,200})<\/title>/i;
/** `Failed to fetch page: …` */
const FAILED_TO = /^\s*(?:failed|unable|could not|cannot|error) (?:to )?\w+[^\n:]{0,60}: /i;
/** A class of a module, as Python prints an exception: `google.api_core.exceptions.NotFound: …`. */
const CLASS = /^\s*(?:[a-z_]\w*\.)+_?[A-Z]\w+: /;

/** Longer texts that do not call themselves an error are answers, whatever words they contain. */
const SHORT = 320;
const HEAD = 600;

/** The cause named in the text of a result; null if it is not an error, or names none. */
export function causeOf(text: string): { cause: ErrorCause; start: number } | null {
  const start = text.search(/\S/);
  if (start === -1) return null;
  const message = MESSAGE.exec(text);
  const quoted = message ?? ANSWER.exec(text) ?? PAGE.exec(text);
  const whole = quoted === null ? text.slice(start, start + HEAD) : (quoted[1] ?? '');
  const prefix = PREFIX.exec(whole)?.[0] ?? FAILED_TO.exec(whole)?.[0] ?? CLASS.exec(whole)?.[0] ?? '';
  const said = whole.slice(prefix.length);
  const cause =
    message !== null
      ? (inMessage(said) ?? inMessage(text.slice(start, start + HEAD)))
      : prefix !== ''
        ? (inMessage(said) ?? (CLASS.test(whole) ? inMessage(whole) : exactIn(whole)))
        : atStart(said, (quoted === null ? text.length : whole.length) - start);
  return cause === null ? null : { cause, start };
}

const exactIn = (message: string): ErrorCause | null =>
  ERROR_CAUSES.find(({ pattern, exact }) => exact === true && pattern.test(message)) ?? null;

const inMessage = (message: string): ErrorCause | null =>
  ERROR_CAUSES.find(({ pattern }) => pattern.test(message)) ?? null;

/** Prefixes that programs put before their message: `curl: (7) `, `bash: line 1: `, `search failed: `. */
const PROGRAM =
  /^(?:(?:dial|read|write|accept) (?:tcp|udp)\d? \S{1,80}: |lookup \S{1,80}(?: on \S{1,60})?: |(?:Get|Post|Put|Delete|Head) "[^"\n]{1,200}": )?(?:[\w./-]{1,40}: ){0,3}(?:\(\d+\) |line \d+: |\[\w+ \d+\] )?|^[\w ]{2,30} (?:failed|error)(?: for [^\n:]{1,60})?: /i;
/** The end of a message that starts with the name of a file or host: `cat: x.csv: No such file or directory`. */
const ENDS = /^[\w./()'" -]{1,40}: [^\n]{1,200}$/;

/** A text without a word for an error is one if it begins with its cause and contains little else. */
function atStart(message: string, length: number): ErrorCause | null {
  if (length > SHORT) return null;
  const [first = '', second = ''] = message.split('\n', 2);
  // `x.c: In function 'main':` announces the message of the next line.
  const line = first.endsWith(':') && exactIn(second) !== null ? second : first;
  const program = PROGRAM.exec(line)?.[0].length ?? 0;
  const near = ENDS.test(line) ? line.length : NEAR;
  for (const cause of ERROR_CAUSES) {
    if (cause.loose === true) continue;
    const at = line.search(cause.pattern);
    if (at === -1 || at > Math.max(program + NEAR, near)) continue;
    if (cause.exact === true) return cause;
    // An answer may quote the words of a question.
    if (QUOTED.test(line.slice(0, at))) continue;
    // A sentence about an error has a reporting verb, or an article, before it.
    const behind = line.slice(at + (cause.pattern.exec(line)?.[0].length ?? 0));
    if (SENTENCE.test(line.slice(0, at)) || ABOUT.test(line) || CONTINUES.test(behind)) continue;
    return cause;
  }
  return null;
}

const NEAR = 24;
const QUOTED = /^[^"]+ "[^"]*$/;
const SENTENCE =
  /\b(?:the page|article|about|how|why|when|if|explains?|means?|says?|called|word|is an?|are|was|were)\b/i;
/** The sentence continues after the words. */
const CONTINUES = /\b(?:is|are|was|were|means|until|which|who|whose|because)\b/i;
/** A sentence about errors in general. */
const ABOUT =
  /\b(?:how to|means that|is an error|are set|people|you can|you should|page about|documentation|guide|tutorial|troubleshoot\w*|faq|happens when|occurs when|indicates)\b/i;

/** A cause more specific than the exception's class: a `RuntimeError` may be memory that ran out. */
export const worldsCause = (line: string): ErrorCause | null => {
  const cause = inMessage(line.slice(0, HEAD));
  return cause !== null && (cause.fault === 'world' || cause.fault === null) ? cause : null;
};
