import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { RewardFn, RewardOutput } from '../engine/index.ts';
import { parseJson } from '../json/parse.ts';
import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject } from '../json/value.ts';

export interface PythonRewardOptions {
  /** The file that defines the function. */
  path: string;
  /** verl's name. */
  functionName?: string | undefined;
  /** The interpreter; what the function imports must be there. */
  python?: string | undefined;
  /** Seconds for one rollout. */
  timeout?: number | undefined;
}

/** Answers go over descriptor 3, since a reward function may print. */
const DRIVER = `
import importlib.util, json, os, sys, traceback
path, name = sys.argv[1], sys.argv[2]
out = os.fdopen(3, "w", encoding="utf-8")
def answer(value):
    out.write(json.dumps(value, default=str) + "\\n")
    out.flush()
def number(score): # numpy's and torch's scalars are no JSON
    try:
        return score if isinstance(score, str) else float(score)
    except (TypeError, ValueError):
        return score
try:
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("reward", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
except BaseException as error:
    said = traceback.format_exception_only(type(error), error)[-1].strip()
    line = getattr(error, "lineno", None)
    answer({"broken": f"line {line}: {said}" if line else said})
    sys.exit(0)
answer({"ready": True})
for line in sys.stdin:
    request = json.loads(line)
    try:
        value = function(**request)
        if isinstance(value, dict):
            answer({"score": number(value.get("score")), "metadata": value})
        elif isinstance(value, (tuple, list)):
            answer({"score": float(value[0]), "metadata": {"rest": list(value[1:])}})
        else:
            answer({"score": float(value), "metadata": {}})
    except BaseException as error:
        answer({"error": "".join(traceback.format_exception_only(type(error), error)).strip()})
`;

export interface PythonReward {
  fn: RewardFn;
  /** Loads the file, so that what is wrong with it is told once, not of each rollout. @throws Error that says so */
  start(signal?: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * A Python file with verl's `compute_score(data_source, solution_str, ground_truth, extra_info)`, in a process of its own that is kept
 * between rollouts. It runs with the user's rights: whoever names the file vouches for it. A rollout that hangs costs the process, and the
 * next one gets a new one.
 */
export function pythonReward({
  path,
  functionName = 'compute_score',
  python = 'python3',
  timeout = 60,
}: PythonRewardOptions): PythonReward {
  let worker: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const open = (signal: AbortSignal | undefined): Worker => {
    signal?.throwIfAborted();
    worker ??= new Worker(python, path, functionName);
    return worker;
  };
  const ask = async (request: JsonObject, signal: AbortSignal | undefined): Promise<RewardOutput> => {
    const running = open(signal);
    try {
      const answer = await running.ask(request, timeout, signal);
      if (typeof answer.error === 'string') throw new Error(answer.error);
      if (typeof answer.score !== 'number')
        throw new Error(`${functionName} gave no number but ${printJson(answer.score ?? null)}`);
      return { reward: answer.score, metadata: isJsonObject(answer.metadata) ? answer.metadata : {} };
    } finally {
      if (running.isDead) worker = null;
    }
  };
  return {
    start: async (signal) => {
      const running = open(signal);
      try {
        await running.load(timeout, signal);
      } finally {
        if (running.isDead) worker = null;
      }
    },
    fn: (task, action, signal) => {
      const request: JsonObject = {
        data_source: task.data_source ?? null,
        solution_str: action,
        ground_truth: task.ground_truth ?? null,
        extra_info: task.extra_info ?? null,
      };
      // One process answers one question at a time.
      const answer = last.then(() => ask(request, signal));
      last = answer.catch(() => {});
      return answer;
    },
    close: () => worker?.kill(),
  };
}

class Worker {
  readonly #child: ChildProcess;
  readonly #path: string;
  #rest = '';
  #stderr = '';
  #waiting: { resolve: (answer: JsonObject) => void; reject: (error: Error) => void } | null = null;
  readonly #ready: Promise<JsonObject>;
  isDead = false;

  constructor(python: string, path: string, functionName: string) {
    this.#path = path;
    this.#child = spawn(python, ['-c', DRIVER, path, functionName], { stdio: ['pipe', 'ignore', 'pipe', 'pipe'] });
    this.#ready = this.#next();
    this.#ready.catch(() => {});
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2000);
    });
    const answers = this.#child.stdio[3] as NodeJS.ReadableStream;
    answers.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#child.stdin?.on('error', () => {});
    this.#child.on('error', (error) => this.#end(`cannot start ${python}: ${error.message}`));
    this.#child.on('close', (code, signal) => {
      const told = this.#stderr.trim().split('\n').at(-1);
      this.#end(`${path} ended with ${signal ?? `exit status ${code}`}${told ? `: ${told}` : ''}`);
    });
  }

  ask(request: JsonObject, seconds: number, signal: AbortSignal | undefined): Promise<JsonObject> {
    return this.#within(seconds, signal, 'score', async () => {
      await this.#loaded();
      const answer = this.#next();
      (this.#child.stdin as Writable).write(`${printJson(request)}\n`);
      return answer;
    });
  }

  load(seconds: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#within(seconds, signal, 'function', () => this.#loaded());
  }

  async #loaded(): Promise<void> {
    const { broken } = await this.#ready;
    if (typeof broken !== 'string') return;
    this.isDead = true;
    throw new Error(`${this.#path} cannot be loaded: ${broken}`);
  }

  /** What takes longer costs the process. */
  async #within<T>(seconds: number, signal: AbortSignal | undefined, what: string, body: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const stop = (reason: string) => {
      this.#end(reason);
      this.kill();
    };
    const onAbort = () => stop('cancelled');
    signal?.addEventListener('abort', onAbort, { once: true });
    timer = setTimeout(() => stop(`no ${what} after ${seconds} s`), seconds * 1000);
    try {
      return await body();
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #next(): Promise<JsonObject> {
    if (this.isDead) return Promise.reject(new Error(`${this.#path} has ended`));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #read(text: string): void {
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n'); end !== -1; end = this.#rest.indexOf('\n')) {
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 1);
      const value = parseJson(line);
      const waiting = this.#waiting;
      this.#waiting = null;
      if (isJsonObject(value)) waiting?.resolve(value);
    }
  }

  #end(reason: string): void {
    this.isDead = true;
    this.#waiting?.reject(new Error(reason));
    this.#waiting = null;
  }

  kill(): void {
    this.isDead = true;
    this.#child.kill('SIGKILL');
  }
}
