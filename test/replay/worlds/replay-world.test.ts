import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { bisect } from '../../../src/replay/worlds/bisect.ts';
import { outcomesOf } from '../../../src/replay/worlds/outcomes.ts';
import { repeatedOutcomes } from '../../../src/replay/worlds/repeated.ts';
import {
  layerIds,
  replayWorld,
  type WorldOptions,
  type WorldOutcome,
  worldPlan,
} from '../../../src/replay/worlds/replay-world.ts';
import { planRollout } from '../../../src/replay/worlds/world-plan.ts';
import { hostImage } from '../../../src/sandbox/worlds/image.ts';
import { foldChanges, LayerStore, removeTree } from '../../../src/sandbox/worlds/layers.ts';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { LiveWorld } from '../../../src/sandbox/worlds/world.ts';
import type { ShellKind } from '../../../src/sandbox/worlds/world-shell.ts';
import { bin } from '../../program.ts';

type Call = [name: string, args: object, result: string];

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'worlds-'));

const problem = await worldProblem();

function optionsOf(calls: readonly Call[], root: string): WorldOptions {
  const messages: object[] = [{ role: 'user', content: 'Go. Commands start in /tmp.' }];
  for (const [i, [name, args, result]] of calls.entries()) {
    const id = `c${i}`;
    messages.push({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    });
    messages.push({ role: 'tool', tool_call_id: id, content: result });
  }
  const { rollout, json } = parseLine(JSON.stringify({ messages }), { validation: false });
  if (rollout === null) throw new Error('no rollout');
  const image = hostImage();
  return {
    image,
    plan: planRollout(rollout, json, image, { workdir: '/tmp', timeLimit: 20 }),
    store: new LayerStore(root, image.key),
    network: false,
  };
}

async function run(
  calls: readonly Call[],
  root = temporaryFolder(),
  { shell, ...more }: Partial<WorldOptions> & { shell?: ShellKind } = {},
) {
  const made = optionsOf(calls, root);
  const options = { ...made, plan: { ...made.plan, shell: shell ?? made.plan.shell }, ...more };
  const outcomes: WorldOutcome[] = [];
  for await (const outcome of replayWorld(options)) outcomes.push(outcome);
  return {
    options,
    outcomes,
    words: outcomes.map(({ verdict, tainted }) => (tainted ? `${verdict} tainted` : verdict)),
  };
}

const bash = (command: string, result: string): Call => ['execute_bash', { command }, result];

describe.skipIf(problem !== null)('a rollout in its world (skipped where no world can be made)', () => {
  it('has one shell, whose variables, functions and directory go on', async () => {
    const { words } = await run([
      bash('mkdir -p rvw/a; cd rvw/a; export X=5; f() { echo "f$1"; }; alias q="echo Q"', ''),
      bash('echo $X; f 2; pwd', '5\nf2\n/tmp/rvw/a'),
      bash('q 3', 'Q 3'),
      bash('false', ''),
      bash('echo $?', '1'),
    ]);
    expect(words).toEqual(['same', 'same', 'same', 'same', 'same']);
  });

  it('begins without an earlier directory, also where it goes on', async () => {
    const root = temporaryFolder();
    const calls = [
      bash('cd - 2>&1 | grep -c "not set"', '1'),
      bash('[ -v OLDPWD ] || echo none', 'none'),
      bash('cd /; cd - ', '/tmp'),
    ];
    expect((await run(calls, root)).words).toEqual(['same', 'same', 'same']);
    expect((await run(calls, root, { from: 1 })).words).toEqual(['same', 'same']);
    expect((await run(calls, root, { from: 2 })).words).toEqual(['same']);
  });

  it('ends a call that is under way when it is cancelled, and keeps no state of it', async () => {
    const root = temporaryFolder();
    const stop = new AbortController();
    const options = { ...optionsOf([bash('echo a', 'a'), bash('sleep 60', '')], root), signal: stop.signal };
    const words: string[] = [];
    for await (const { verdict } of replayWorld(options)) {
      words.push(verdict);
      setTimeout(() => stop.abort(), 100);
    }
    expect([words, options.store.chain(layerIds(options)), readdirSync(join(options.store.folder, 'live'))]).toEqual([
      ['same'],
      null,
      [],
    ]);
  });

  it('says after an interruption, too, that a call began in another state, and that chance changes none', async () => {
    const all = async (calls: readonly Call[]) => {
      const options = optionsOf(calls, temporaryFolder());
      const count = calls.length - 1;
      for await (const _ of outcomesOf({ ...options, to: count - 1 }, {}));
      const found: boolean[][] = [];
      for (const asked of [{ resume: true }, { from: count }]) {
        const tainted: boolean[] = [];
        for await (const outcome of outcomesOf(options, asked)) tainted.push(outcome.tainted);
        found.push(tainted);
      }
      return found;
    };
    const last = bash('echo end', 'end');
    expect(await all([bash('echo a', 'b'), bash('echo c', 'c'), last])).toEqual([[false, true, true], [true]]);
    expect(await all([bash('echo $RANDOM', '70000'), last])).toEqual([[false, false], [false]]);
  });

  it('hides the keys of a home, in folders and in files, also behind a link', async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, '.ssh'));
    for (const name of ['.ssh/id_rsa', '.netrc', 'npm', '.profile']) writeFileSync(join(home, name), `in ${name}\n`);
    symlinkSync('npm', join(home, '.npmrc'));
    const read = bash(`cd ${home}; cat .ssh/id_rsa .netrc .npmrc npm .profile 2>/dev/null`, 'in .profile');
    const { outcomes } = await run([read], temporaryFolder(), { image: hostImage(home) });
    expect(outcomes.map(({ result, changed }) => [result, changed])).toEqual([['in .profile\n', []]]);
  });

  it('reports drift, and that later calls began from another state', async () => {
    const { words, outcomes } = await run([
      bash('echo a > /tmp/rvw.txt; cat /tmp/rvw.txt', 'a'),
      bash('echo b', 'c'),
      bash('cat /tmp/rvw.txt', 'a'),
    ]);
    expect(words).toEqual(['same', 'drift', 'same tainted']);
    expect(outcomes[0]?.changed.map(({ path, change }) => [path, change])).toEqual([['/tmp/rvw.txt', 'added']]);
  });

  it('calls no difference drift that a call which did not run here, or ran at the same time there, may have made', async () => {
    const { words, outcomes } = await run([
      ['web_search', { query: 'x' }, 'y'],
      bash('echo a', 'b'),
      ['python', { code: "open('/tmp/rvw-py','w').write('p')" }, ''],
      bash('echo c', 'c'),
      bash('cat /tmp/rvw-py', 'p'),
    ]);
    expect(words).toEqual(['skipped', 'drift', 'skipped tainted', 'same tainted', 'infra tainted']);
    expect(outcomes.at(-1)?.reason).toContain('call 2 (python)');

    const made = optionsOf(
      [bash('cat /tmp/rvw.p', 'new'), bash('echo new > /tmp/rvw.p', ''), bash('echo a', 'b')],
      temporaryFolder(),
    );
    const plan = { ...made.plan, actions: made.plan.actions.map((one) => ({ ...one, turn: 1 })) };
    const beside = (await run([], temporaryFolder(), { plan })).outcomes;
    expect(beside.map(({ verdict, reason }) => [verdict, reason?.includes('of the same turn') === true])).toEqual([
      ['unknown', true],
      ['same', false],
      ['drift', false],
    ]);
  });

  it('keeps a layer a call; a run from the middle finds files and shell as they were', async () => {
    const root = temporaryFolder();
    const calls = [
      bash('export A=1; echo one > /tmp/rvw1', ''),
      bash('rm /tmp/rvw1; echo two > /tmp/rvw2', ''),
      bash('ls /tmp/rvw1 /tmp/rvw2 2>&1 | tail -1; echo $A', '/tmp/rvw2\n1'),
    ];
    const first = await run(calls, root);
    const again = await run(calls, root, { from: 2 });
    expect(again.words).toEqual(['same']);
    const ids = layerIds(first.options);
    const state = (k: number) =>
      [...foldChanges(first.options.store.chain(ids.slice(0, k + 1)) ?? []).keys()].filter((path) =>
        path.includes('rvw'),
      );
    expect([state(0), state(1)]).toEqual([['/tmp/rvw1'], ['/tmp/rvw2']]);
    expect(readdirSync(join(first.options.store.folder, 'live'))).toEqual([]);
  });

  it('a run from the middle has the arguments, folders, traps and exported functions of the shell', async () => {
    const root = temporaryFolder();
    const calls = [
      bash("mkdir -p 'rvw d'; pushd 'rvw d' >/dev/null; pushd / >/dev/null; set -- one 'two three'", ''),
      bash("trap 'echo caught' USR1; f() { echo inner; }; export -f f", ''),
      bash(
        'dirs -l -p; echo "$#|$2"; bash -c f; kill -USR1 $$; popd >/dev/null; popd >/dev/null; pwd',
        '/\n/tmp/rvw d\n/tmp\n2|two three\ninner\ncaught\n/tmp',
      ),
    ];
    expect((await run(calls, root)).words).toEqual(['same', 'same', 'same']);
    expect((await run(calls, root, { from: 2 })).words).toEqual(['same']);
  });

  it('a stateless shell is no child of another: nobody says how it was killed, and nothing comes from before', async () => {
    const alone = (command: string, exit: number, stdout: string, stderr = ''): Call => [
      'run_command',
      { command },
      JSON.stringify({ exit_code: exit, stdout, stderr }),
    ];
    const { words } = await run([
      alone('kill -9 $$', 137, ''),
      alone('kill -TERM $$; sleep 1', 143, ''),
      alone('echo out; echo err >&2; echo "[$OLDPWD] $SHLVL"', 0, 'out\n[] 1\n', 'err\n'),
    ]);
    expect(words).toEqual(['same', 'same', 'same']);
  });

  it('what an earlier call left running writes into no later call of another shell', async () => {
    const { words } = await run(
      [
        bash('(while [ ! -e go ]; do sleep 0.01; done; echo late; echo wrong >&2; : > done) & echo now', 'now'),
        bash(': > go; while [ ! -e done ]; do sleep 0.01; done; echo mine', 'mine'),
        bash('echo more', 'more'),
      ],
      temporaryFolder(),
      { shell: 'stateless' },
    );
    expect(words).toEqual(['same', 'same', 'same']);
  });

  it('what an earlier call left running writes into no file that is read, and into no saved state', async () => {
    const root = temporaryFolder();
    const noisy = 'KEPT=two; (while [ ! -e quiet ]; do echo noise; echo more >&2; done) & sleep 0.2; true';
    const calls: Call[] = [
      [
        'str_replace_editor',
        { command: 'create', path: '/tmp/noisy-f', file_text: 'one\ntwo\n' },
        'File created successfully at: /tmp/noisy-f',
      ],
      bash(noisy, ''),
      [
        'str_replace_editor',
        { command: 'view', path: '/tmp/noisy-f' },
        "Here's the result of running `cat -n` on /tmp/noisy-f:\n     1\tone\n     2\ttwo\n     3\t\n",
      ],
      bash('exec >/tmp/noisy-out; : > quiet; echo $KEPT', ''),
      bash('cat /tmp/noisy-out >&2', 'two'),
    ];
    const { words } = await run(calls, root);
    expect([words[0], words[2]]).toEqual(['same', 'same']);
    expect((await run(calls, root, { from: 2 })).words.at(0)).toBe('same');
    expect((await run(calls, root, { from: 4 })).words).toEqual(['same']);
  });

  it('an agent may take any name, descriptor or limit of its shell; what it opened is open from the middle on', async () => {
    const root = temporaryFolder();
    const calls: Call[] = [
      bash(
        'mkdir q; cd q; readonly __rv_kept=1 __rv=1 __rv_i=1; cat() { echo mine; }; alias ls=false; PATH=/nowhere',
        '',
      ),
      [
        'str_replace_editor',
        { command: 'create', path: '/tmp/q/f', file_text: 'one\ntwo\n' },
        'File created successfully at: /tmp/q/f',
      ],
      bash('PATH=/usr/bin:/bin; unset -f cat; exec 3<f 5>log; exec 6>>log; read -r -u 3 x; echo $x >&5', ''),
      bash('exec 7< <(echo gone); ulimit -Sn 100; ulimit -n', '100'),
      bash('exec >out; echo hidden', ''),
      bash('exec 8>f2; echo kept >&8; read -r -u 3 y; echo $y >&2; echo more >&6', 'two'),
      bash('ulimit -n >&2; cat log out f2 >&2', '100\none\nmore\nhidden\nkept'),
    ];
    const { outcomes } = await run(calls, root);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(calls.map(() => 'same'));
    expect(outcomes[3]?.reason).toContain('descriptor 7 of the shell: a pipe');
    expect(outcomes[4]?.reason).toBeNull();
    for (const from of [3, 5, 6]) {
      const again = await run(calls, root, { from });
      expect(again.words, String(from)).toEqual(calls.slice(from).map(() => 'same'));
    }
  });

  it('no descriptor of whoever started the program reaches it', () => {
    const messages = [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'bash', arguments: '{"command":"echo /proc/[0-9]*/fd/200"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '/proc/[0-9]*/fd/200' },
    ];
    const root = temporaryFolder();
    writeFileSync(join(root, 'a.jsonl'), `${JSON.stringify({ messages })}\n`);
    const words = `replay '${root}/a.jsonl' --image host --yes --json --journal '${root}/j'`;
    const script = `exec 200</etc/passwd; '${process.execPath}' '${bin}' ${words}`;
    const { verdict } = JSON.parse(execFileSync('bash', ['-c', script], { encoding: 'utf8', stdio: 'pipe' }));
    expect(verdict).toBe('same');
  });

  it('shells that end, commands that never do, and endless output end with their call', async () => {
    const { outcomes } = await run([
      bash('export KEPT=1', ''),
      bash('exit 3', ''),
      bash('echo $KEPT', '1'),
      ['execute_bash', { command: 'echo begin; sleep 60', timeout: 1 }, 'begin\n[Command timed out]'],
      bash('echo after', 'after'),
    ]);
    expect(outcomes.map(({ verdict }) => verdict).slice(2)).toEqual(['same', 'same', 'same']);
  });

  it("runs the editor's calls in its files", async () => {
    const { words } = await run([
      [
        'str_replace_editor',
        { command: 'create', path: '/tmp/rvw.py', file_text: 'a = 1\nb = 2\n' },
        'File created successfully at: /tmp/rvw.py',
      ],
      [
        'str_replace_editor',
        { command: 'str_replace', path: '/tmp/rvw.py', old_str: 'b = 2', new_str: 'b = 3' },
        "The file /tmp/rvw.py has been edited. Here's the result of running `cat -n` on a snippet of /tmp/rvw.py:\n     1\ta = 1\n     2\tb = 3\n     3\t\nReview the changes and make sure they are as expected.",
      ],
      [
        'str_replace_editor',
        { command: 'view', path: '/tmp/rvw.py' },
        "Here's the result of running `cat -n` on /tmp/rvw.py:\n     1\ta = 1\n     2\tb = 4\n     3\t\n",
      ],
      [
        'str_replace_editor',
        { command: 'undo_edit', path: '/tmp/rvw.py' },
        'Last edit to /tmp/rvw.py undone successfully.',
      ],
      bash('cat /tmp/rvw.py', 'a = 1\nb = 2'),
      bash('rm /tmp/rvw.py', ''),
    ]);
    expect(words).toEqual(['same', 'normalised', 'drift', 'same tainted', 'same tainted', 'same tainted']);
  });

  it('what it writes stays in it, and it reaches no network and no key of a home', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'mine'), 'mine');
    mkdirSync(join(folder, 'd'));
    await run([
      bash(`echo theirs > ${folder}/mine; rm -rf ${folder}/d; touch ${folder}/new`, ''),
      bash('(exec 3<>/dev/tcp/127.0.0.1/22) 2>&1 | wc -l', '1'),
    ]);
    expect([existsSync(join(folder, 'd')), existsSync(join(folder, 'new'))]).toEqual([true, false]);
  });

  it("does not call SWE-agent's searches drift: it does not run them", async () => {
    const { words, outcomes } = await run([
      ['find_file', { action: 'find_file a.py' }, 'Found 1 matches'],
      bash('true', ''),
    ]);
    expect(words).toEqual(['skipped', 'same']);
    expect(outcomes[0]?.reason).toContain('find_file of SWE-agent is not run here');
  });

  it('a run from the middle writes layers that hold all of the state', async () => {
    const calls = [
      bash('mkdir -p /tmp/rvw/d; echo 1 > /tmp/rvw/d/a; echo 2 > /tmp/rvw/b; rm -rf /tmp/rvw/none', ''),
      bash('echo x > /tmp/rvw/c', ''),
      bash('rm -r /tmp/rvw/d; mkdir /tmp/rvw/d; rm /tmp/rvw/b; echo 3 > /tmp/rvw/c', ''),
    ];
    const stateOf = ({ options }: Awaited<ReturnType<typeof run>>) =>
      [...foldChanges(options.store.chain(layerIds(options)) ?? []).values()]
        .filter(({ path }) => path.includes('rvw'))
        .map(({ path, sha256, change }) => [path, sha256, change]);
    const whole = await run(calls);
    const root = temporaryFolder();
    await run(calls, root, { to: 1 });
    const parts = await run(calls, root, { from: 2 });
    expect(stateOf(parts).sort()).toEqual(stateOf(whole).sort());
    expect(stateOf(whole).map(([path]) => path)).toEqual(expect.arrayContaining(['/tmp/rvw/c', '/tmp/rvw/d']));
  });

  it("a run from the middle remembers what Claude Code's tools read", async () => {
    const calls: Call[] = [
      ['Bash', { command: 'echo one > /tmp/rvw.txt' }, ''],
      ['Read', { file_path: '/tmp/rvw.txt' }, '     1→one'],
      [
        'Edit',
        { file_path: '/tmp/rvw.txt', old_string: 'one', new_string: 'two' },
        'The file /tmp/rvw.txt has been updated.',
      ],
    ];
    const root = temporaryFolder();
    await run(calls, root);
    expect((await run(calls, root, { from: 2 })).words).toEqual(['same']);
  });

  it('shows the same files where there are too many layers for one mount', async () => {
    const made = await run([
      bash('mkdir -p /tmp/rvm/d/e; cd /tmp/rvm; echo 1 > a; echo 1 > d/x; echo 1 > d/e/y; ln -s a l', ''),
      bash('rm -r d; rm l; mkdir l', ''),
      bash('mkdir d; echo 2 > d/z; chmod 750 d; rm a; mkdir a', ''),
      bash('rm -r l; echo 3 > l', ''),
      bash('rm -r /etc/profile.d; mkdir -p /etc/profile.d; echo 4 > /etc/profile.d/new', ''),
      bash('echo 5 > d/last', ''),
    ]);
    const { store } = made.options;
    const chain = store.chain(layerIds(made.options)) ?? [];
    const shown: string[] = [];
    for (const most of [400, 1]) {
      const folder = store.live();
      const plan = worldPlan(made.options, folder, chain);
      const world = new LiveWorld({ ...plan, lowers: [...store.lowersOf(chain, folder, most), '/'] });
      await world.open();
      const list = 'cd /tmp/rvm; find . /etc/profile.d -printf "%p %y %m\\n" | sort; cat l d/* /etc/profile.d/*';
      shown.push((await world.help(list)).stdout.toString());
      await world.close();
      removeTree(folder);
    }
    expect(shown[0]).toMatch(/^\. d 755\n.*\.\/d d 750\n/s);
    expect(shown[1]).toBe(shown[0]);
    const sums = chain.flatMap(({ id }) => readdirSync(store.fsOf(id), { recursive: true, withFileTypes: true }));
    expect(sums.filter((one) => one.isFile() && lstatSync(join(one.parentPath, one.name)).nlink > 1)).toEqual([]);
  });

  it('a layer that was changed since is not used', async () => {
    const root = temporaryFolder();
    const calls = [bash('echo one > /tmp/rvw1', ''), bash('cat /tmp/rvw1', 'one')];
    const { options } = await run(calls, root);
    const [first = ''] = layerIds(options);
    writeFileSync(join(options.store.fsOf(first), 'tmp/rvw1'), 'two');
    await expect(run(calls, root, { from: 1 })).rejects.toThrow('not kept any more');
  });

  it('finds by halving the call that broke a command', async () => {
    const { options } = await run([
      bash('echo a > /tmp/rvw1', ''),
      bash('echo b >> /tmp/rvw1', ''),
      bash('echo c >> /tmp/rvw1', ''),
      bash('true', ''),
    ]);
    const chain = options.store.chain(layerIds(options)) ?? [];
    const found = await bisect(options, chain, '! grep -q b /tmp/rvw1', () => {});
    expect([found?.action.call, found?.change, found?.before.exit, found?.after.exit]).toEqual([1, 'fail', 0, 1]);
    expect(await bisect(options, chain, 'true', () => {})).toBeNull();
  });
});

it('a call whose runs differ is flaky, and taints nothing', () => {
  const outcome = (verdict: WorldOutcome['verdict'], result: string, tainted = false): WorldOutcome => ({
    ...{ call: 0, turn: 1, name: 'bash', verdict, rules: [], tainted, exit: 0, recorded_exit: 0, reason: null },
    ...{ recorded: 'a', result, seconds: 0, changed: [], processes: [] },
  });
  const runs = [
    [outcome('same', 'a'), outcome('drift', 'b'), outcome('drift', 'x')],
    [outcome('drift', 'b'), outcome('drift', 'b', true), outcome('drift', 'y', true)],
  ];
  expect(repeatedOutcomes(runs).map(({ verdict, tainted }) => [verdict, tainted])).toEqual([
    ['flaky', false],
    ['drift', false],
    ['flaky', false],
  ]);
});
