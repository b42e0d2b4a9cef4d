// The programs that each language needs, and the package that provides them. A program whose toolchain is missing
// did nothing wrong: it gets a SandboxError before any of it runs.
import type { Language } from '../../protocol.ts';
import { type Backend, DEFAULT_RUN_LIMITS, type Job, type Outcome, SandboxFault } from './backend.ts';
import { CompileFault, NEEDS_GPU, RUNNERS } from './languages.ts';

export interface Toolchain {
  /** All of these are required. */
  tools: readonly string[];
  /** Debian's packages, or another source. */
  from: string;
}

const debian = (packages: string, ...tools: string[]): Toolchain => ({ tools, from: `apt-get install ${packages}` });
const elsewhere = (from: string, ...tools: string[]): Toolchain => ({ tools, from });

export const TOOLCHAINS: Partial<Record<Language, Toolchain>> = {
  python: debian('python3', 'python'),
  pytest: debian('python3-pytest', 'pytest'),
  bash: debian('bash', '/bin/bash'),
  cpp: debian('g++', 'g++'),
  nodejs: debian('nodejs', 'node'),
  typescript: elsewhere('npm install --prefix DIR tsx, and --toolchain DIR', 'tsx'),
  jest: elsewhere('npm install --prefix DIR jest ts-jest (with a package.json), and --toolchain DIR', 'npm'),
  go: debian('golang-go', 'go'),
  go_test: debian('golang-go', 'go'),
  java: debian('default-jdk-headless', 'javac', 'java'),
  junit: debian('default-jdk-headless junit5', 'javac', 'java'),
  rust: debian('rustc', 'rustc'),
  lua: debian('lua5.4', 'lua'),
  R: debian('r-base-core', 'Rscript'),
  perl: debian('perl', 'perl'),
  ruby: debian('ruby', 'ruby'),
  php: debian('php-cli', 'php'),
  racket: debian('racket', 'racket'),
  verilog: debian('iverilog', 'iverilog', 'vvp'),
  D_ut: debian('ldc', 'dmd'),
  scala: debian('scala', 'scalac', 'scala'),
  kotlin_script: elsewhere('https://kotlinlang.org/docs/command-line.html, and --toolchain DIR', 'kotlin'),
  julia: elsewhere('https://julialang.org/downloads, and --toolchain DIR', 'julia'),
  swift: elsewhere('https://www.swift.org/install, and --toolchain DIR', 'swiftc'),
  csharp: elsewhere('https://dotnet.microsoft.com/download, and --toolchain DIR', 'dotnet'),
  lean: elsewhere('https://lean-lang.org/install with Mathlib, and --toolchain DIR', 'lake'),
  cuda: debian('cmake nvidia-cuda-toolkit', 'cmake', 'nvcc'),
  python_gpu: debian('python3', 'python'),
};

/** Tools installed while the server runs are found after this long. */
const LOOK_AGAIN_MS = 10_000;
const LOOK_SECONDS = 10;

/** Which languages of a backend can run here: one lookup for all programs of a run, not one per program. */
export class Toolchains {
  readonly #backend: Backend;
  #missing: Promise<ReadonlySet<string>> | null = null;
  #looked = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** The missing tools of this language. */
  async missing(language: Language): Promise<string[]> {
    const needed = TOOLCHAINS[language]?.tools ?? [];
    const lacking = async () => {
      this.#missing ??= this.#look();
      const absent = await this.#missing;
      return needed.filter((tool) => absent.has(tool));
    };
    const first = await lacking();
    if (first.length === 0 || Date.now() - this.#looked < LOOK_AGAIN_MS) return first;
    this.#missing = null;
    return lacking();
  }

  async #look(): Promise<ReadonlySet<string>> {
    this.#looked = Date.now();
    if (!this.#backend.languages.has('bash')) return new Set();
    const tools = [...new Set(Object.values(TOOLCHAINS).flatMap((toolchain) => toolchain.tools))];
    const code = `for tool in ${tools.join(' ')}; do command -v "$tool" >/dev/null || echo "$tool"; done`;
    const { run } = await this.#backend.execute(lookingJob(code));
    return new Set((run?.stdout ?? '').split('\n').filter(Boolean));
  }
}

const lookingJob = (code: string): Job => ({
  language: 'bash',
  code,
  stdin: null,
  files: new Map(),
  fetchFiles: [],
  compileTimeout: LOOK_SECONDS,
  runTimeout: LOOK_SECONDS,
  limits: DEFAULT_RUN_LIMITS,
});

/** Wraps a backend to refuse languages without a toolchain. */
export function withToolchains(backend: Backend, toolchains: Toolchains): Backend {
  return {
    name: backend.name,
    languages: backend.languages,
    limits: backend.limits,
    isWeak: backend.isWeak ?? false,
    close: () => backend.close(),
    async execute(job, signal) {
      const missing = await toolchains.missing(job.language);
      if (missing.length > 0) {
        const from = TOOLCHAINS[job.language]?.from;
        throw new SandboxFault(`${job.language} cannot run on this server: no ${missing.join(', no ')} (${from})`);
      }
      try {
        return await backend.execute(job, signal);
      } catch (error) {
        if (error instanceof CompileFault) return notCompiled(error.message);
        throw error;
      }
    },
  };
}

/** Problems found before the compiler runs. */
const notCompiled = (stderr: string): Outcome => ({
  compile: { status: 'Error', execution_time: null, return_code: 1, stdout: null, stderr },
  run: null,
  files: new Map(),
});

/** Two readable lines: what runs here, and what does not, with the packages that provide it. */
export async function toldLanguages(backend: Backend, toolchains: Toolchains): Promise<string[]> {
  const all = Object.keys(RUNNERS).filter((language): language is Language =>
    backend.languages.has(language as Language),
  );
  const looked = await Promise.all(
    all.map(async (language) => ({ language, missing: await toolchains.missing(language) })),
  );
  const runs = ({ language, missing }: (typeof looked)[number]) => missing.length === 0 && !backend.lacks?.(language);
  const here = looked.filter(runs).map(({ language }) => language);
  const absent = looked
    .filter((each) => !runs(each) && !NEEDS_GPU.includes(each.language))
    .map(({ language }) => language);
  const more =
    absent.length === 0 ? [] : [`not installed: ${absent.join(' ')} (rollout-viewer doctor says how to get them)`];
  return [`languages: ${here.join(' ')}`, ...more];
}
