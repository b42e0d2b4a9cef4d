# Replaces IPython in a cell: magics, `!commands` (in the sandbox, as all of it), IPython.display where IPython is not
# installed, and matplotlib's figures as images when a cell ends or shows them. It uses send, display, execute's space and
# PROCESS of jupyter_driver.py, which follows it in one program.
# ruff: noqa: F821
import base64, importlib.util, io, os, re, sys, types

os.environ.setdefault('MPLBACKEND', 'agg')


def show_figures(*_, **__):
    plots = sys.modules.get('matplotlib.pyplot')
    if plots is None or not hasattr(plots, 'get_fignums'):
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    for number in plots.get_fignums():
        figure = plots.figure(number)
        image = io.BytesIO()
        figure.savefig(image, format='png', bbox_inches='tight')
        plots.close(figure)
        send('display', data={'text/plain': repr(figure), 'image/png': base64.b64encode(image.getvalue()).decode()})


class PlotHook:
    """matplotlib.pyplot.show() of a server that has no screen."""

    def find_spec(self, name, path, target=None):
        if name != 'matplotlib.pyplot':
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        whole = spec.loader.exec_module

        def exec_module(module):
            whole(module)
            module.show = show_figures

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, PlotHook())


class Shell:
    def __init__(self, space):
        self.user_ns = space

    def system(self, command):
        self.getoutput(command, echo=True)

    def getoutput(self, command, echo=False):
        if not PROCESS:
            raise OSError('there are no processes in this sandbox: !' + command)
        import subprocess
        output = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode('utf-8', 'replace')
        if echo:
            sys.stdout.write(output)
        return output.splitlines()

    def run_line_magic(self, name, rest):
        magic = getattr(self, 'magic_' + name, None)
        if magic is None:
            sys.stderr.write('UsageError: Line magic function %' + name + ' not found.\n')
            return None
        return magic(rest)

    def run_cell_magic(self, name, rest, cell):
        magic = getattr(self, 'cell_' + name, None)
        if magic is None:
            sys.stderr.write('UsageError: Cell magic %%' + name + ' not found.\n')
            return None
        return magic(rest, cell)

    def nothing(self, _):
        return None

    magic_matplotlib = magic_load_ext = magic_reload_ext = magic_autoreload = magic_config = magic_precision = nothing

    def magic_pwd(self, _):
        return os.getcwd()

    def magic_cd(self, rest):
        os.chdir(os.path.expanduser(rest.strip() or '~'))
        print(os.getcwd())

    def magic_env(self, rest):
        name, equals, value = rest.partition('=')
        if not rest:
            return dict(os.environ)
        if not equals:
            return os.environ.get(name.strip())
        os.environ[name.strip()] = value.strip()
        print('env: %s=%s' % (name.strip(), value.strip()))

    magic_set_env = magic_env

    def magic_who(self, _):
        hidden = {'display', 'get_ipython'}
        print('\t '.join(sorted(name for name in self.user_ns if not name.startswith('_') and name not in hidden)))

    magic_whos = magic_who

    def magic_time(self, rest):
        began, used = time.perf_counter(), time.process_time()
        value = self.run(rest)
        print('CPU times: total: %.3g ms\nWall time: %.3g ms' % ((time.process_time() - used) * 1e3, (time.perf_counter() - began) * 1e3))
        return value

    def magic_timeit(self, rest):
        import timeit
        timer = timeit.Timer(re.sub(r'^(?:-\w\s*\d*\s+)*', '', rest), globals=self.user_ns)
        loops = timer.autorange()[0]
        runs = [one / loops for one in timer.repeat(7, loops)]
        mean = sum(runs) / len(runs)
        spread = (sum((one - mean) ** 2 for one in runs) / len(runs)) ** 0.5
        print('%.3g us +- %.3g us per loop (mean +- std. dev. of 7 runs, %d loops each)' % (mean * 1e6, spread * 1e6, loops))

    def run(self, source):
        try:
            return eval(compile(source.strip(), '<magic>', 'eval'), self.user_ns)
        except SyntaxError:
            exec(compile(source, '<magic>', 'exec'), self.user_ns)

    def cell_time(self, _, cell):
        return self.magic_time(cell)

    def cell_timeit(self, rest, cell):
        return self.magic_timeit(cell)

    def cell_capture(self, _, cell):
        kept = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        try:
            exec(compile(cell, '<magic>', 'exec'), self.user_ns)
        finally:
            sys.stdout, sys.stderr = kept

    def cell_writefile(self, rest, cell):
        append, name = re.match(r'(-a\s+)?(.*)', rest.strip()).groups()
        there = os.path.exists(name)
        with open(name, 'a' if append else 'w', encoding='utf-8') as file:
            file.write(cell)
        print(('Appending to ' if append else 'Overwriting ' if there else 'Writing ') + name)

    def cell_bash(self, _, cell):
        self.system(cell)

    cell_sh = cell_bash


LINE = re.compile(r'^(\s*)(?:([A-Za-z_]\w*)\s*=\s*)?([%!])(\S.*)$')


def translated(source):
    """Magics are not Python: only a cell that is not Python is searched for them."""
    if source.lstrip().startswith('%%'):
        head, _, cell = source.lstrip().partition('\n')
        name, _, rest = head[2:].partition(' ')
        return 'get_ipython().run_cell_magic(%r, %r, %r)' % (name, rest, cell)
    try:
        ast.parse(source)
        return source
    except SyntaxError:
        return '\n'.join(LINE.sub(called, line) for line in source.split('\n'))


def called(match):
    indent, target, mark, rest = match.groups()
    start = indent + (target + ' = ' if target else '')
    if mark == '!':
        return start + ('get_ipython().getoutput(%r)' if target else 'get_ipython().system(%r)') % rest
    name, _, more = rest.partition(' ')
    return start + 'get_ipython().run_line_magic(%r, %r)' % (name, more)


class Shown:
    def __init__(self, data=None, filename=None, url=None, **_):
        if filename is not None:
            with open(filename, 'rb') as file:
                data = file.read()
        self.data = data


def shown(name, method, decode=True):
    def represent(self):
        return self.data.decode('utf-8', 'replace') if decode and isinstance(self.data, bytes) else self.data
    return type(name, (Shown,), {method: represent, '__repr__': lambda self: '<IPython.core.display.%s object>' % name})


def stand_in():
    if importlib.util.find_spec('IPython') is not None:
        return
    shown_module = types.ModuleType('IPython.display')
    for name, method in (('HTML', '_repr_html_'), ('Markdown', '_repr_markdown_'), ('Latex', '_repr_latex_'), ('Math', '_repr_latex_'), ('SVG', '_repr_svg_'), ('JSON', '_repr_json_')):
        setattr(shown_module, name, shown(name, method))
    shown_module.Image = shown('Image', '_repr_png_', decode=False)
    shown_module.display = display
    shown_module.clear_output = lambda *_, **__: None
    shown_module.display_html = lambda *values, **_: display(*[shown_module.HTML(one) if isinstance(one, str) else one for one in values])
    module = types.ModuleType('IPython')
    module.version_info, module.__version__ = (8, 24, 0), '8.24.0'
    # Libraries that ask for the shell would want all of it.
    module.get_ipython = lambda: None
    module.display = shown_module
    module.__path__ = []
    sys.modules.update({'IPython': module, 'IPython.display': shown_module})


def prepare_display(space):
    if 'get_ipython' in space:
        return
    stand_in()
    shell = Shell(space)
    space['get_ipython'] = lambda: shell
