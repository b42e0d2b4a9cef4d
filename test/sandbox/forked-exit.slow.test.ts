// A program forked from the warmed interpreter leaves as a fresh interpreter does: the same output, nothing more on stderr, the same status.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCodeRequest } from '../../src/sandbox/protocol.ts';
import { createRunner, type SandboxRunner } from '../../src/sandbox/server/index.ts';

const PACKAGES = (
  'sympy numpy pandas scipy matplotlib requests flask django sqlalchemy jinja2 click rich attr pydantic networkx sklearn PIL lxml bs4 yaml tqdm ' +
  'cryptography httpx aiohttp tornado gevent greenlet psutil pytest hypothesis joblib numba llvmlite statsmodels seaborn plotly nltk regex tabulate ' +
  'more_itertools sortedcontainers dateutil pytz simplejson orjson msgpack cffi mpmath shapely tiktoken tokenizers safetensors huggingface_hub ' +
  'pyarrow openpyxl xlrd colorama toolz cloudpickle dill fastapi uvicorn starlette google.protobuf anyio redis boto3 marshmallow peewee docutils ' +
  'sphinx black z3 ortools gmpy2 cvxpy pulp transformers torch ' +
  // Of Python itself.
  'asyncio concurrent.futures ctypes curses dataclasses decimal email fractions http.server idlelib json logging multiprocessing sqlite3 ssl ' +
  'tkinter typing unittest urllib.request uuid xml.etree.ElementTree zoneinfo'
).split(' ');

const interpreter = process.env.RV_PACKAGES_PYTHON;

describe('a forked program ends as a fresh one', () => {
  let runner: SandboxRunner | null = null;
  beforeAll(async () => {
    runner = await createRunner({ backend: 'bubblewrap', ...(interpreter ? { python: interpreter } : {}) }).catch(
      () => null,
    );
  });
  afterAll(() => runner?.close());

  const run = async (code: string, language: string) => {
    const checked = runCodeRequest.check({ code, language, run_timeout: 60 });
    if (!checked.ok || runner === null) throw new Error('no run');
    const { run_result: result } = await runner.run(checked.value);
    return [result?.return_code, result?.stdout, result?.stderr];
  };
  /** A shell starts another interpreter. */
  const fresh = (code: string) => run(`cat > program.py <<'END'\n${code}\nEND\npython program.py`, 'bash');

  test.each(PACKAGES)('with %s (skipped without bubblewrap, or without the package)', async (name) => {
    if (runner === null) return;
    const code = `import ${name}\nprint(${JSON.stringify(name)})`;
    const wanted = await fresh(code);
    // It is not there, or does not load with this interpreter.
    if (wanted[0] !== 0) return;
    expect(await run(code, 'python')).toEqual(wanted);
  });

  test.each([
    'import sys; sys.modules["x"] = None; sys.modules["y"] = 3; sys.modules["z"] = object; print(1)',
    'import typing; typing.io if hasattr(typing, "io") else None; print(1)',
    'import threading; threading.Thread(target=lambda: print("in a thread")).start()',
    'import atexit; atexit.register(print, "bye")',
    'class A:\n    def __del__(self): print("gone", __name__)\na = A()',
    'import sys\nclass M(type(sys)):\n    def __del__(self): print("module gone")\nsys.modules["m"] = M("m")',
    'import sys; print("x", end=""); sys.stderr.write("y"); sys.exit(3)',
    'import sys; sys.stdout.close()',
    'raise SystemExit("told")',
    'import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, "final")',
    'import tempfile; t = tempfile.TemporaryDirectory(); print(1)',
    'import multiprocessing as m\nif __name__ == "__main__":\n    p = m.get_context("fork").Process(target=print, args=(1,)); p.start(); p.join()',
  ])('%s', async (code) => {
    if (runner === null) return;
    const plain = (ended: unknown[]) =>
      ended.map((part) => String(part).replace(/File "[^"]*"|'\/tmp\/[^']*'/g, 'a path'));
    expect(plain(await run(code, 'python'))).toEqual(plain(await fresh(code)));
  });
});
