// The checks of `doctor`: each has a name, a proof to run, and a remedy. Other folders add their own lists.
import { LANGUAGES, type Language, type RunCodeInput, runCodeRequest } from '../protocol.ts';
import { ANY_VERSION, Cgroups } from './backends/cgroups.ts';
import { TOOLCHAINS } from './backends/toolchains.ts';
import { createRunner, type SandboxRunner, type SandboxRunnerOptions } from './index.ts';

export interface DoctorCheck {
  name: string;
  /** Without it a promised feature does not work; otherwise only one ability is missing. */
  needed: boolean;
  /** The finding in a few words. @throws {Error} naming the problem */
  prove(): Promise<string>;
  remedy: string;
}

const HELLO = 'here';
/** The shortest program that prints its result in each language; finding a compiler alone proves nothing. */
const PROGRAMS: Partial<Record<Language, string>> = {
  python: `print("${HELLO}")`,
  pytest: 'def test_here():\n    assert True',
  bash: `echo ${HELLO}`,
  cpp: `#include <cstdio>\nint main() { puts("${HELLO}"); }`,
  nodejs: `console.log("${HELLO}")`,
  typescript: `const word: string = "${HELLO}"; console.log(word)`,
  jest: 'test("here", () => { expect(1).toBe(1); });',
  go: `package main\nimport "fmt"\nfunc main() { fmt.Println("${HELLO}") }`,
  go_test: 'package main\nimport "testing"\nfunc TestHere(t *testing.T) {}',
  java: `public class Main { public static void main(String[] args) { System.out.println("${HELLO}"); } }`,
  junit: 'import org.junit.jupiter.api.Test;\npublic class HereTest { @Test void here() {} }',
  rust: `fn main() { println!("${HELLO}"); }`,
  lua: `print("${HELLO}")`,
  R: `cat("${HELLO}")`,
  perl: `print "${HELLO}";`,
  ruby: `puts "${HELLO}"`,
  php: `echo "${HELLO}";`,
  racket: `#lang racket/base\n(display "${HELLO}")`,
  verilog: `module tb; initial begin $display("${HELLO}"); $finish; end endmodule`,
  D_ut: 'unittest { assert(true); } void main() {}',
  scala: `object Here extends App { println("${HELLO}") }`,
  kotlin_script: `println("${HELLO}")`,
  julia: `println("${HELLO}")`,
  swift: `print("${HELLO}")`,
  csharp: `System.Console.WriteLine("${HELLO}");`,
  lean: 'theorem here : 1 = 1 := rfl',
};

/** @param open the runner that all proofs share, opened by the first */
export function sandboxChecks(options: SandboxRunnerOptions): { checks: DoctorCheck[]; close(): Promise<void> } {
  let opened: Promise<SandboxRunner> | null = null;
  let hasOnlyPython = false;
  let isRefused = false;
  const runner = () => {
    opened ??= createRunner(options).then(
      (made) => {
        hasOnlyPython = made.backend.name === 'pyodide';
        return made;
      },
      (error: unknown) => {
        isRefused = true;
        throw error;
      },
    );
    return opened;
  };
  /** The check of the sandbox has the reasons, once. */
  const runnerAgain = () =>
    runner().catch(() => {
      throw new Error('no sandbox can be used here');
    });
  const remedyUnlessRefused = (remedy: string) => (isRefused ? 'as for the sandbox, above' : remedy);
  const languages = LANGUAGES.filter((language) => PROGRAMS[language] !== undefined);
  const checks: DoctorCheck[] = [
    {
      name: 'sandbox',
      needed: true,
      remedy: 'apt-get install bubblewrap; or Pyodide (Python only); or --backend URL',
      async prove() {
        const { backend } = await runner();
        return [backend.name, ...backend.why.map((reason) => `not ${reason}`)].join('; ');
      },
    },
    {
      name: 'control groups',
      needed: false,
      remedy:
        'systemd-run --user --scope -p Delegate=yes rollout-viewer sandbox …; as root on version 1: --cgroup-v1. Without one memory is held to about a fifth',
      async prove() {
        const groups = Cgroups.share(ANY_VERSION);
        try {
          return groups.version === 2
            ? 'version 2: every run is counted by the kernel'
            : 'version 1: not for forked Python';
        } finally {
          await groups.close();
        }
      },
    },
    ...languages.map((language) => ({
      name: `language ${language}`,
      needed: language === 'python',
      /** Known after the lookup. */
      get remedy() {
        return hasOnlyPython && language !== 'python'
          ? 'apt-get install bubblewrap'
          : remedyUnlessRefused(TOOLCHAINS[language]?.from ?? '');
      },
      prove: () =>
        runs(runnerAgain, { language, code: PROGRAMS[language] ?? '', compile_timeout: 60, run_timeout: 60 }),
    })),
    {
      name: 'python memory limit',
      needed: true,
      get remedy() {
        return remedyUnlessRefused('a kernel with RLIMIT_AS or cgroup v2');
      },
      async prove() {
        const code = 'try:\n    bytearray(200 << 20)\nexcept MemoryError:\n    print("here")';
        const { run } = await runnerAgain();
        const answer = await run(requestOf({ language: 'python', code, memory_limit_MB: 100 }));
        if (answer.status === 'Success' && answer.run_result?.stdout !== `${HELLO}\n`)
          throw new Error('200 MB were had under a limit of 100 MB');
        return 'holds';
      },
    },
  ];
  return { checks, close: async () => (await opened?.catch(() => null))?.close() };
}

async function runs(runner: () => Promise<SandboxRunner>, input: RunCodeInput): Promise<string> {
  const { run } = await runner();
  const { status, message, compile_result, run_result } = await run(requestOf(input));
  if (status === 'Success') return `${Math.round((run_result?.execution_time ?? 0) * 1000)} ms`;
  const failed = run_result ?? compile_result;
  const said = message || failed?.stderr?.trim() || failed?.stdout?.trim() || failed?.status || 'it failed';
  // The last line names the problem, whichever program printed it.
  throw new Error(
    said
      .replace(`exception on running code ${input.code}: `, '')
      .replace(/^[\s\S]*?cannot run on this server: /, '')
      .split('\n')
      .at(-1)
      // The remedy is printed below it.
      ?.replace(/(?: \(.*\))? None$/, '')
      .slice(0, 200) ?? 'it failed',
  );
}

function requestOf(input: RunCodeInput) {
  const request = runCodeRequest.check(input);
  if (!request.ok) throw new TypeError('the proof is not a valid request');
  return request.value;
}
