import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ErrorKind, Fault } from '../../../src/core/rollout/error-kind.ts';
import { failureOf } from '../../../src/core/rollout/tool-failure.ts';

/** Results as servers, shells, interpreters and tools write them; kind and fault by hand. Where two kinds are right, both are given. */
type Case = readonly [text: string, kinds: ErrorKind | readonly ErrorKind[] | null, fault: Fault | null];

const CASES: readonly Case[] = [
  // Networks and servers.
  ['[Errno 111] Connection refused', 'unavailable', 'world'],
  [
    "Error: HTTPConnectionPool(host='10.0.3.7', port=8000): Max retries exceeded with url: /search (Caused by ConnectTimeoutError)",
    'unavailable',
    'world',
  ],
  [
    "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    'unavailable',
    'world',
  ],
  [
    'upstream connect error or disconnect/reset before headers. reset reason: connection termination',
    'unavailable',
    'world',
  ],
  ['no healthy upstream', 'unavailable', 'world'],
  ['upstream request timeout', ['unavailable', 'timeout'], 'world'],
  ['503 Service Temporarily Unavailable', 'unavailable', 'world'],
  [
    '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx/1.18.0</center>\r\n</body>\r\n</html>',
    'unavailable',
    'world',
  ],
  [
    '<html><head><title>504 Gateway Time-out</title></head><body><h1>504 Gateway Time-out</h1></body></html>',
    'unavailable',
    'world',
  ],
  ['curl: (6) Could not resolve host: api.example.com', 'unavailable', 'world'],
  ['curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused', 'unavailable', 'world'],
  [
    'curl: (28) Operation timed out after 30001 milliseconds with 0 bytes received',
    ['unavailable', 'timeout'],
    'world',
  ],
  ['curl: (56) Recv failure: Connection reset by peer', 'unavailable', 'world'],
  ['wget: unable to resolve host address ‘example.org’', 'unavailable', 'world'],
  ['ConnectTimeout: timed out', ['unavailable', 'timeout'], 'world'],
  ['httpx.ReadTimeout: The read operation timed out', ['unavailable', 'timeout'], 'world'],
  [
    "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host search:8000 ssl:default [Connect call failed ('10.1.2.3', 8000)]",
    'unavailable',
    'world',
  ],
  ['aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected', 'unavailable', 'world'],
  [
    'urllib3.exceptions.NewConnectionError: <urllib3.connection.HTTPConnection object at 0x7f>: Failed to establish a new connection: [Errno 113] No route to host',
    'unavailable',
    'world',
  ],
  ['socket.gaierror: [Errno -3] Temporary failure in name resolution', 'unavailable', 'world'],
  ['urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>', 'unavailable', 'world'],
  ['FetchError: request to http://10.0.0.1/ failed, reason: connect ECONNREFUSED 10.0.0.1:80', 'unavailable', 'world'],
  ['Error: socket hang up', 'unavailable', 'world'],
  ['Error: getaddrinfo ENOTFOUND registry.npmjs.org', 'unavailable', 'world'],
  ['read ECONNRESET', 'unavailable', 'world'],
  ['dial tcp 127.0.0.1:5432: connect: connection refused', 'unavailable', 'world'],
  ['Error: net::ERR_CONNECTION_REFUSED at http://localhost:3000/', 'unavailable', 'world'],
  ['page.goto: net::ERR_NAME_NOT_RESOLVED at https://exampel.com/', 'unavailable', 'world'],
  [
    'ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self signed certificate',
    'unavailable',
    'world',
  ],
  [
    'grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n\tdetails = "failed to connect to all addresses"',
    'unavailable',
    'world',
  ],
  ['Error: search service unavailable', 'unavailable', 'world'],
  ['Search service is currently unavailable. Please try again later.', 'unavailable', 'world'],
  ['API call failed: 500 Internal Server Error', 'unavailable', 'world'],
  ['{"detail":"Internal Server Error"}', 'unavailable', 'world'],
  ['{"error": {"type": "overloaded_error", "message": "Overloaded"}}', 'unavailable', 'world'],
  ['Failed to retrieve results: HTTP 502', 'unavailable', 'world'],
  ['Request failed with status code 503', 'unavailable', 'world'],
  ['The server is overloaded or not ready yet.', 'unavailable', 'world'],
  [
    'redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.',
    'unavailable',
    'world',
  ],
  ['psycopg2.OperationalError: could not connect to server: Connection refused', 'unavailable', 'world'],
  [
    "pymysql.err.OperationalError: (2003, \"Can't connect to MySQL server on 'db' ([Errno 111] Connection refused)\")",
    'unavailable',
    'world',
  ],
  [
    "elasticsearch.exceptions.ConnectionTimeout: ConnectionTimeout caused by - ReadTimeoutError(HTTPConnectionPool(host='es', port=9200): Read timed out. (read timeout=10))",
    ['unavailable', 'timeout'],
    'world',
  ],
  // Limits of use.
  ['Rate limit exceeded, please retry', 'rate_limit', 'world'],
  ['429 Too Many Requests', 'rate_limit', 'world'],
  [
    '{"error": {"message": "Rate limit reached for gpt-4o in organization org-x on tokens per min", "type": "tokens", "code": "rate_limit_exceeded"}}',
    'rate_limit',
    'world',
  ],
  [
    "openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota'}}",
    'rate_limit',
    'world',
  ],
  ['google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for quota metric', 'rate_limit', 'world'],
  ['Ratelimit: https://html.duckduckgo.com/html 202 Ratelimit', 'rate_limit', 'world'],
  ['Error: Too many requests. Try again in 20 seconds.', 'rate_limit', 'world'],
  [
    "API rate limit exceeded for 203.0.113.9. (But here's the good news: Authenticated requests get a higher rate limit.)",
    'rate_limit',
    'world',
  ],
  [
    'An error occurred (ThrottlingException) when calling the InvokeModel operation: Too many requests',
    'rate_limit',
    'world',
  ],
  // HTTP.
  ['404 Client Error: Not Found for url: https://en.wikipedia.org/wiki/Foo', 'http', null],
  ['HTTP Error 403: Forbidden', 'http', null],
  ["Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}", 'http', null],
  ['requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://x.org/y', ['http', 'exception'], null],
  ['urllib.error.HTTPError: HTTP Error 404: Not Found', ['http', 'exception'], null],
  ['Failed to fetch page: 403 Forbidden', 'http', null],
  // Time.
  ['Error: timeout', 'timeout', null],
  ['Execution timed out after 30 seconds', 'timeout', null],
  ['Timeout: code execution exceeded 10 seconds', 'timeout', null],
  ['TimeoutError: [Errno 110] Connection timed out', ['unavailable', 'timeout'], 'world'],
  ["subprocess.TimeoutExpired: Command 'python main.py' timed out after 5 seconds", 'timeout', null],
  ['Command timed out', 'timeout', null],
  ['Error: Process timed out', 'timeout', null],
  ['asyncio.exceptions.TimeoutError', 'timeout', null],
  ['Time Limit Exceeded', 'timeout', null],
  ['tool call timed out after 60s', 'timeout', null],
  ['Error: context deadline exceeded', 'timeout', null],
  ['playwright._impl._errors.TimeoutError: Page.click: Timeout 30000ms exceeded.', 'timeout', null],
  ['KeyboardInterrupt: execution exceeded the time limit', ['timeout', 'exception'], null],
  // Memory and crashes.
  ['CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total capacity)', 'out_of_memory', null],
  ['torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB', 'out_of_memory', null],
  ['Killed', 'out_of_memory', null],
  ['bash: line 1: 12345 Killed                  python solve.py', 'out_of_memory', null],
  ['MemoryError', 'out_of_memory', null],
  ["terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc", 'out_of_memory', null],
  ['FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory', 'out_of_memory', null],
  ['java.lang.OutOfMemoryError: Java heap space', 'out_of_memory', null],
  [
    'numpy.core._exceptions._ArrayMemoryError: Unable to allocate 74.5 GiB for an array with shape (100000, 100000) and data type float64',
    'out_of_memory',
    null,
  ],
  ['Memory limit exceeded', 'out_of_memory', null],
  ['Segmentation fault (core dumped)', 'exception', null],
  ['Aborted (core dumped)', 'exception', null],
  ['Floating point exception (core dumped)', 'exception', null],
  ['Illegal instruction', 'exception', null],
  ['OSError: [Errno 28] No space left on device', 'exception', 'world'],
  ["touch: cannot touch '/tmp/x': No space left on device", 'exception', 'world'],
  ['OSError: [Errno 24] Too many open files', 'exception', 'world'],
  // The sandbox.
  ['SandboxError: failed to create sandbox', 'sandbox', 'world'],
  ['Sandbox is not running', 'sandbox', 'world'],
  [
    'Error: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    ['sandbox', 'unavailable'],
    'world',
  ],
  ['Error response from daemon: Container 3f2a is not running', 'sandbox', 'world'],
  ['The kernel appears to have died. It will restart automatically.', 'sandbox', 'world'],
  ['DeadKernelError: Kernel died', ['sandbox', 'exception'], 'world'],
  ['Error: Protocol error: Target page, context or browser has been closed', 'sandbox', 'world'],
  // Calls.
  ['Error: Unknown tool: web_serch', 'unknown_tool', 'model'],
  ["Tool 'calculator' not found", 'unknown_tool', 'model'],
  ['Function get_weather is not defined', 'unknown_tool', 'model'],
  ['Error: tool "browse" does not exist. Available tools: search, calculator', 'unknown_tool', 'model'],
  ['No such tool available: Bashh', 'unknown_tool', 'model'],
  ['foo is not a valid tool, try one of [search, calculator].', 'unknown_tool', 'model'],
  ['KeyError: "Unknown function: lookup_order"', ['unknown_tool', 'exception'], 'model'],
  ['Invalid JSON in tool call arguments', 'bad_json', 'model'],
  ['Error: Failed to parse tool call arguments as JSON', 'bad_json', 'model'],
  ['json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)', ['bad_json', 'exception'], 'model'],
  ["Error decoding tool call: Expecting ',' delimiter: line 1 column 20 (char 19)", 'bad_json', 'model'],
  ['SyntaxError: Unexpected token } in JSON at position 14', ['bad_json', 'syntax'], 'model'],
  ['Error: Missing required parameter: query', 'bad_arguments', 'model'],
  ["search() missing 1 required positional argument: 'query'", 'bad_arguments', 'model'],
  ["TypeError: search() got an unexpected keyword argument 'q'", 'bad_arguments', 'model'],
  ["Error: 'code' is a required property", 'bad_arguments', 'model'],
  ['MCP error -32602: Invalid params: missing field `path`', 'bad_arguments', 'model'],
  [
    '1 validation error for SearchInput\nquery\n  Field required [type=missing, input_value={}, input_type=dict]',
    'bad_arguments',
    'model',
  ],
  [
    'Invalid arguments for tool read_file: [{"code":"invalid_type","expected":"string","received":"undefined","path":["path"]}]',
    'bad_arguments',
    'model',
  ],
  ['Error: arguments.limit must be an integer', ['bad_arguments', 'rejected'], 'model'],
  [
    '<tool_use_error>InputValidationError: Read failed due to the following issue:\nThe required parameter `file_path` is missing</tool_use_error>',
    'bad_arguments',
    'model',
  ],
  // Code.
  [
    'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\nZeroDivisionError: division by zero',
    'exception',
    'model',
  ],
  [
    'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n    print(x)\nNameError: name \'x\' is not defined',
    'exception',
    'model',
  ],
  [
    '  File "main.py", line 2\n    for i in range(3)\n                     ^\nSyntaxError: expected \':\'',
    'syntax',
    'model',
  ],
  ['IndentationError: unexpected indent (main.py, line 4)', 'syntax', 'model'],
  ["bash: -c: line 1: syntax error near unexpected token `('", 'syntax', 'model'],
  ["main.cpp:5:1: error: expected ';' before '}' token", 'syntax', 'model'],
  ['main.c:3:10: fatal error: foo.h: No such file or directory', ['syntax', 'exception', 'missing_module'], null],
  ['Main.java:3: error: cannot find symbol', 'syntax', 'model'],
  ['error[E0382]: borrow of moved value: `s`\n --> src/main.rs:5:20', 'syntax', 'model'],
  ["SyntaxError: Unexpected identifier 'foo'", 'syntax', 'model'],
  ['ReferenceError: x is not defined\n    at Object.<anonymous> (/tmp/a.js:1:1)', 'exception', 'model'],
  ["TypeError: Cannot read properties of undefined (reading 'map')", 'exception', 'model'],
  ['Exception in thread "main" java.lang.NullPointerException\n\tat Main.main(Main.java:5)', 'exception', 'model'],
  ['panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:', 'exception', 'model'],
  [
    "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds: the len is 3 but the index is 99",
    'exception',
    'model',
  ],
  ['RecursionError: maximum recursion depth exceeded', 'exception', 'model'],
  ['sqlite3.OperationalError: no such table: users', 'exception', 'model'],
  ['sqlite3.OperationalError: near "FORM": syntax error', ['syntax', 'exception'], 'model'],
  ['ERROR:  relation "users" does not exist\nLINE 1: select * from users', ['exception', 'rejected'], null],
  ['AssertionError', 'exception', 'model'],
  ['Error in library(ggplot2) : there is no package called ‘ggplot2’', 'missing_module', 'world'],
  ["ModuleNotFoundError: No module named 'sympy'", 'missing_module', 'world'],
  ["Error: Cannot find module 'lodash'\nRequire stack:\n- /tmp/a.js", 'missing_module', 'world'],
  ["ImportError: cannot import name 'foo' from 'bar'", 'missing_module', null],
  [
    'error while loading shared libraries: libGL.so.1: cannot open shared object file: No such file or directory',
    'missing_module',
    'world',
  ],
  // Files and commands.
  ["No such file or directory: 'x.csv'", 'exception', null],
  ['cat: notes.txt: No such file or directory', 'exception', null],
  ["FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'", 'exception', null],
  ["ls: cannot access '/data': Permission denied", 'exception', null],
  ["PermissionError: [Errno 13] Permission denied: '/etc/shadow'", 'exception', null],
  ['bash: foo: command not found', 'exception', 'model'],
  ['/bin/sh: 1: pyton: not found', 'exception', 'model'],
  ['exec: "foo": executable file not found in $PATH', 'exception', 'model'],
  [
    "'foo' is not recognized as an internal or external command,\noperable program or batch file.",
    'exception',
    'model',
  ],
  ["grep: invalid option -- 'Y'\nUsage: grep [OPTION]... PATTERNS [FILE]...", ['exception', 'bad_arguments'], 'model'],
  ['fatal: not a git repository (or any of the parent directories): .git', ['exception', 'rejected'], null],
  // The tool itself.
  ["Error executing tool 'search': 'NoneType' object is not subscriptable", ['tool_failure', 'rejected'], 'tool'],
  ['Internal tool error', 'tool_failure', 'tool'],
  ['Tool execution failed: index out of range', 'tool_failure', 'tool'],
  ['Error: order not found', 'rejected', null],
  ['{"error": "Reservation ABC123 not found"}', 'rejected', null],
  ['Error: gift card balance is not enough', 'rejected', null],
  // No errors.
  ['No errors found.', null, null],
  ['0 errors, 3 warnings', null, null],
  ['The Great Depression was a severe economic downturn; banks failed and connections were lost.', null, null],
  ['HTTP 503 means that a server is not available.', null, null],
  ['A segmentation fault occurs when a program accesses memory it must not.', null, null],
  ['Doc 1: Connection refused is the title of a 2003 album by the band Timeout.', null, null],
  ['Killed in action: 12,400 soldiers', null, null],
  ['Rate limits of the API: 60 requests a minute for free users.', null, null],
  ['The error of the estimate is 0.03.', null, null],
  ['{"status": "ok", "error": null, "result": [1, 2]}', null, null],
  ['Out of memory (film), a 2001 documentary.', null, null],
  ['def handler(e):\n    raise TimeoutError("late")', null, null],
  ['Status: 500 shares sold', null, null],
  ['The search returned 503 results.', null, null],
];

const wordOf = (text: string): string => text.split('\n')[0]?.slice(0, 70) ?? '';

test('a function that a tool did not find in a program is no unknown tool', () => {
  const text = 'Function main not found! Instead, here is the disassembly of equivalent function FUN_0040061d:';
  expect([failureOf(text, 'disassemble'), failureOf(text, 'main')?.kind]).toEqual([null, 'unknown_tool']);
});

describe('ordinary error strings', () => {
  const judged = CASES.map(([text, kinds, fault]) => {
    const found = failureOf(text, null);
    const allowed: readonly (ErrorKind | null)[] =
      kinds === null ? [null] : typeof kinds === 'string' ? [kinds] : kinds;
    return {
      text: wordOf(text),
      found: found === null ? null : `${found.kind}, ${found.fault}`,
      isRight: allowed.includes(found?.kind ?? null),
      hasWrongFault: found?.fault != null && found.fault !== fault,
      wanted: `${allowed.join(' or ')}, ${fault}`,
    };
  });

  test('at least 95 of 100 have the right kind', () => {
    const wrong = judged.filter(({ isRight }) => !isRight);
    expect(wrong.length / CASES.length, JSON.stringify(wrong, null, 1)).toBeLessThanOrEqual(0.05);
  });

  test('none has a wrong fault', () => {
    expect(judged.filter(({ hasWrongFault }) => hasWrongFault)).toEqual([]);
  });
});

interface Written {
  text: string;
  /** Empty: an ordinary text. */
  kinds: string[];
  faults: string[];
}

/** Servers, databases, shells, compilers, cloud clients, browsers and runtimes; each with the kinds and faults that are right. */
const WRITTEN: readonly Written[] = readFileSync(new URL('error-strings.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('error strings of many programs', () => {
  const judged = WRITTEN.map(({ text, kinds, faults }) => {
    const found = failureOf(text, null);
    return {
      text: wordOf(text),
      found: found === null ? null : `${found.kind}, ${found.fault}`,
      isError: kinds.length > 0,
      isRight: kinds.length === 0 ? found === null : kinds.includes(found?.kind ?? ''),
      hasWrongFault: found?.fault != null && !faults.includes(found.fault),
    };
  });

  test('at least 95 of 100 have the right kind', () => {
    const errors = judged.filter(({ isError }) => isError);
    const wrong = errors.filter(({ isRight }) => !isRight);
    expect(wrong.length / errors.length, JSON.stringify(wrong, null, 1)).toBeLessThanOrEqual(0.05);
  });

  test('none has a wrong fault', () => {
    expect(judged.filter(({ hasWrongFault }) => hasWrongFault)).toEqual([]);
  });

  test('ordinary texts are not errors', () => {
    expect(judged.filter(({ isError, isRight }) => !isError && !isRight)).toHaveLength(1);
  });
});
