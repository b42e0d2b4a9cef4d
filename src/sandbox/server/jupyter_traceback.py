# Explains an error as IPython's kernel does: its words, order and colours, but for the colours within the code, which need
# Pygments. A frame shows its statement with two before and after (one, in the causes of an error), within its function and
# without common indent. jupyter_driver.py follows it in one program.
# ruff: noqa: F821
import ast, linecache, traceback

RED, GREEN, BLUE, CYAN, PLAIN = ('\x1b[%dm' % color for color in (31, 32, 34, 36, 39))
HIDDEN = GREEN + '   (...)' + PLAIN


def explain(error, name):
    if isinstance(error, SyntaxError) and error.filename == name:
        return [syntax(error)]
    if isinstance(error, SystemExit):
        return ['An exception has occurred, use %tb to see the full traceback.\n', colon(error)]
    links = [('', error)]
    while len(links) < 50:
        last = links[-1][1]
        if last.__cause__ is not None:
            links.append(('\nThe above exception was the direct cause of the following exception:\n', last.__cause__))
        elif last.__context__ is not None and not last.__suppress_context__:
            links.append(('\nDuring handling of the above exception, another exception occurred:\n', last.__context__))
        else:
            break
    lines = [RED + '-' * 75 + PLAIN]
    for (_, link), (joint, _) in zip(reversed(links), [*reversed(links[1:]), ('', None)]):
        kind = type(link).__name__
        lines.append(RED + kind + PLAIN + 'Traceback (most recent call last)'.rjust(75 - len(kind)))
        lines.extend(frames_of(link, 2 if link is error else 1))
        lines.append(syntax(link) if isinstance(link, SyntaxError) else RED + kind + PLAIN + ': ' + text_of(link))
        lines.extend(str(note) for note in getattr(link, '__notes__', ()))
        if joint:
            lines.append(joint)
    return lines


def colon(error):
    return RED + type(error).__name__ + PLAIN + RED + ':' + PLAIN + ' ' + text_of(error) + '\n'


def syntax(error):
    where = '  ' + place(error.filename, error.lineno) + '\n'
    code = (error.text or '').rstrip('\n')
    if code:
        where += RED + '    ' + PLAIN + RED + code.strip() + PLAIN + '\n'
        if error.offset:
            where += ' ' * (4 + max(0, error.offset - 1 - len(code) + len(code.lstrip()))) + '^\n'
    return where + RED + type(error).__name__ + PLAIN + RED + ':' + PLAIN + ' %s\n' % error.msg


def place(file, line):
    cell = (file or '').startswith('<cell ')
    kind, rest = ('Cell', 'In[%s]' % file[6:-1]) if cell else ('File', '%s:%s' % (file, line))
    number = GREEN + ', line %s' % line + PLAIN if cell else ''
    return CYAN + kind + PLAIN + CYAN + ' ' + PLAIN + GREEN + rest + PLAIN + number


def frames_of(error, beside):
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if frames and frames[0][0].co_filename == __file__:
        own = (at for at, (code, _) in enumerate(frames) if code.co_filename.startswith('<cell '))
        frames = frames[next(own, 1):]
    frames = [frame for frame in frames if frame[0].co_filename != __file__]
    trees, at = {}, 0
    while at < len(frames):
        code, line = frames[at]
        same = next((more for more in range(at, len(frames)) if frames[more] != frames[at]), len(frames)) - at
        at += same
        shown = frame_of(code, line, beside, trees)
        if same < 4:
            yield from [shown] * same
            continue
        skipped = '[... skipping similar frames: %s at line %s (%d times)]' % (code.co_name, line, same - 3)
        yield from (shown, shown, '    ' + RED + skipped + PLAIN + '\n', shown)


def frame_of(code, line, beside, trees):
    scope = ''
    if code.co_name != '<module>':
        names, rest, words = inspect.getargs(code)
        names = [*names, *(['*' + rest] if rest else []), *(['**' + words] if words else [])]
        called = getattr(code, 'co_qualname', code.co_name)
        scope = ', in ' + CYAN + called + PLAIN + BLUE + '(' + ', '.join(names) + ')' + PLAIN
    lines = excerpt(code, line, beside, trees)
    return place(code.co_filename, line) + scope + '\n' + ''.join(text + '\n' for text in lines)


def excerpt(code, line, beside, trees):
    lines = [text.rstrip('\n') for text in linecache.getlines(code.co_filename)]
    if not 0 < line <= len(lines):
        return []
    if code.co_filename not in trees:
        try:
            trees[code.co_filename] = ast.parse('\n'.join(lines))
        except Exception:
            trees[code.co_filename] = None
    tree = trees[code.co_filename]
    if tree is None:
        found = [(number, number + 1) for number in range(1, len(lines) + 1)]
    else:
        found = list(statements(tree, 1, len(lines) + 1))
        if code.co_name != '<module>':
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            around = [span(node) for node in ast.walk(tree) if isinstance(node, kinds)]
            around = [(start, end) for start, end in around if start <= line < end]
            first, last = max(around, default=(1, len(lines) + 1))
            found = [(start, end) for start, end in found if first <= start < last]
    found = [stripped for stripped in (strip(lines, start, end) for start, end in found) if stripped]
    own = next((at for at, (start, end) in enumerate(found) if start <= line < end), None)
    near = [(line, line + 1)] if own is None else found[max(0, own - beside):own + beside + 1]
    shown = []
    for start, end in near:
        numbers = list(range(start, end))
        whole = len(numbers) <= 6 or start <= line < end
        shown += numbers if whole else [*numbers[:3], None, *numbers[-2:]]
    kept = [lines[number - 1] for number in shown if number and lines[number - 1].strip()]
    indent = min((len(text) - len(text.lstrip()) for text in kept), default=0)
    return [HIDDEN if number is None else numbered(number, line, lines[number - 1][indent:]) for number in shown]


def numbered(number, line, text):
    if number != line:
        return GREEN + '%7d' % number + PLAIN + ' ' + text
    return GREEN + '-' * (5 - len(str(number))) + '> ' + PLAIN + GREEN + str(number) + PLAIN + ' ' + text


def strip(lines, start, end):
    while start < end and not lines[start - 1].strip():
        start += 1
    while start < end and not lines[end - 2].strip():
        end -= 1
    return (start, end) if start < end else None


def span(node):
    if hasattr(node, 'pattern') and hasattr(node, 'body'):
        return node.pattern.lineno, node.body[-1].end_lineno + 1
    return min(part.lineno for part in [node, *getattr(node, 'decorator_list', ())]), node.end_lineno + 1


# Where each statement starts and ends; of one that holds others, what is before, between and behind them.
def statements(node, start, end):
    for part in ast.iter_child_nodes(node):
        if isinstance(part, (ast.stmt, ast.ExceptHandler)) or type(part).__name__ == 'match_case':
            for first, last in statements(part, *span(part)):
                if start < first:
                    yield start, first
                if start < last:
                    yield max(start, first), last
                    start = last
    if start < end:
        yield start, end
