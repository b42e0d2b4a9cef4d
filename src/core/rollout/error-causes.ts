import type { ErrorCause } from './error-kind.ts';
import { SENTENCE_CAUSES } from './error-sentences.ts';
import { TABLE_CAUSES } from './error-tables.ts';

/** Ordered: specific before general. Searched for in the first lines of a message. */
export const ERROR_CAUSES: readonly ErrorCause[] = [
  ...SENTENCE_CAUSES,
  {
    pattern:
      /^rate ?limit:|rate[ _-]?limit(?:ed|ing|s)?\b(?: \w+){0,3} (?:exceeded|reached|hit|error)|\brate[ _-]?limit(?:ed|[ _]?error|[ _]exceeded)\b|code = ResourceExhausted|too many requests|RequestLimitExceeded|\b\d{3} rate ?limit|^RateLimit|\bSlowDown\b|(?<!disk )\bquota (?:\w+ )?exceeded|exceeded (?:your|the) (?:\w+ ){0,3}quota|insufficient[_ ]quota|\b(?:run|ran) out of (?:\w+ )?(?:searches|credits|requests|quota)\b|\bRESOURCE_EXHAUSTED\b(?!: out of memory)|\brequest was throttled|\bThrottlingException|(?:status|error|code|http)[ :=(]{1,3}429\b/i,
    kind: 'rate_limit',
    fault: 'world',
    says: 'too many requests',
  },
  {
    pattern:
      /\b(?:connection|connect)\s*(?:was |has been )?(?:refused|reset|abort(?:ed)?|closed|timed out|time-?out|lost|failed)\b|connection error\b|Connect(?:ion)?(?:Timeout|Error|Refused|Reset)|\b(?:Read|Pool|Proxy|Remote)(?:TimeoutError|Timeout|Error|ProtocolError|Disconnected)\b|Errno (?:111|104|110|113)\b|\bE(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|PIPE)\b|name or service not known|(?:temporary )?failure in name resolution|(?:could not|unable to|cannot) resolve (?:host|proxy)|getaddrinfo|no route to host|no such host|unknown ?host(?:exception)?\b|network (?:is )?unreachable|network error|max retries exceeded|failed to establish a new connection|(?:could not|couldn't|cannot|can't|failed to|unable to) (?:connect|reach)\b|remote end closed|server disconnected|socket hang up|upstream (?:connect error|request timeout|prematurely closed)|(?:disconnect|reset) before headers|no healthy upstream|certificate verify failed|SSL(?:Error|: )|tunnel connection failed|dial (?:tcp|udp)|TLS handshake|\b(?:not |un)reachable\b|peer closed connection|fetch failed|ERR_(?:CONNECTION|NAME|TUNNEL|PROXY|CERT|SSL|ADDRESS|INTERNET|NETWORK|TIMED|EMPTY)_\w+|DNS (?:lookup|resolution)|all connection attempts failed|incomplete chunked read|IncompleteRead\(|connection broken|unexpected EOF on client connection|(?:SSL )?certificate (?:problem|has expired|is not trusted)|self[- ]signed certificate|\bx509: |server has gone away|lost connection to \w+|server closed the connection|transport is closing|code = Unavailable|request canceled while waiting|too many (?:clients|connections)|the database system is (?:starting|shutting)|\bactively refused|\bno (?:healthy )?upstreams? (?:available|found)|invalid response from (?:an |the )?(?:upstream|inbound|origin)|\babnormal closure\b|\bclose 1006\b|\bstream was reset\b|^(?:the )?(?:application|server|service|backend|upstream|host) (?:failed to respond|did not respond|is not responding)|\bNCCL (?:error|communicator|operation|watchdog|collective)|(?:unable|failed) to (?:determine|find|look ?up) (?:the )?(?:IP|host)|temporary failure resolving|the connection to the server [^\n]{1,80} was refused|connection unexpectedly closed|failed to fetch `?https?:|\bdns error\b|RPC failed; curl|communications link failure|NoBrokersAvailable|no listener\b|fail(?:ed|ure)? connecting to|^warning: retrying \(|^LOADING Redis/i,
    kind: 'unavailable',
    fault: 'world',
    says: 'the server could not be reached',
  },
  {
    pattern:
      /\b(?:HTTP|status(?: code)?|code|error|failed|response|returned)\b[^\n\d]{0,20}\b5\d\d\b(?! (?!internal|bad|service|gateway|server|error)\w)|\b50[0-9] (?:internal|bad gateway|service|gateway|server|error)|\(50[0-9]\)|service (?:is )?(?:temporarily |currently )?(?:unavailable|overloaded)|bad gateway|gateway time-?out|internal server error|server (?:is )?(?:overloaded|busy|unavailable|error)|\bservice \w* ?(?:is )?unavailable|temporarily unavailable|is currently overloaded|^overloaded\b|overloaded_error|\bUNAVAILABLE\b|(?:currently |temporarily )?unable to handle the request|temporary overload\w*|(?:request|call)s? failed (?:or timed out )?after (?:\d+ )?(?:retries|attempts)/i,
    kind: 'unavailable',
    fault: 'world',
    says: 'a server failed, or was not there',
  },
  {
    pattern:
      /\bno (?:CUDA|GPU|nvidia|TPU)\b[^\n]{0,30}(?:available|found|detected|driver)|(?:unable to|cannot|could not|couldn't) communicate with|\bnccl\w*Error\b|(?:address|port) is already (?:in use|allocated)|address already in use|\bEADDRINUSE\b|insufficient nvidia\.com|driver version is insufficient|found no nvidia driver|^[A-Z][\w-]* has failed because it\b/i,
    kind: 'exception',
    fault: 'world',
    says: 'the machine lacks what the program needs',
  },
  ...TABLE_CAUSES,
  {
    pattern: /no space left on device|disk quota exceeded|\bENOSPC\b|too many open files|\bEMFILE\b/i,
    kind: 'exception',
    fault: 'world',
    says: 'the machine ran out of room',
  },
  {
    pattern:
      /out of memory|OutOfMemory|\bOOM(?:[- ]?killed)?\b|memory allocation of \d+ bytes failed|(?:cannot|can't|could not|failed to|unable to) allocate\b|memory limit exceeded|exceeded (?:the )?memory|std::bad_alloc|^terminate called after[^\n]*bad_alloc|^MemoryError|heap out of memory|\bENOMEM\b|(?:exit(?:ed with)?|return|status)(?: code)?[ :]*137\b|^Killed\s*$|^\[\d+\][ +-]+(?:\d+ )?killed\b|^[^\n]{0,80}: (?:line \d+: )?\s*\d+ Killed\b|killed by signal 9|signal:? (?:9|killed)|SIGKILL/i,
    kind: 'out_of_memory',
    fault: null,
    says: 'it needed more memory than it was allowed, or was killed',
  },
  {
    pattern:
      /^(?:your |the )?(?:code|process|program|command|script|container|execution|job)\b[^\n]{0,40}(?:exceeded|over|out of|beyond)[^\n]{0,20}\bmemory\b/i,
    kind: 'out_of_memory',
    fault: null,
    says: 'it needed more memory than it was allowed, or was killed',
    exact: true,
  },
  {
    pattern:
      /^(?:your |the )?(?:code|process|program|command|script|container|execution|job|call)\b[^\n]{0,60}(?:for (?:more|longer) than|exceed(?:ed|ing)|reached|past)[^\n]{0,30}\b\d+(?:\.\d+)? ?(?:s|ms|sec|seconds?|min|minutes?|h|hours?)\b/i,
    kind: 'timeout',
    fault: null,
    says: 'it took longer than it was allowed',
    exact: true,
  },
  {
    pattern:
      /^(?:the |this |your )?(?:\w+ )?(?:service|server|model|database|instance|engine|backend|index)(?: \S+)? is (?:currently |still |temporarily |not yet )?(?:loading|starting|restarting|initiali[sz]ing|warming up|busy|overloaded|unavailable|down\b|offline|not (?:ready|responding|available)|ready)/i,
    kind: 'unavailable',
    fault: 'world',
    says: 'a server failed, or was not there',
    exact: true,
  },
  {
    pattern: /^(?:received|got|server returned|HTTP\/[\d.]+) 4\d\d [A-Z]/i,
    kind: 'http',
    fault: null,
    says: 'a request was refused',
    exact: true,
  },
  {
    pattern: /\bno such container\b/i,
    kind: 'sandbox',
    // The model may have named a wrong one.
    fault: null,
    says: 'the sandbox broke',
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
      /\bsandbox\b[^\n]{0,40}(?:error|fail|crash|died|lost|timed out|unavailable|not (?:available|running|found|ready))|docker daemon|\bcontainer(?: ['"`]?[\w.-]*\d[\w.-]*['"`]?)? (?:is |was |has )?(?:not running|exited|died|stopped|failed to start|not found)|session not created|(?:jupyter |ipython )?kernel (?:has |is )?(?:died|crashed|dead|appears to have died|not responding)|browser has been closed|failed to launch the browser|executable doesn't exist|\bback-?off\b[^\n]{0,30}(?:container|image|pull)|\b(?:ImagePull|CrashLoop)BackOff\b|target (?:page|closed|crashed)|(?:browser|page|session|tab|renderer) (?:has (?:been )?|was |is )?(?:closed|disconnected|crash(?:ed)?|detached|unresponsive)/i,
    kind: 'sandbox',
    fault: 'world',
    says: 'the sandbox broke',
  },
  {
    pattern:
      /\btimed[ -]?out\b|\btime-?out (?:after|error|expired|exceeded|of|reached)\b|\btime-?out (?:of )?\d+ ?m?s exceeded|^(?:UND_ERR|ERR|ESOCKET|ECONN)_?\w*TIME(?:D_?)?OUT$|\b(?:Connection|Response|Read|Request)Timeout$|\btime-?out during (?:read|write)|^time-?out(?!: (?:failed to run|invalid|unrecognized))(?=\s*(?:$|[:.!,])| (?:after|error|expired|exceeded|of|reached|while|waiting|in)\b)|: time-?out\b|time ?limit exceeded|TimeoutExpired|deadline exceeded|execution time (?:limit )?exceeded|exceeded the (?:time ?out|time limit)|took too long|\btime budget\b|\bdue to (?:\w+ )?timeout\b|wall[- ]?clock (?:time )?limit|(?:ran|running) for (?:more|longer) than \d|exceed(?:ed|ing) \d+ ?(?:s|ms|sec|seconds|minutes?)\b/i,
    kind: 'timeout',
    fault: null,
    says: 'it took longer than it was allowed',
  },
  {
    pattern:
      /^your proposed edit has introduced|^PHP parse error: |^awk: (?:cmd\. line|line \d+)(?![^\n]*fatal: )|\bsyntax error at \S+ line \d+/i,
    kind: 'syntax',
    fault: 'model',
    says: 'the code does not parse',
    exact: true,
  },
  {
    pattern:
      /^panic: |^fatal error: (?:all goroutines|concurrent map|stack overflow|uncaught|unexpected(?:ly)?|index out of|call to)|^thread '[^']+' (?:panicked|has overflowed)|^exception in thread\b|^PHP fatal error: |^\*\* \(\w+(?:\.\w+)*\) |^Error in [^\n]{1,80}\) : |^Prelude\.|^awk: [^\n]{0,60}fatal: |^[^\n]{1,160} at \S+\.p[lm] line \d+\b|^called `\w+::\w+\(\)` on an? `|^uncaught \w*error\b|^\[?unhandled ?(?:promise ?rejection|exception)|^\*\*\* Exception: |\battempt to (?:index|call|perform|compare|concatenate)\b|: undefined (?:local variable|method) |\((?:Name|NoMethod|Type|Argument|Zero ?Division|Key|Index|Runtime)Error\)$/i,
    kind: 'exception',
    fault: 'model',
    says: 'the code raised an exception',
    exact: true,
  },
  {
    pattern:
      /: error: (?:the following arguments are required|unrecognized arguments|argument \S+: |invalid choice)|^[\w.-]{1,40}: (?:unknown|unrecognized|invalid) (?:flag|option|argument)|^(?:unknown|unrecognized|invalid) (?:shorthand )?(?:flag|option)\b/i,
    kind: 'bad_arguments',
    fault: 'model',
    says: 'the command has no such option',
    exact: true,
  },
  {
    pattern:
      /ClassNotFoundException|NoClassDefFoundError|^can't locate \S+\.pm in @INC|cannot find package|no required module provides package|could not find or load main class|^no matching package named|: no matching package named|\bunresolved import\b|cannot find (?:module|package) '(?![./])[^'\n]{1,100}'(?= or its corresponding| imported from)/i,
    kind: 'missing_module',
    fault: null,
    says: 'a module is missing',
    exact: true,
  },
  {
    pattern:
      /(?:unknown|unrecogni[sz]ed|invalid|unsupported|no such|undefined) (?:tool|function)\b(?! call)|(?:tool|function)[ :]+['"`]?[\w.-]+['"`]? (?:was |is |could )?(?:not (?:found|available|defined|registered|be found|supported|recogni[sz]ed|a valid)|does(?: not|n't) exist)|no (?:tool|function) (?:named|called)|is not a (?:valid|known|registered) (?:tool|function)|^method not found|^(?:action|command) '[^'\n]{1,60}' is not supported/i,
    kind: 'unknown_tool',
    fault: 'model',
    says: 'the model called a function that does not exist',
  },
  {
    pattern:
      /invalid json|json ?decode ?error|not (?:a )?valid json|JSON\.parse|(?:failed|unable|could not|cannot) (?:to )?(?:parse|decode)[^\n]{0,40}(?:json|argument|tool call|function call)|expecting (?:value|property name|',' delimiter|':' delimiter)|unexpected (?:token|end of (?:json|input))[^\n]{0,40}json|malformed (?:json|tool call|function call)|unterminated string starting at|invalid control character at|extra data: line \d+/i,
    kind: 'bad_json',
    fault: 'model',
    says: 'the call was no JSON',
  },
  {
    pattern:
      /missing (?:\d+ )?(?:a )?(?:required )?(?:positional |keyword-only )?(?:argument|parameter|param|field|property)|unexpected (?:keyword )?argument|(?<!: )invalid (?:argument|parameter|param|tool input|input)s?\b(?! syntax)|(?:input )?validation error|field required|required (?:property|parameter|argument|field)|is a required property|additional properties are not allowed|is not of type|(?:argument|parameter|param|field) ['"`]?\w+['"`]? (?:is required|is missing|must be|should be|was not provided)|takes (?:from )?\d+[^\n]{0,20}positional arguments?|Invalid params|(?:arguments?|parameters?|input) (?:did|does|do) not match|input should (?:be|have|match)\b|\bexpected (?:an? )?(?:integer|int|string|number|float|bool|boolean|array|object|list|dict)\w*,? (?:but )?(?:got|received)\b|^['"`]\w+['"`] (?:must|should|cannot be|is required)|^\w+(?:\.\w+)* must be (?:an?|one of|less|greater|at (?:least|most)|between|before|after|positive|non-)/i,
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
      /no module named|cannot find module (?!['"][./])|ModuleNotFoundError|there is no package called|error while loading shared libraries|cannot find -l\w/i,
    kind: 'missing_module',
    fault: 'world',
    says: 'a module is missing',
  },
  {
    // The page may have changed under the model.
    pattern:
      /\b(?:element|node|ref|link|button)\b[^\n]{0,40} (?:is )?(?:not (?:interactable|clickable|visible|enabled|stable|attached)|outside of the viewport|detached)|\bstale element\b/i,
    kind: 'rejected',
    fault: null,
    says: 'the page did not allow it',
    exact: true,
  },
  {
    pattern:
      /(?:string to replace|old_str\w*|search (?:block|text|string))[^\n]{0,40}not found|did not appear verbatim|^no replacement was (?:performed|made)|(?:multiple|\d+) (?:occurrences|matches) of (?:the )?(?:string to replace|old_str\w*|search)|file has not been read yet|(?:element|node|ref|link|button)\b[^\n]{0,40} (?:does not exist|not found)|^no element (?:found|matches)/i,
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
      /(?:password|peer|ident) authentication failed|\b(?:access denied|login failed) for user\b|authentication failure\b/i,
    kind: 'rejected',
    fault: null,
    says: 'a person or a rule refused the call',
    exact: true,
  },
  {
    // Each resolver of versions has its sentence.
    pattern:
      /no solution found when resolving|could not find compatible versions|unable to resolve dependency|\bResolutionImpossible\b|version solving failed|conflicting dependencies|dependency conflict|could not resolve dependencies|unsatisfiable (?:requirements|dependencies)|failed to select a version/i,
    kind: 'exception',
    fault: null,
    says: 'the package manager found no versions that fit together',
    exact: true,
  },
  {
    // A shell names itself only before an error or a warning.
    pattern:
      /^-?(?:\/\S*\/)?(?:ba|z|da|k|a|fi)?sh: (?!warning)[^\n]*(?:ambiguous redirect|no matches found|bad (?:substitution|pattern|array subscript|option)|event not found|unbound variable|not a valid identifier|parse error|unmatched|readonly variable|numeric argument required|(?<!un)expected)/i,
    kind: 'exception',
    fault: 'model',
    says: 'the command does not parse',
    exact: true,
  },
  {
    pattern:
      /^-?(?:\/\S*\/)?(?:ba|z|da|k|a|fi)?sh: (?!warning|[^\n]*(?:not found|unexpected EOF|syntax error))[^\n]{3,200}$/i,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    pattern:
      /^(?:FAIL {1,2}\S+[./]\S|FAIL(?:ED)? ?\((?:failures|errors)=\d|tests?:? +(?:\S+ +)?\d+ failed|[1-9]\d* (?:tests? )?fail(?:ing|ed|ures?)\b(?=\s*$|,)|[^\n]*\n?\d+ examples?, [1-9]\d* failures?\b|not ok \d+\b|test result: FAILED|failures: [1-9]\d*,|(?:tests run: \d+, )?failures: [1-9]|\s*\d+\) [^\n]{1,100}:?\n\s+\w*Error\b|assertion failed:? |\d+ of \d+ tests failed)/i,
    kind: 'exception',
    fault: null,
    says: 'a test failed',
    exact: true,
  },
  {
    pattern:
      /^(?:ninja|meson|bazel|cmake|gradle|mvn|scons|waf|g?make|cargo|go|tox|nox|pre-commit|hatch|poetry|uv|pip|conda|npm|yarn|pnpm|bundle|gem|composer|helm|kubectl|terraform|ansible\S*): (?![^\n]*\b(?:succeeded|ok|done|success)\b)[^\n]*\b(?:stopped|failed|error|cannot|could not|unable|not found|aborted|abort|fatal|no such|invalid|unknown|missing)\b|^error: aborting due to|^\[?FAILED\]?: |\bsubcommand failed\b/i,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
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
      /(?:\.\w{1,5}|:\d+):\d+: (?:fatal )?error(?:\[\w+\])?: (?![^\n]*no such file)|^(?:\.\/)?[\w/.-]+\.(?:go|kts?|tsx?|cs|vb|fs|scala|swift|rs|hs|ml|zig|nim):? ?\(?\d+[,:] ?\d+\)?:? (?!warning|note|info|error TS|[^\n]*no such file)|\bundefined reference to\b|\bld returned \d+ exit status|^undefined symbols for architecture|\berror (?:TS|CS|FS|BC)\d{4}: |^TS\d{4,5}: |^error\[E\d{4}\]|: error: cannot find symbol|^could not compile\b|^# command-line-arguments$|^(?:\/\S*\/)?ld(?:\.\w+)?: /i,
    kind: 'syntax',
    fault: 'model',
    says: 'the code does not compile',
    exact: true,
  },
  {
    pattern:
      /\bunterminated (?:`|address|regexp|string|quoted)|^(?:unmatched|unbalanced|unknown command: |invalid (?:regular expression|preceding|back ?reference|range end))|: (?:paths must precede expression|missing operand|extra operand|missing (?:file )?operand|unbound variable)\b|(?:^|: )(?:paths must precede expression|unmatched [[({]|missing operand)/i,
    kind: 'syntax',
    fault: 'model',
    says: 'the command does not parse',
    exact: true,
  },
  {
    // A place in the source after the message: Django, Terraform, rustc, TeX.
    pattern:
      /^(?:invalid|unexpected|unknown|unsupported|unclosed|missing|undefined|duplicate|expected)\b[^\n]{0,80}(?: (?:at|on|in) line \d+\b|\n\s+(?:on \S+ line \d+|--> \S+:\d+))|^! [A-Z][^\n]{1,120}\.\nl\.\d+ /i,
    kind: 'syntax',
    fault: 'model',
    says: 'the code does not parse',
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
      /^make(?:\[\d+\])?: \*\*\* |^(?:npm ERR!|npm error|yarn error|E:) |^command failed with exit (?:code|status) [1-9]|^!? ?\[(?:remote )?rejected\]|failed to push some refs|did not complete successfully: exit code|^CONFLICT \(|automatic merge failed|^command exited with (?:code|status) [1-9]|unable to locate (?:package|credentials)|no matching distribution/i,
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
      /^(?:please )?verify (?:that )?you are (?:a )?human|^just a moment\.\.\.|^checking your browser|^are you a robot\b|^enable javascript and cookies|unusual traffic from your|^(?:your )?session (?:has )?expired\b|^(?:please )?(?:sign|log) in to continue|^request entity too large|^payload too large|^[\w|]+ did not understand your|^no data found\b|^\w+: no data found/i,
    kind: 'rejected',
    fault: null,
    says: 'a person or a rule refused the call',
    exact: true,
  },
  {
    pattern:
      /^invalid (?:action|tool call|function call|command)\b[.:]|^action failed\b|\belement (?:is )?not found\b|\bhas no matching tool\b|^no matching tool/i,
    kind: 'rejected',
    fault: 'model',
    says: 'the tool could not find what the call names',
    exact: true,
  },
  {
    pattern:
      /^(?:BUILD FAILED\b|--- FAIL: |✖ \d+ problems?\b|FAILURE: Build failed|npm run \w+ failed)|^[\w-]*sh: !\S*: event not found|^[^\n:]{1,60}: argument list too long$|^kill: \(\d+\) - no such process|^sudo: |\bis not in the sudoers file\b|^-?[\w/]*sh: [^\n]{1,80}: (?:bad interpreter|cannot execute)/i,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    pattern:
      /an error occurred \(\w+\) when calling|^AADSTS\d+: |\b(?:security |access |refresh |session )?token\b[^\n]{0,40} (?:is|has) expired\b|\bexpired ?token\b|^protocol error \(|\bno matches for kind "|\badmission webhook\b[^\n]{0,80}denied|^the \w+ "[^"\n]{1,100}" is invalid: |^access to this (?:page|site|resource|url|file)[^\n]{0,40} denied/i,
    kind: 'rejected',
    fault: null,
    says: 'a person or a rule refused the call',
    exact: true,
  },
  {
    pattern:
      /^[\w./+-]{1,40}(?: \((?:version |v?\d)[^\n)]{1,30}\))?: (?:fatal )?error(?: \([^\n)]*\))?: |^ERROR collecting |^SQLSTATE\[|^(?:[a-z_]\w*\.){2,}[A-Z]\w+: |(?:^|: )exit status [1-9]\d*$|^process (?:finished|exited) with (?:exit )?code [1-9]|cannot find module '[./]|^error response from daemon: (?![^\n]*container)|^Msg \d+, Level \d+|^ORA-\d{5}: |^curl: \(\d+\) |^wget: (?:missing|unable|invalid|unrecognized|bad)/i,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    pattern:
      /^(?:\/\S{1,60}\/)?(?!(?:note|title|result|answer|summary|warning|info|author|name)s?:)[a-z][\w.+-]{1,20}: (?:[Ee]rror (?:is|at|in|opening|reading|writing|processing|while|when)|Cannot|Can't|Could not|Couldn't|Authentication|Permission denied|Invalid|Unknown|Unable|Failed to|No such|Not a |Unrecognized|Unexpected)\b[^\n]{0,160}$/,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    pattern:
      /^(?:\/\S{1,60}\/)?(?:ar|awk|base64|bc|bzip2|cargo|cat|chmod|chown|cmp|convert|cp|cut|date|dd|df|diff|dig|docker|du|expr|ffmpeg|ffprobe|find|gcc|ghc|go|grep|g?zip|head|iconv|java|javac|join|jq|julia|kill|ln|ls|lua|mkdir|mount|mv|mysql|nc|node|octave|openssl|paste|patch|perl|php|printf|psql|R|readlink|realpath|rm|rmdir|rsync|ruby|[bdkz]?a?sh|scp|sed|seq|sort|split|sqlite3|ssh|stat|su|swift|tail|tar|tee|test|touch|tr|uniq|unzip|useradd|wc|xargs|xxd|xz|zstd)(?: error)?: +(?=[a-z`'"(/.[-])[^\n]{0,120}(?:\b(?:no|not|cannot|could not|can't|won't|invalid|missing|unknown|undefined|unrecognized|unsupported|illegal|bad|error|fail(?:ed|ure)?|denied|un(?:matched|terminated|expected|able)|expected|must|only|too (?:many|few|long|large))\b)[^\n]*(?:\n[^\n]*){0,3}$/,
    kind: 'exception',
    fault: null,
    says: 'the command ended with a failure',
    exact: true,
  },
  {
    // `Binder Error: …`, `CMake Error at f:4 (x):`, `LaTeX Error: …`; a measure or a title has a number or a capital behind it.
    pattern:
      /^(?:! )?(?!(?:Standard|Squared|Absolute|Relative|Mean|Root|Training|Validation|Test|Human|Medical|Trial|Type|Measurement|Rounding)\b)(?:[A-Z][\w-]*|[A-Z]\w+ [A-Z]\w+) Error(?: at [^\n]{1,80}(?:\n|:)|: (?![\d.]))/,
    kind: 'exception',
    fault: null,
    says: 'the program stated an error',
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
      /^(?:[\w.-]{1,30}: )?'[^'\n]{1,60}' is not an? (?:[\w.-]+ )?command\b|^(?:no such|unknown) (?:sub)?command\b/i,
    kind: 'exception',
    fault: 'model',
    says: 'the command does not exist',
    exact: true,
  },
  {
    pattern:
      /^ERR (?:unknown|wrong number|syntax|value is|no such|invalid|DB index)|^(?:WRONGTYPE|NOAUTH|NOPERM|READONLY|MISCONF|CROSSSLOT|NOSCRIPT|LOADING|OOM|EXECABORT|MOVED \d+|BUSYGROUP|BUSYKEY) |^\(error\) /,
    kind: 'exception',
    fault: null,
    says: 'the database refused the change',
    exact: true,
  },
  {
    pattern:
      /command not found|(?:^|: )\S{1,40}: not found\s*$|is not recognized as (?:an internal or external command|(?:the|a) name of a cmdlet)|executable file not found/i,
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
      /^panic: |thread '\w+' panicked|exception in thread|uncaught (?:exception|\w*error)|unhandled (?:exception|rejection)|terminate called after(?![^\n]*bad_alloc)|assertion (?:`|')?[^\n]{0,80}failed|runtime error: |stack overflow|maximum recursion depth|division by zero/i,
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
