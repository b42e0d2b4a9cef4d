import { existsSync } from 'node:fs';
import { dirname, extname, isAbsolute, resolve } from 'node:path';
import type { JsonObject } from '../../json/value.ts';
import { OwnHost } from '../../python/own-host.ts';
import { PythonProcess } from '../../python/python-process.ts';
import { ModuleThread } from './module-thread.ts';

export interface OwnCodeOptions {
  /** The user's interpreter, as it is typed. */
  python?: string | undefined;
  /** Folders where imports are looked for first. */
  pythonPath?: readonly string[] | undefined;
  /** Gets what the code prints. */
  log?: ((text: string) => void) | undefined;
}

/** A class or function of the user's, and what runs it. */
export interface OwnTarget {
  /** As it was written: `my_pkg.my_tool.MyTool`, `./tool.mjs#MyTool`, `agent.py:MyAgent`. */
  text: string;
  /** As the process takes it. */
  target: JsonObject;
  host: OwnHost;
  /** For people: `python3`, `node`. */
  runs: string;
}

const SCRIPT = new Set(['.js', '.mjs', '.cjs']);

/** The user's own code of one run: a child of their Python for all of it, a thread for their JavaScript; each is started when it is first used. */
export class OwnCode {
  readonly python: string;
  readonly #pythonPath: string[];
  readonly #log: (text: string) => void;
  readonly #folders: string[] = [];
  #pythonHost: OwnHost | null = null;
  #moduleHost: OwnHost | null = null;

  constructor({ python = 'python3', pythonPath = [], log = () => {} }: OwnCodeOptions = {}) {
    this.python = python;
    this.#pythonPath = pythonPath.map((path) => resolve(path));
    this.#log = log;
  }

  /** `module.Class`, `FILE.py:Class` or `FILE.mjs#Class`; files are looked for from `folder` on. Null where it is none of these. */
  find(text: string, folder: string): OwnTarget | null {
    const script = /^(.+\.[cm]?js)#(\w+)$/.exec(text);
    if (script !== null) {
      const file = fileIn(script[1]!, folder);
      return { text, target: { file, attribute: script[2]! }, host: this.#modules(), runs: 'node' };
    }
    const python = /^(.+\.py):(\w+)$/.exec(text);
    if (python !== null) {
      const file = fileIn(python[1]!, folder);
      return { text, target: { file, attribute: python[2]! }, host: this.#pythons(dirname(file)), runs: this.python };
    }
    if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/.test(text) || SCRIPT.has(extname(text))) return null;
    return { text, target: { name: text }, host: this.#pythons(resolve(folder)), runs: this.python };
  }

  /** A process of its own for a function that is not to wait for others. @param file of the function */
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
    return new PythonProcess({ python: this.python, paths, lastPaths: [process.cwd()], log: this.#log });
  }

  #modules(): OwnHost {
    this.#moduleHost ??= new OwnHost(() => new ModuleThread(this.#log));
    return this.#moduleHost;
  }
}

const fileIn = (file: string, folder: string): string => {
  const beside = isAbsolute(file) ? file : resolve(folder, file);
  return existsSync(beside) ? beside : resolve(file);
};
