// How each language is compiled and run: one declaration each, as upstream has them (sandboxfusion.md, section 2).
// Commands are run by `/bin/bash -c` in the run's directory, so a missing interpreter answers with bash's own words
// and code 127. `python_gpu` and `cuda` bring all their code in `files`.
import { randomInt } from 'node:crypto';
import type { Language } from '../../protocol.ts';
import { SandboxFault } from './backend.ts';

export interface Source {
  /** The source file in the run's directory; null where everything is in `files`. */
  file: string | null;
  text: string | Buffer;
  compile: string | null;
  run: string;
}

export interface SourceContext {
  /** An absolute path in the run's directory for a source file with this ending. */
  fresh: (extension: string) => string;
  /** Names in `files`. */
  files: readonly string[];
  /** Linker flags that this machine's g++ can use. */
  linkFlags: string;
}

interface Runner {
  prepare: (code: string | Buffer, context: SourceContext) => Source;
  /** Its runtime sets gigabytes of address space aside, so only data counts against its memory limit, not addresses. */
  reservesAddresses?: boolean;
}

const script =
  (extension: string, command: string): Runner['prepare'] =>
  (code, { fresh }) => {
    const file = fresh(extension);
    return { file, text: code, compile: null, run: `${command} ${file}` };
  };

const compiled =
  (extension: string, compile: (file: string, context: SourceContext) => string, run: string): Runner['prepare'] =>
  (code, context) => {
    const file = context.fresh(extension);
    return { file, text: code, compile: compile(file, context), run };
  };

const javaClassPath = (files: readonly string[]): string =>
  ['.', ...files.filter((name) => /^[\w./-]+\.jar$/.test(name))].join(':');

/** sql passes the request's check, yet has no runner upstream either. */
export const RUNNERS: Partial<Record<Language, Runner>> = {
  python: { prepare: script('.py', 'python') },
  pytest: { prepare: script('.py', 'pytest') },
  bash: { prepare: script('.sh', '/bin/bash') },
  lua: { prepare: script('.lua', 'lua') },
  R: { prepare: script('.R', 'Rscript') },
  perl: { prepare: script('.pl', 'perl') },
  ruby: { prepare: script('.rb', 'ruby') },
  julia: { prepare: script('.jl', 'julia'), reservesAddresses: true },
  racket: { prepare: script('.rkt', 'racket') },
  nodejs: { prepare: script('.js', 'node'), reservesAddresses: true },
  typescript: { prepare: script('.ts', 'tsx'), reservesAddresses: true },
  go_test: { prepare: script('_test.go', 'go test'), reservesAddresses: true },
  kotlin_script: { prepare: script('.kts', 'kotlin'), reservesAddresses: true },
  jest: {
    prepare: (code, { fresh }) => ({ file: fresh('.test.ts'), text: code, compile: null, run: 'npm run test' }),
    reservesAddresses: true,
  },
  php: {
    prepare: (code, context) =>
      script('.php', 'php -f')(code.includes('<?php') ? code : `<?php\n${code.toString()}`, context),
  },
  cpp: {
    prepare: compiled('.cpp', (file, { linkFlags }) => `g++ -std=c++17 ${file} -o test${linkFlags}`, './test'),
  },
  rust: { prepare: compiled('.rs', (file) => `rustc ${file} -o test`, './test') },
  go: { prepare: compiled('.go', (file) => `go build -o out ${file}`, './out'), reservesAddresses: true },
  D_ut: { prepare: compiled('.d', (file) => `dmd ${file} -unittest -of=test`, './test') },
  swift: { prepare: compiled('.swift', (file) => `swiftc ${file} -o test.out`, './test.out') },
  scala: {
    prepare(code, context) {
      const name = /\bobject\s+([A-Za-z_$][\w$]*)/.exec(code.toString())?.[1];
      if (name === undefined) throw new SandboxFault('Object name not found.');
      return compiled('.scala', (file) => `scalac ${file}`, `scala ${name}`)(code, context);
    },
    reservesAddresses: true,
  },
  java: {
    prepare(code, { files }) {
      const path = javaClassPath(files);
      return {
        file: 'Main.java',
        text: code,
        compile: `javac -cp ${path} Main.java`,
        run: `java -cp ${path} -ea Main`,
      };
    },
    reservesAddresses: true,
  },
  junit: {
    prepare(code, { files }) {
      const name =
        /\bpublic\s+(?:final\s+|abstract\s+)*class\s+([A-Za-z_$][\w$]*)/.exec(code.toString())?.[1] ?? 'Main';
      const console = 'junit-platform-console-standalone-1.8.2.jar';
      const path = `${javaClassPath(files)}:./${console}`;
      return {
        file: `${name}.java`,
        text: code,
        compile: `javac -cp ${path} *.java`,
        run: `java -jar ./${console} --class-path ${path} --scan-class-path`,
      };
    },
    reservesAddresses: true,
  },
  csharp: {
    prepare: (code) => ({
      file: 'project/Program.cs',
      text: code,
      compile: 'dotnet new console --force --no-restore -o /tmp/new >/dev/null && cp /tmp/new/new.csproj project/',
      run: 'dotnet run --project project',
    }),
    reservesAddresses: true,
  },
  verilog: {
    prepare: compiled(
      '.sv',
      (file) => `iverilog -Wall -Winfloop -Wno-timescale -g2012 -s tb -o test.vvp ${file};`,
      'vvp -n test.vvp',
    ),
  },
  lean: { prepare: (code) => ({ file: 'Main.lean', text: code, compile: null, run: 'lake build' }) },
  cuda: {
    prepare: () => ({
      file: null,
      text: '',
      compile: 'mkdir build && cd build && cmake .. && make -j 4',
      run: './build/main',
    }),
  },
  python_gpu: { prepare: () => ({ file: null, text: '', compile: 'python compile.py', run: 'python run.py' }) },
};

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789_';

/** As Python's tempfile names things: tmp and eight characters. */
export const temporaryName = (): string =>
  `tmp${Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`;
