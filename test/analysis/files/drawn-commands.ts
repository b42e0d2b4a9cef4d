import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { RecordedAction } from '../../../src/analysis/actions/action.ts';

/** Sessions run behind bubblewrap alone; where it is missing their tests are skipped. */
export const hasWalls = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true']).status === 0;

/** A call of a drawn session: a command of the agent's shell, or a file written by its tool. */
export type DrawnCall = { command: string } | { path: string; content: string };

const FILES = ['a.txt', 'b.py', 'src/c.py', 'src/d.txt'];
const file = fc.constantFrom(...FILES);
const word = fc.constantFrom('one', 'two', 'three', 'x = 1', "it's", 'a\tb', 'ü');
const text = fc.array(word, { minLength: 1, maxLength: 3 }).map((lines) => `${lines.join('\n')}\n`);
const dir = fc.constantFrom('src', '.', '..', 'new', 'missing');
const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** Commands whose effects a careful reader knows. */
const plain = fc.oneof(
  fc.tuple(file, text).map(([f, t]) => `cat > ${f} <<'EOF'\n${t}EOF`),
  fc.tuple(file, text).map(([f, t]) => `cat >> ${f} <<'EOF'\n${t}EOF`),
  fc.tuple(file, word).map(([f, w]) => `echo ${quoted(w)} > ${f}`),
  fc.tuple(file, word).map(([f, w]) => `printf '%s\\n' ${quoted(w)} >> ${f}`),
  file.map((f) => `cat ${f}`),
  file.map((f) => `rm ${f}`),
  fc.tuple(file, file).map(([f, g]) => `cp ${f} ${g}`),
  fc.tuple(file, file).map(([f, g]) => `mv ${f} ${g}`),
  file.map((f) => `grep -n one ${f}`),
  file.map((f) => `sed -n '1,2p' ${f}`),
  file.map((f) => `wc -l ${f}`),
);

/** Commands that mislead a reader who takes the text for its effect. */
const tricky = fc.oneof(
  fc.tuple(file, word).map(([f, w]) => `false && echo ${quoted(w)} > ${f}; true`),
  fc.tuple(file, word).map(([f, w]) => `test -d src || echo ${quoted(w)} > ${f}`),
  fc.tuple(file, word).map(([f, w]) => `false; echo ${quoted(w)} > ${f}`),
  fc.tuple(file, file, text).map(([f, g, t]) => `cat > ${f} > ${g} <<'EOF'\n${t}EOF`),
  fc.tuple(file, text).map(([f, t]) => `f=${f}; cat > $f <<'EOF'\n${t}EOF`),
  fc.tuple(file, word).map(([f, w]) => `f=${f.slice(0, -3)}; echo ${quoted(w)} > "$f${f.slice(-3)}"`),
  fc.tuple(dir, word).map(([d, w]) => `cd ${d}; echo ${quoted(w)} > a.txt`),
  fc.tuple(dir, word).map(([d, w]) => `cd ${d} && echo ${quoted(w)} > c.py`),
  fc.tuple(dir).map(([d]) => `cd ${d}`),
  fc.tuple(dir).map(([d]) => `cd ${d}; false`),
  fc.tuple(dir).map(([d]) => `pushd ${d} > /dev/null`),
  fc.constant('cd - > /dev/null'),
  fc.tuple(dir).map(([d]) => `if [ -d ${d} ]; then cd ${d}; fi`),
  fc.tuple(file, dir).map(([f, d]) => `cp ${f} ${d}`),
  fc.tuple(file, dir).map(([f, d]) => `mv ${f} ${d}`),
  fc.tuple(file, file).map(([f, g]) => `cp -n ${f} ${g}`),
  fc.tuple(file, file).map(([f, g]) => `mv -n ${f} ${g}`),
  fc.tuple(file, file).map(([f, g]) => `rm ${f} ${g} nothing`),
  fc.tuple(file).map(([f]) => `rm -f ${f} nothing`),
  fc.constantFrom('mv src lib', 'mv lib src', 'cp -r src lib', 'rm -rf src', 'rm -rf lib', 'mkdir -p src lib new'),
  fc.constantFrom('cp -r lib/. src', 'cp lib/* src', 'cp src/* .', 'mv src/* .'),
  fc.tuple(file, file).map(([f, g]) => `ln -sfr ${f} ${g}`),
  fc.tuple(file, file).map(([f, g]) => `ln -f ${f} ${g}`),
  fc.constant('ln -sfn src link'),
  fc.tuple(word).map(([w]) => `echo ${quoted(w)} > link/c.py`),
  fc.tuple(file).map(([f]) => `command rm -f ${f}`),
  fc.tuple(file).map(([f]) => `env X=1 rm -f ${f}`),
  fc.tuple(file).map(([f]) => `gawk -i inplace '{print "z" $0}' ${f}`),
  fc.tuple(file).map(([f]) => `awk '{print > "${f}"}' b.py`),
  fc.tuple(file).map(([f]) => `sed -n 'w ${f}' b.py`),
  fc.tuple(file).map(([f]) => `sed 's/o/0/w ${f}' b.py`),
  fc.tuple(file, file).map(([f, g]) => `uniq ${f} ${g}`),
  fc.tuple(file).map(([f]) => `sort -o ${f} ${f}`),
  fc.tuple(file).map(([f]) => `dd if=b.py of=${f} 2>/dev/null`),
  fc.tuple(file).map(([f]) => `truncate -s 3 ${f}`),
  fc.tuple(file).map(([f]) => `sed -i 's/o/0/' ${f}`),
  fc.constant("grep -rl one . | xargs -r sed -i 's/one/uno/'"),
  fc.constant("find . -name '*.py' | xargs -r sed -i 's/x/y/'"),
  fc.constant('for f in $(ls *.txt src/*.txt 2>/dev/null); do echo more >> "$f"; done'),
  fc.constant("for f in a b; do [ -e $f.txt ] && sed -i 's/t/T/' $f.txt; done"),
  fc.constant('ls src | while read f; do echo more >> src/$f; done'),
  fc.tuple(file).map(([f]) => `python3 -c "open('${f}','w').write('py')"`),
  fc.tuple(file).map(([f]) => `echo "open('${f}','w').write('py')" | python3`),
  fc.tuple(file).map(([f]) => `cat <<'EOF' | python3 -\nimport pathlib\npathlib.Path('${f}').write_text('z')\nEOF`),
  fc.tuple(file).map(([f]) => `cat > fix.py <<'EOF'\nimport sys\nopen('${f}','a').write('fixed')\nEOF\npython3 fix.py`),
  fc.constant("cat > fix2.py <<'EOF'\nimport sys\nfor p in sys.argv[1:]:\n    open(p,'a').write('fixed')\nEOF"),
  fc.tuple(file).map(([f]) => `[ -f fix2.py ] && python3 fix2.py ${f}`),
  fc.constant('python3 fix.py'),
  fc.tuple(file).map(([f]) => `cat > own.py <<'EOF'\ndef go():\n    open('${f}','a').write('own')\nEOF`),
  fc.constantFrom('python3 -c "import own; own.go()"', 'python3 -c "from own import go; go()"', 'python3 use.py'),
  fc.constant("printf 'import own as o\\no.go()\\n' > use.py"),
  fc.constant('printf \'import subprocess\\nsubprocess.run(["make", "-s"])\\n\' > use.py'),
  fc.constant('printf \'import os\\nos.system("bash run.sh")\\n\' > use.py'),
  fc.constant("cat > run.sh <<'EOF'\nrm -f a.txt\necho z > src/c.py\nEOF"),
  fc.constant('bash run.sh'),
  fc.constant("printf 'all:\\n\\trm -f a.txt; echo z > src/c.py\\n' > Makefile"),
  fc.constant('make -s'),
  fc.constant('mkdir -p bin; { echo "#!/bin/sh"; echo "echo z > b.py"; } > bin/change; chmod +x bin/change'),
  fc.constantFrom(
    'bin/change',
    './bin/change quietly',
    'PATH=$PWD/bin:$PATH change',
    'python3 -m missing',
    'python3 -m fix',
  ),
  fc.constant('. ./run.sh'),
  fc.constant('source run.sh'),
  fc.tuple(file).map(([f]) => `bash -c 'rm -f ${f}'`),
  fc.tuple(file).map(([f]) => `bash -c 'mv ${f} gone.txt'`),
  fc.tuple(file).map(([f]) => `sh <<'EOF'\nrm -f ${f}\nEOF`),
  fc.tuple(file).map(([f]) => `eval "rm -f ${f}"`),
  fc.tuple(file).map(([f]) => `w() { echo "$2" > "$1"; }; w ${f} hi`),
  fc.tuple(file, word).map(([f, w]) => `(sleep 0.01; echo ${quoted(w)} > ${f}) & wait`),
  fc.tuple(file).map(([f]) => `python3 nothing.py > ${f}`),
  fc.tuple(file).map(([f]) => `grep -n nothing ${f} > a.txt`),
  fc.tuple(file).map(([f]) => `cat nothing > ${f}`),
  fc.tuple(file, word).map(([f, w]) => `echo ${quoted(w)} | tee ${f} nodir/x`),
  fc.tuple(file, word).map(([f, w]) => `tee nodir/x ${f} <<< ${quoted(w)}`),
  fc.tuple(file, text).map(([f, t]) => `cat > ${f} <<EOF\n$HOME ${t}EOF`),
  fc.tuple(file, text).map(([f, t]) => `cat > ${f} <<'EOF'\n${t.replaceAll('\n', '\r\n')}EOF`),
  fc.tuple(file, text).map(([f, t]) => `cat > ${f} << 'EOF' < b.py\n${t}EOF`),
  fc.tuple(file).map(([f]) => `diff -u ${f} b.py > p.diff; patch -s ${f} < p.diff`),
  fc.tuple(file).map(([f]) => `patch -s -R ${f} < p.diff`),
  fc.constant('tar cf t.tar a.txt src'),
  fc.constant('tar xf t.tar'),
  fc.tuple(file).map(([f]) => `ed -s ${f} <<'EOF'\n1d\nw\nq\nEOF`),
  fc.constant('git init -q . 2>/dev/null; git add -A 2>/dev/null; git -c user.name=a -c user.email=b commit -qm x'),
  fc.constant('git checkout -q .'),
  fc.constant('git stash -q'),
  fc.tuple(file).map(([f]) => `set -C; echo no > ${f}`),
  fc.tuple(file).map(([f]) => `exec > ${f}; echo out; exec > /dev/null`),
  fc.tuple(file, file).map(([f, g]) => `cp ${f} ${f}.bak && mv ${f}.bak ${g}`),
  fc.tuple(file, file).map(([f, g]) => `install ${f} ${g}`),
  fc.tuple(file).map(([f]) => `timeout -k 1 5 rm ${f}`),
  fc.tuple(file).map(([f]) => `echo hi >${f} && false`),
  fc.tuple(file).map(([f]) => `! echo hi > ${f}`),
  fc.tuple(file).map(([f]) => `: > ${f}; cat nothing`),
  fc.tuple(file).map(([f]) => `perl -pi -e 's/o/0/' ${f}`),
  fc.tuple(file).map(([f]) => `perl -e 'unlink "${f}"'`),
  fc.tuple(file).map(([f]) => `xargs -a /dev/null rm -f ${f}`),
  fc.tuple(file).map(([f]) => `find . -name ${f.replace(/^.*\//, '')} -delete`),
  fc.tuple(file).map(([f]) => `cat ${f} | head -1 > t && mv t ${f}`),
  fc.tuple(file).map(([f]) => `cat ${f}; rm -f ${f}`),
  fc.tuple(file).map(([f]) => `cat ${f} 2>/dev/null || echo none`),
  fc.tuple(file).map(([f]) => `cat ${f} && echo done`),
  fc.tuple(file).map(([f]) => `rm -f ${f} & wait`),
  fc.tuple(file).map(([f]) => `trap 'rm -f ${f}' DEBUG; true; trap - DEBUG`),
  fc.tuple(file).map(([f]) => `alias ll='rm -f ${f}'; shopt -s expand_aliases\nll`),
);

const tool = fc.tuple(file, text).map(([path, content]): DrawnCall => ({ path, content }));
const call: fc.Arbitrary<DrawnCall> = fc.oneof(
  { weight: 2, arbitrary: tool },
  { weight: 5, arbitrary: plain.map((command): DrawnCall => ({ command })) },
  { weight: 5, arbitrary: tricky.map((command): DrawnCall => ({ command })) },
);
export const drawnCalls = fc.array(call, { minLength: 2, maxLength: 12 });

/** How the shell of a drawn session keeps its state. */
export type DrawnShell = 'execute_bash' | 'shell_command' | 'Bash';

export interface RanSession {
  work: string;
  actions: RecordedAction[];
  /** The bytes of a file after a call, or null. */
  contentAfter: (call: number, path: string) => Buffer | null;
  end: () => void;
}

/** Really runs a session in a separate folder, and records it as an agent does. `root` is the folder's name in the record. */
export function ranSession(calls: readonly DrawnCall[], shell: DrawnShell): RanSession {
  const base = mkdtempSync(join(tmpdir(), 'rv-drawn-'));
  // Sessions go up from their folder; the copies lie beyond their reach.
  const home = join(base, 'a/b/c/d/e/f/g/h/home');
  const work = join(home, 'w');
  mkdirSync(join(work, 'src'), { recursive: true });
  let script = `cd ${work} || exit 9\n`;
  for (const [i, one] of calls.entries()) {
    const copy = `cp -a ${home} ${base}/${i}\n`;
    if ('path' in one) {
      const path = `${work}/${one.path}`;
      // The tool follows links and makes folders.
      script += `( mkdir -p ${path.replace(/\/[^/]*$/, '')} && printf %s ${quoted(one.content)} >| ${path} ) 2>/dev/null; echo $? > ${base}/${i}.exit\n${copy}`;
      continue;
    }
    const end = `echo $? > ${base}/${i}.exit; pwd > ${base}/${i}.pwd; set +C\n`;
    const out = `</dev/null > ${base}/${i}.out 2>&1`;
    script +=
      shell === 'execute_bash'
        ? `eval ${quoted(one.command)} ${out}\n${end}${copy}`
        : shell === 'shell_command'
          ? `( cd ${work} && exec bash -c ${quoted(one.command)} ) ${out}\n${end}${copy}`
          : `( exec bash -c ${quoted(`eval ${quoted(one.command)}\n__e=$?; [ $__e = 0 ] && pwd -P > ${base}/cwd; exit $__e`)} ) ${out}\n${end}[ -s ${base}/cwd ] && cd "$(cat ${base}/cwd)"\n${copy}`;
  }
  // A drawn command may go anywhere and remove anything: only its own folder can be written, and nothing runs where it is missing.
  const walls = ['--ro-bind', '/', '/', '--bind', base, base, '--dev', '/dev', '--proc', '/proc'];
  execFileSync(
    'bwrap',
    [...walls, '--unshare-all', '--die-with-parent', '--chdir', work, '--', 'bash', '-c', `${script}exit 0\n`],
    {
      stdio: 'ignore',
      env: { PATH: process.env.PATH ?? '', HOME: base, LC_ALL: 'C.UTF-8' },
    },
  );
  const actions = calls.map((one, call): RecordedAction => {
    const at = { call, turn: call, resultTurn: call };
    const exit = Number(readFileSync(`${base}/${call}.exit`, 'utf8'));
    if ('path' in one) {
      const path = `${work}/${one.path}`;
      const result = exit === 0 ? `File created successfully at: ${path}` : `Error: ${path} could not be written`;
      return { ...at, name: 'Write', action: { kind: 'write', path, content: one.content }, result };
    }
    const out = readFileSync(`${base}/${call}.out`, 'utf8');
    const action = { kind: 'shell', command: one.command, workdir: null, timeout: null, isInput: false } as const;
    const result =
      shell === 'execute_bash'
        ? `${out.trimEnd()}\n[The command completed with exit code ${exit}.]`
        : shell === 'shell_command'
          ? `Exit code: ${exit}\nWall time: 0 seconds\nOutput:\n${out}`
          : exit === 0
            ? out.trimEnd()
            : `Exit code ${exit}\n${out.trimEnd()}`;
    return { ...at, name: shell, action, result };
  });
  return {
    work,
    actions,
    contentAfter: (call, path) => {
      const full = path.replace(home, join(base, String(call)));
      try {
        // A link of the session leads into the folder as it is at the end; copies hold its target beside it.
        return existsSync(full) && statSync(full).isFile() ? readFileSync(full) : null;
      } catch {
        return null;
      }
    },
    end: () => rmSync(base, { recursive: true, force: true }),
  };
}
