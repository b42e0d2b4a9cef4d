import { dirname, extname, resolve } from 'node:path';
import type { JsonObject } from '../../core/json/value.ts';
import { OwnHost } from '../python/own-host.ts';
import { PythonProcess } from '../python/python-process.ts';
import { ModuleThread } from './module-thread.ts';
import { fileEntry, moduleEntry, type OwnEntry } from './own-files.ts';

export interface OwnCodeOptions {
  /** The user's interpreter, as typed. */
  python?: string | undefined;
  /** Folders searched first for imports. */
  pythonPath?: readonly string[] | undefined;
  /** The only code folder, whatever path names it: for machines that work on others' runs. */
  root?: string | undefined;
  /** Receives the code's output. */
  log?: ((text: string) => void) | undefined;
}

/** A class or function of the user's, and how to run it. */
export interface OwnTarget {
  /** As written: `my_pkg.my_tool.MyTool`, `./tool.mjs#MyTool`, `agent.py:MyAgent`. */
  text: string;
  /** In the form the process takes. */
  target: JsonObject;
  host: OwnHost;
  /** In readable form: `python3`, `node`. */
  runs: string;
}

const SCRIPT = new Set(['.js', '.mjs', '.cjs']);

/** The user's code of one run: one Python child for all of it, one thread for JavaScript; each is started on first use. */
export class OwnCode {
  readonly python: string;
  readonly #pythonPath: string[];
  readonly #log: (text: string) => void;
  readonly #root: string | undefined;
  readonly #folders: string[] = [];
  /** The files in which classes were found. */
  readonly files: OwnEntry[] = [];
  #pythonHost: OwnHost | null = null;
  #moduleHost: OwnHost | null = null;

  constructor({ python = 'python3', pythonPath = [], root, log = () => {} }: OwnCodeOptions = {}) {
    this.python = python;
    this.#root = root;
    this.#pythonPath = pythonPath.map((path) => resolve(path));
    this.#log = log;
  }

  /** `module.Class`, `FILE.py:Class` or `FILE.mjs#Class`; files are resolved against `folder`. Null for any other text. */
  find(text: string, beside: string): OwnTarget | null {
    const folder = this.#root ?? beside;
    const [, script, exported = ''] = /^(.+\.[cm]?js)#(\w+)$/.exec(text) ?? [];
    if (script !== undefined) {
      const file = this.#fileIn(script, folder);
      return { text, target: { file, attribute: exported }, host: this.#modules(), runs: 'node' };
    }
    const [, python, attribute = ''] = /^(.+\.py):(\w+)$/.exec(text) ?? [];
    if (python !== undefined) {
      const file = this.#fileIn(python, folder);
      return { text, target: { file, attribute }, host: this.#pythons(dirname(file)), runs: this.python };
    }
    if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/.test(text) || SCRIPT.has(extname(text))) return null;
    const roots = this.#root === undefined ? [...this.#pythonPath, resolve(folder), process.cwd()] : [this.#root];
    this.files.push(moduleEntry(text, roots) ?? { named: text, file: null, root: folder });
    return { text, target: { name: text }, host: this.#pythons(resolve(folder)), runs: this.python };
  }

  /** The file named on the command line. */
  fileOf(named: string): string {
    return this.#fileIn(named, this.#root ?? process.cwd());
  }

  #fileIn(named: string, folder: string): string {
    const entry = fileEntry(named, folder, this.#root !== undefined);
    this.files.push(entry);
    return entry.file!;
  }

  /** A separate process for a function that must not wait for others. @param file of the function */
  apart(file: string): OwnHost {
    return new OwnHost(() => this.#start([dirname(resolve(file))]));
  }

  close(): void {
    this.#pythonHost?.close();
    this.#moduleHost?.close();
  }

  #pythons(folder: string): OwnHost {
    if (!this.#folders.includes(folder)) this.#folders.push(folder);
    this.#pythonHost ??= new OwnHost(() => this.#start(this.#folders));
    return this.#pythonHost;
  }

  #start(folders: readonly string[]): PythonProcess {
    const paths = [...this.#pythonPath, ...folders];
    return new PythonProcess({
      python: this.python,
      paths,
      lastPaths: [process.cwd()],
      passedPaths: this.#pythonPath,
      log: this.#log,
    });
  }

  #modules(): OwnHost {
    this.#moduleHost ??= new OwnHost(() => new ModuleThread(this.#log));
    return this.#moduleHost;
  }
}
