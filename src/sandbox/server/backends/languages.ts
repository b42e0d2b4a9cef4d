// How each language is compiled and run: one declaration each, as in upstream (sandboxfusion.md, section 2).
// Commands are run by `/bin/bash -c` in the run's directory. `python_gpu` and `cuda` bring all their code in `files`.

import { randomInt } from 'node:crypto';
import { errorMessage } from '../../../core/text/thrown.ts';
import type { Language } from '../../protocol.ts';
import { SandboxFault } from './backend.ts';

export interface Source {
  /** The source file in the run's directory; null if everything is in `files`. */
  file: string | null;
  text: string | Buffer;
  compile: string | null;
  run: string;
}

interface SourceContext extends LanguageMachine {
  /** An absolute path in the run's directory for a source file with this extension. */
  fresh: (extension: string) => string;
  /** Names in `files`. */
  files: readonly string[];
}

interface LanguageMachine {
  /** Linker flags that this machine's g++ accepts. */
  linkFlags: string;
  /** Java archives of this machine that programs may assume. */
  jars?: readonly string[];
  /** A folder with node_modules, and for jest its package.json and babel.config.js. */
  nodeFolder?: string | null;
}

/** A program rejected before its compiler runs; answered as a failed compilation. */
export class CompileFault extends SandboxFault {
  override name = 'CompileFault';
}

interface Runner {
  prepare: (code: string | Buffer, context: SourceContext) => Source;
  /** Its runtime reserves gigabytes of address space, so only data counts against its memory limit, not addresses. */
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

const javaClassPath = ({ files, jars = [] }: SourceContext): string =>
  ['.', ...files.filter((name) => /^[\w./-]+\.jar$/.test(name)), ...jars].join(':');

/** Upstream's image has this library, and MultiPL-E's programs import it needlessly. */
const TUPLES = 'import org.javatuples.*;';
const TUPLE_CLASS =
  /\b(?:Unit|Pair|Triplet|Quartet|Quintet|Sextet|Septet|Octet|Ennead|Decade|KeyValue|LabelValue|Tuple)\b/;

/** An unused import is no reason to fail if the library is missing. */
function withoutTuples(code: string | Buffer, { files, jars = [] }: SourceContext): string | Buffer {
  const there = [...files, ...jars].some((name) => name.includes('javatuples'));
  const text = code.toString();
  return there || TUPLE_CLASS.test(text) ? code : text.replaceAll(TUPLES, '');
}

/** Links what Node looks for beside a program; the caller's files are kept. */
function besideNode({ nodeFolder, files }: SourceContext, names: readonly string[]): string {
  if (!nodeFolder) return '';
  const wanted = names.filter((name) => !files.some((file) => file === name || file.startsWith(`${name}/`)));
  return wanted.map((name) => `[ ! -e '${nodeFolder}/${name}' ] || ln -s '${nodeFolder}/${name}' .; `).join('');
}

const nodeScript =
  (extension: string, command: string): Runner['prepare'] =>
  (code, context) => {
    const source = script(extension, command)(code, context);
    return { ...source, run: `${besideNode(context, ['node_modules'])}${source.run}` };
  };

/** A compiler is too short-lived for Java's second compiler to pay off: without it, scalac needs half the processor time. */
const QUICK_FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
const QUICK_JVM = `JAVA_OPTS='-Xmx1g ${QUICK_FLAGS.join(' ')}'`;
const QUICK_JAVAC = QUICK_FLAGS.map((flag) => `-J${flag}`).join(' ');

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
  nodejs: { prepare: nodeScript('.js', 'node'), reservesAddresses: true },
  typescript: { prepare: nodeScript('.ts', 'tsx'), reservesAddresses: true },
  go_test: { prepare: script('_test.go', 'go test'), reservesAddresses: true },
  kotlin_script: { prepare: script('.kts', 'kotlin'), reservesAddresses: true },
  jest: {
    prepare(code, context) {
      const beside = besideNode(context, ['node_modules', 'package.json', 'babel.config.js']);
      if (beside === '' && !context.files.includes('package.json')) {
        throw new SandboxFault(
          'jest cannot run on this server: no package.json with jest (--toolchain DIR names its folder)',
        );
      }
      return { file: context.fresh('.test.ts'), text: code, compile: null, run: `${beside}npm run test` };
    },
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
      if (name === undefined) throw new CompileFault('Object name not found.');
      return compiled('.scala', (file) => `${QUICK_JVM} scalac ${file}`, `${QUICK_JVM} scala ${name}`)(code, context);
    },
    reservesAddresses: true,
  },
  java: {
    prepare(code, context) {
      const path = javaClassPath(context);
      return {
        file: 'Main.java',
        text: withoutTuples(code, context),
        compile: `javac ${QUICK_JAVAC} -cp ${path} Main.java`,
        run: `java -cp ${path} -ea Main`,
      };
    },
    reservesAddresses: true,
  },
  junit: {
    prepare(code, context) {
      const name =
        /\bpublic\s+(?:final\s+|abstract\s+)*class\s+([A-Za-z_$][\w$]*)/.exec(code.toString())?.[1] ?? 'Main';
      const path = javaClassPath(context);
      const standalone = path.split(':').find((jar) => /junit-platform-console-standalone[^/]*\.jar$/.test(jar));
      if (standalone === undefined && !path.includes('junit-platform-console')) {
        throw new SandboxFault('junit cannot run on this server: no junit-platform-console (apt-get install junit5)');
      }
      const start = standalone
        ? `java -jar ${standalone}`
        : `java -cp ${path} org.junit.platform.console.ConsoleLauncher`;
      return {
        // A test that is entirely in `files` has no other code.
        file: code.length === 0 ? null : `${name}.java`,
        text: code,
        compile: `javac ${QUICK_JAVAC} -cp ${path} *.java`,
        run: `${start} --class-path ${path} --scan-class-path`,
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

/** No package brings a GPU. */
export const NEEDS_GPU: readonly Language[] = ['cuda', 'python_gpu'];

/** Why programs of this language cannot run although its tools are installed; null if nothing is known against it. */
export function lackOfMachine(language: Language, machine: LanguageMachine & { hasGpu: boolean }): string | null {
  if (NEEDS_GPU.includes(language) && !machine.hasGpu) return 'no GPU';
  try {
    RUNNERS[language]?.prepare('', { fresh: (extension) => `a${extension}`, files: [], ...machine });
    return null;
  } catch (error) {
    return error instanceof CompileFault ? null : errorMessage(error);
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789_';

/** As Python's tempfile names things: tmp and eight characters. */
export const temporaryName = (): string =>
  `tmp${Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`;
