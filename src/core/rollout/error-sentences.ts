import type { ErrorCause } from './error-kind.ts';

const exact = (
  kind: ErrorCause['kind'],
  fault: ErrorCause['fault'],
  says: string,
  ...patterns: readonly RegExp[]
): ErrorCause => ({
  pattern: new RegExp(patterns.map(({ source }) => source).join('|'), 'i'),
  kind,
  fault,
  says,
  exact: true,
});

/** What was run, as harnesses call it. */
const RUN =
  '(?:code|command|process|program|script|execution|job|call|cell|request|query|step|test|task|tool|operation|evaluation|submission|container|notebook|session|kernel)';
const STOPPED = '(?:stopped|killed|cancell?ed|terminated|aborted|interrupted|timed out)';
const SECONDS = String.raw`\d+(?:\.\d+)? ?(?:s|ms|secs?|seconds?|milliseconds?|min|minutes?|h|hours?)\b`;

/** Errors that are told in a sentence, or by a name that one program alone uses. They come before causes in a few words. */
export const SENTENCE_CAUSES: readonly ErrorCause[] = [
  exact(
    'unknown_tool',
    'model',
    'the model called a function that does not exist',
    /^there is no (?:such )?(?:tool|function) (?:called|named)\b/,
    /^(?:tool|function) ['"`]?[\w.-]+['"`]? (?:is )?not (?:in|among|part of) (?:the )?(?:registry|list|tools?|available|registered)/,
  ),
  exact(
    'rate_limit',
    'world',
    'too many requests',
    /\bexceeded (?:the|your|our) (?:\w+ )?rate limit\b/,
    /^[^\n]{0,60}\btoo many requests\b[^\n]{0,20}\b(?:try|retry|wait|slow)\b/,
    /\bexceeds? your (?:plan|account|subscription)(?:'s|’s)?\b[^\n]{0,30}\b(?:limit|quota)\b/,
  ),
  exact(
    'exception',
    null,
    'the command ended with a failure',
    new RegExp(
      String.raw`^(?:error:? )?${RUN}\b[^\n]{0,40}\b(?:failed|completed|exited|finished|ended) with (?:an? )?(?:non-?zero )?(?:exit )?(?:code|status):? (?!13[79]\b)[1-9]`,
    ),
  ),
  exact(
    'timeout',
    null,
    'it took longer than it was allowed',
    new RegExp(
      String.raw`^(?:<\w+>|\W*)(?:the |your |this )?(?:\w+ ){0,3}?${RUN}\b[^\n]{0,60}\b${STOPPED}\b[^\n]{0,80}\b(?:than|limit of|after|exceed(?:ed|ing|s)|over|past|within) (?:the |its )?(?:\w+ ){0,3}${SECONDS}`,
    ),
    new RegExp(
      String.raw`^(?:<\w+>|\W*)(?:the |your |this )?(?:\w+ ){0,3}?${RUN}\b[^\n]{0,60}\b(?:exceed(?:ed|s)|reached|hit|over)\b[^\n]{0,30}${SECONDS}[^\n]{0,40}\b${STOPPED}\b`,
    ),
    new RegExp(
      String.raw`^(?:the |your |this )?${RUN}s? (?:has |was |were )?timed out\b(?! (?:is|are|means|in the|errors?)\b)`,
    ),
    new RegExp(
      String.raw`^(?:${STOPPED}|no (?:output|response|answer|reply)(?: was)?(?: received)?) (?:after|within|for) (?:\w+ ){0,2}${SECONDS}`,
    ),
    new RegExp(
      String.raw`^(?:the |your |this )?(?:\w+ ){0,3}?(?:${RUN}|server|service|interpreter|tool|model)\b[^\n]{0,40} (?:did|does|has) not (?:respond|finish|complete|return|answer|terminate|exit)\w*[^\n]{0,20} (?:within|in|after) (?:the )?${SECONDS}`,
    ),
    /^TLE\s*$|^\[timeout\] |^time-?out: (?:the|your|this) /,
    new RegExp(String.raw`\b(?:time limit|deadline) of ${SECONDS} (?:was |has been )?(?:reached|exceeded|hit)\b`),
    /^NS_ERROR_NET_TIMEOUT\b/,
  ),
  exact(
    'out_of_memory',
    null,
    'it needed more memory than it was allowed, or was killed',
    /^<--- Last few GCs --->/,
    /\ballocate more memory than\b|\bOutOfMemory(?:Error|Exception)\b|^Killed process \d+ \(|^oom-kill\b/,
    /^[^\n]{0,60}\b(?:needs?|needed|used|uses|requires?|required|consumed) more (?:\w+ )?memory than\b/,
    /\bmemory (?:usage )?(?:limit|cap|quota) (?:of \S+(?: \w+)? )?(?:was |has been )?(?:exceeded|reached|hit)\b/,
    /^\W*\w+ (?:was |has been )?(?:killed|evicted)\b[^\n]{0,60}\bmemory\b/,
  ),
  exact(
    'unavailable',
    'world',
    'the server could not be reached',
    /^NS_ERROR_(?:UNKNOWN_(?:HOST|PROXY_HOST)|CONNECTION_REFUSED|NET_(?:RESET|INTERRUPT|EMPTY_RESPONSE|PARTIAL_TRANSFER)|OFFLINE|PROXY_CONNECTION_REFUSED)\b/,
    /\bconnection to (?:the )?(?:server|database|host|broker|cluster)\b[^\n]{0,120}\b(?:failed|refused|lost|closed)\b/,
    /\bstatus code:? 5\d\d\b|\btime-?out (?:when |while )?connecting\b/,
    /^50[0-4] [-–:] \w/,
    /\bremote end hung up\b|^early EOF\b|\bunexpected disconnect while\b/,
    /^(?:the |this )?(?:\w+ )?(?:retriever|api|endpoint|cluster|host|proxy|gateway|queue|worker|broker|search(?: engine)?)(?: \S+)? is (?:currently |temporarily )?(?:down|offline|unreachable|not responding|unavailable|overloaded|busy)\b/,
  ),
  exact(
    'sandbox',
    null,
    'the sandbox broke',
    /\b(?:chrome|chromium|firefox|browser|webdriver|geckodriver|chromedriver|kernel|sandbox|emulator|x server|display|desktop|virtual machine|microvm) (?:instance |process )?(?:failed|(?:was |is )?unable|could not|cannot) (?:to )?(?:be )?(?:start|launch|boot|create|open|connect|come up)/,
    /\bDevToolsActivePort\b/,
    /\b(?:failed|unable) to (?:get|create|acquire|allocate|start|obtain) (?:an? |the )?(?:sandbox|container|kernel|vm|browser|environment)\b/,
    /^(?:[\w.-]{1,30}: )?(?:the )?(?:kernel|vm|virtual machine|container|sandbox|interpreter|browser) (?:has |was |had to be )?(?:restarted|crashed|died|lost|(?:terminated|exited|stopped|closed|ended) unexpectedly)\b/,
  ),
  exact(
    'http',
    null,
    'a request was refused',
    /\bcredentials were not provided\b/,
    /^(?:attention required! \||access to (?:fetch|XMLHttpRequest) at )|\bblocked by CORS\b/,
  ),
  exact('missing_module', 'world', 'a module is missing', /\.so[\w.]*: cannot open shared object file/),
  exact(
    'missing_module',
    null,
    'a module is missing',
    /^(?:[^\n]{0,120}: )?cannot load such file -- (?![./])/,
    /^(?:error: )?package [\w.]+ does not exist\b|\bis not installed or\b[^\n]{0,30}\bPATH\b/,
    /\bld(?:\.\w+)?: cannot find -l\w/,
  ),
  exact(
    'exception',
    'model',
    'the code raised an exception',
    // Messages of R: the call, or the sign that it is an expression.
    /^error in [^\n]{1,80} : (?:non-numeric|object '|could not find function|subscript out of bounds|argument|undefined columns|missing value|invalid)/,
    /^runtime error: (?:invalid memory|index out|slice bounds|integer divide|makeslice|hash of|assignment to entry)/,
    /^non-numeric argument to |^object '[^'\n]{1,60}' not found\b|^could not find function "|^subscript out of bounds/,
    /^parse error near line \d+: (?:no such|ambiguous column|table \S+ (?:already|has))/,
  ),
  exact(
    'exception',
    null,
    'the program crashed',
    /^=+\d*=*\s*ERROR: (?:Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer: /,
    /^==\d+==\s*(?:ERROR: |WARNING: )?(?:\w+Sanitizer: |Invalid (?:read|write|free)|Process terminating|Conditional jump)/,
  ),
  exact(
    'syntax',
    'model',
    'the code does not parse',
    /^(?:error: )?expected (?:one of |`|'|an? (?:expression|identifier|item|pattern|type))[^\n]*\bfound\b/,
    /^(?:error: )?expected [^\n]{1,60} (?:before|after|at end of)\b|^compil(?:e|ation|er) error: /,
    /^(?:error: )?unexpected token\b(?![^\n]*json)/,
    /^unexpected (?:symbol|string constant|numeric constant|input|'[^'\n]{1,8}'|end of input) in\b/,
    /^(?:[^\n:]{0,80}: )?the reference \S+ was not found in the current environment/,
  ),
  exact(
    'exception',
    null,
    'a test failed',
    /^(?:verdict: )?(?:wrong answer|presentation error)(?: on (?:hidden )?test\b|\s*$)|^FAIL: \w+ \(|^tests? failed: [1-9]/,
  ),
  exact(
    'exception',
    'model',
    'the proof failed',
    /^(?:[\w.]+:\d+:\d+: )?(?:error: )?(?:tactic '[\w.]+' failed|(?:linarith|nlinarith|omega|simp|ring|ring_nf|norm_num|decide|aesop|positivity|field_simp|exact\?|rfl|rw|rewrite)\b (?:failed\b|made no progress|could not|tactic failed))/,
  ),
  exact(
    'bad_json',
    'model',
    'the call was no JSON',
    /^(?:could not|cannot|can't|failed to|unable to) parse (?:the |your )?(?:function|tool) call\b/,
    /^invalid (?:tool|function) call\b[^\n]{0,40}\bJSON\b/,
    /\bcould not be (?:parsed|decoded) as JSON\b|^JSON pars(?:e|ing) error\b/,
    /\barguments (?:must|should) be (?:an? )?(?:valid )?JSON\b/,
  ),
  exact(
    'bad_arguments',
    'model',
    "the call's arguments were not what the tool takes",
    /^['"`]\w+['"`](?:,? (?:and|or) ['"`]\w+['"`])? (?:must|should|cannot|may not|need(?:s)? to)\b/,
    /^expected ['"`]\w+['"`] to be\b/,
    /^invalid (?:value for )?(?:parameter |argument )?['"`]\w+['"`](?: parameter| argument)?(?:: |\. )/,
    /^the value (?:of|for) ['"`]?\w+['"`]? (?:is (?:out of|not|too|in?valid)|must|should)\b/,
    /^(?:only |exactly )?one of ['"`]?\w+['"`]?(?:,? (?:and|or) ['"`]?\w+['"`]?)+ (?:must|should|is required|may)\b/,
  ),
  exact(
    'rejected',
    null,
    'the tool could not find what the call names',
    /^(?:the )?(?:file|directory|path|folder) (?:does not|doesn't) exist\b/,
    /^the (?:path|file|directory|folder|url|page|document|record|user|order|item|id) \S{1,160} (?:does not|doesn't|could not be|cannot be|was not|is not) (?:exist|found|an? )/,
  ),
  exact(
    'rejected',
    null,
    'the environment did not take the action',
    /^permission to [^\n]{1,120} (?:has been |was |is )?denied\b/,
    /^(?:the |this |your )?(?:command|call|action|request|operation|edit|write|tool call)\b[^\n]{0,60}\b(?:blocked|denied|disallowed|refused|forbidden) by\b/,
    /\bpull access denied\b|\bmanifest (?:for \S+ |unknown)[^\n]{0,40}(?:not found|unknown)/,
    /^(?:that's not a verb i recogni[sz]e|you can't (?:see any such thing|go that way|reach)|no known action matches|i (?:don't|didn't) (?:know the word|understand that)|you (?:need to|must) (?:first |be )?(?:specify|supply)|there is no \w+ here\b|ambiguous request: )/,
  ),
];
