// Each run of the sandbox starts from nothing, so a session remembers the code that ran and runs it again, silently,
// before the next piece: variables, functions and files are there as the model left them.

/** In base64, so that nothing that looks for marks in a program's text (a fence, `__main__`) finds them in here. */
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const decoded = (value: unknown) => `_json.loads(_base64.b64decode('${encoded(value)}'))`;
const IMPORTS = 'import base64 as _base64, contextlib as _contextlib, io as _io, json as _json\n';

/** Python that brings back what `earlier` left, into the globals of the program that it stands before. */
function prefix(earlier: readonly string[]): string {
  return `${IMPORTS}for _code in ${decoded(earlier)}:
    with _contextlib.redirect_stdout(_io.StringIO()), _contextlib.redirect_stderr(_io.StringIO()):
        try:
            exec(compile(_code, '<earlier>', 'exec'), globals())
        except BaseException:
            pass
`;
}

/** The next action: `code` runs as if it stood alone, also in its tracebacks. */
export function withHistory(earlier: readonly string[], code: string): string {
  if (earlier.length === 0) return code;
  return `${prefix(earlier)}import linecache as _linecache, sys as _sys, traceback as _traceback
_code = ${decoded(code)}
_linecache.cache['<action>'] = (len(_code), None, _code.splitlines(True), '<action>')
try:
    exec(compile(_code, '<action>', 'exec'), globals())
except SystemExit:
    raise
except BaseException as _error:
    _traceback.print_exception(type(_error), _error, _error.__traceback__.tb_next)
    _sys.exit(1)
`;
}

/** What is submitted to the tests of a function: the last code, with what it was built on. */
export function solutionOf(earlier: readonly string[], code: string): string {
  const last = code.includes('```') ? `${IMPORTS}exec(${decoded(code)})` : code;
  return earlier.length === 0 ? last : `${prefix(earlier)}${last}`;
}
