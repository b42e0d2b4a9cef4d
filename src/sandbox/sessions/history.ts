// Each run of the sandbox starts from nothing, so a session remembers the code that ran and runs it again, silently,
// before the next piece: variables, functions and files are there as the model left them.

/** A Python program that brings back what `earlier` left and then runs `code` as if it stood alone. */
export function withHistory(earlier: readonly string[], code: string): string {
  if (earlier.length === 0) return code;
  return `import contextlib as _contextlib, io as _io, linecache as _linecache, sys as _sys, traceback as _traceback
_session = {'__name__': '__main__', '__builtins__': __builtins__}
for _code in ${JSON.stringify(earlier)}:
    with _contextlib.redirect_stdout(_io.StringIO()), _contextlib.redirect_stderr(_io.StringIO()):
        try:
            exec(compile(_code, '<earlier>', 'exec'), _session)
        except BaseException:
            pass
_code = ${JSON.stringify(code)}
_linecache.cache['<action>'] = (len(_code), None, _code.splitlines(True), '<action>')
try:
    exec(compile(_code, '<action>', 'exec'), _session)
except SystemExit:
    raise
except BaseException as _error:
    _traceback.print_exception(type(_error), _error, _error.__traceback__.tb_next)
    _sys.exit(1)
`;
}
