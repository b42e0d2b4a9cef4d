import type { ErrorKind, ErrorPattern, Fault } from './error-kind.ts';

/** A pattern of this program. */
interface KnownPattern extends ErrorPattern {
  pattern: RegExp;
}

const any = (pattern: RegExp, kind: ErrorKind, fault: Fault | null, says: string): KnownPattern => ({
  tool: null,
  pattern,
  kind,
  fault,
  says,
});

/** An optional word for an error at the start of the text. */
const HEAD = String.raw`^\s*(?:\[?error\]?\s*:?\s*)?`;

/**
 * An HTTP status as clients write it: `HTTP Error 500: …`, `404 Client Error`, `Bad Gateway (502)`, `search failed:
 * 503`.
 */
const http = (code: string): RegExp =>
  new RegExp(
    [
      `${HEAD}HTTP ?(?:Error|status(?: code)?)?:? *${code}\\b(?! (?:means|is|are|was|indicates|stands)\\b)`,
      `${HEAD}(?:Error code|Status(?: code)?): *${code}\\b(?=[^\\S\\n]*(?:$|[^\\w ]))`,
      `${HEAD}${code} (?:Client Error|Server Error|Too Many Requests|Bad Gateway|Service Unavailable|Gateway Time-?out|Internal Server Error|Not Found|Forbidden|Unauthorized|Bad Request)\\b`,
      `${HEAD}[A-Z][A-Za-z ]{2,30} \\(${code}\\)`,
      `^\\s*curl: \\(22\\) [^\\n]{0,60}error: ${code}\\b`,
      `${HEAD}\\w+ failed[^\\n]{0,40}\\b${code}\\b`,
    ].join('|'),
    'i',
  );

/**
 * The texts of trainers' tools and loops for a failed call. All start a result, or are all of it: a page or a file with
 * such words further down is not an error. Exact patterns come before general ones.
 */
export const ERROR_PATTERNS: readonly KnownPattern[] = [
  any(
    /^\s*(?:Name|Key|Attribute|Value|Lookup)Error: ["']?(?:(?:unknown|no|invalid) tool\b|tool ['"`]\w)/,
    'unknown_tool',
    'model',
    'the model called a function that does not exist',
  ),
  any(
    /^\s*(?:Error: )?(?:Unknown (?:function|tool)\b|(?:Tool|Function) ['"`]?[\w.-]+['"`]? (?:not found|does not exist|is not (?:available|defined)))/i,
    'unknown_tool',
    'model',
    'the model called a function that does not exist',
  ),
  any(
    /^\s*(?:Error: )?(?:Invalid JSON\b|JSON ?Decode ?Error\b|Failed to (?:parse|decode) (?:JSON|tool call|arguments)\b)/i,
    'bad_json',
    'model',
    'the call was no JSON',
  ),
  any(
    /^\s*(?:Error: )?(?:Invalid (?:arguments|parameters|tool call)\b|TypeError: [\w.]+\(\) (?:got an unexpected keyword|missing \d+ required|takes (?:from )?\d+ (?:to \d+ )?positional))/i,
    'bad_arguments',
    'model',
    "the call's arguments were not what the tool takes",
  ),
  any(
    /^\s*(?:Error: )?(?:SandboxError\b|Sandbox (?:error|failed|crashed|unavailable|not available|was (?:lost|killed))\b|sandbox_error\b|API Request Error: Sandbox)/i,
    'sandbox',
    'world',
    'the sandbox broke',
  ),
  any(
    /^\s*no stdout here\s*$/,
    'no_answer',
    null,
    'the sandbox did not finish (timeout, compile error or no answer): "no stdout here"',
  ),
  any(http('429'), 'rate_limit', 'world', 'too many requests (HTTP 429)'),
  any(http('5\\d\\d'), 'unavailable', 'world', 'a server failed (HTTP 5xx)'),
  any(http('4\\d\\d'), 'http', null, 'a request was refused (HTTP 4xx)'),
  any(
    new RegExp(
      `${HEAD}(?:[A-Za-z]+ ){0,3}(?:timed out|time-?out)(?: (?:after|error|expired|exceeded|while|in)\\b|[.:!]|\\s*$)|${HEAD}(?:Time ?limit exceeded|TimeLimitExceeded)\\b`,
      'i',
    ),
    'timeout',
    null,
    'it took longer than it was allowed',
  ),
  // verl's search tool and its derivatives.
  any(
    /^\s*(?:Search (?:request failed|error:)|API (?:Call Failed|Request (?:Error|Exception|failed))\b|(?:Server|Connection|Timeout) Error:? ?\(|Unknown API state\b)/i,
    'unavailable',
    'world',
    'the search server failed, or did not answer',
  ),
  any(
    /^\s*(?:Search execution failed\b|Error processing (?:search )?results\b)/i,
    'tool_failure',
    'tool',
    'the tool call raised an exception',
  ),
  any(
    /^\s*(?:upstream (?:connect error|request timeout)\b|no healthy upstream\b|(?:Connect|Read|Pool|Proxy)Timeout(?:Error)?\b|(?:Connect|Read|Proxy)Error\b|curl: \((?:5|6|7|28|35|52|55|56|60|92)\))/,
    'unavailable',
    'world',
    'the server could not be reached',
  ),
  any(
    /^\s*(?:Error when executing tool: |An error occurred while running the tool\b|Error executing tool '|Tool (?:call|execution) failed: |(?:The )?[Tt]ool (?:\S+ )?(?:raised|threw|crashed)\b|An unexpected error occurred: )/,
    'tool_failure',
    'tool',
    'the tool call raised an exception',
  ),
  any(
    /^\s*(?:\/?(?:bin\/)?(?:ba|z|da)?sh: (?:line \d+: )?\S+: (?:command )?not found|[^\n]{0,80}: command not found\s*$)/,
    'exception',
    null,
    'the command does not exist',
  ),
  any(
    /^\s*\{\s*"is_?error"\s*:\s*true\b|^\s*\{\s*"(?:ok|success|succeeded)"\s*:\s*false\s*,\s*"error"|^\s*\{\s*"(?:statusCode|status_code|status|code)"\s*:\s*[45]\d\d\s*,|^\s*\{\s*"(?:code|error_code|error_type)"\s*:\s*"\w{0,40}(?:error|exception|denied|not_found)\w{0,20}"|^\s*\{\s*["'](?:error|error_message|errors)["']\s*:(?!\s*(?:null|none|false|["']\s*(?:none|null)?\s*["']|\[\s*\]|\{\s*\}|0\b))|^\s*\{\s*"(?:status"\s*:\s*"(?:error|failed|failure))"/i,
    'rejected',
    null,
    'the tool answered with an error',
  ),
  // Programs write the word in lower or upper case, tools that refuse a call as the first word of a sentence.
  any(
    /^\s*(?:(?:\[ERROR\]|ERROR:|error:|fatal:|FATAL:)\s*\S|Code: \d+\. DB::Exception: )/,
    'exception',
    null,
    'the program stated an error',
  ),
  any(
    /^\s*(?:Blocked|(?:\w+ )?not allowed|(?:Access|Permission) denied)(?:: |\. )\S/i,
    'rejected',
    null,
    'the tool answered with an error',
  ),
  any(
    /^\s*error (?:from|in|response|while|when|during|processing|reading|opening|loading)\b[^\n:]{0,60}:\s/i,
    'rejected',
    null,
    'the tool answered with an error',
  ),
  any(
    /^\s*(?:\[error\]|\*\*error\*\*|error|fatal|exception|tool error|<(?:tool_use_)?error>|\(error\)(?=\s[A-Z]{2,} ))\s*(?:[:：]|(?<=[\]>*)])\s*)\s*\S/i,
    'rejected',
    null,
    'the tool answered with an error',
  ),
  // A short answer that opens with what could not be done.
  any(
    /^\s*(?:Failed to|Unable to|Could not|Couldn['’]t|Cannot|Can['’]t) [a-z][^\n]{3,200}\s*$/,
    'rejected',
    null,
    'the tool answered with an error',
  ),
];
