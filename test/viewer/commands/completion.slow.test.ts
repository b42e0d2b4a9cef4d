import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { describe, expect, test } from 'vitest';
import { bin, directoryWith, execute } from '../../program.ts';

const has = (command: string): boolean => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

/** A folder with the program on its PATH, the script of the shell, and a file to complete. */
async function setUp(shell: string): Promise<{ cwd: string; env: Record<string, string> }> {
  const cwd = directoryWith({ 'dump/1.jsonl': '' });
  const program = join(cwd, 'rollout-viewer');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
  chmodSync(program, 0o755);
  const { stdout } = await execute(process.execPath, [bin, 'completion', shell]);
  writeFileSync(join(cwd, `completion.${shell}`), stdout);
  return { cwd, env: { ...(process.env as Record<string, string>), PATH: `${cwd}:${process.env.PATH}` } };
}

const OFFERS: [string, string[], string[]][] = [
  ['rollout-viewer re', ['replay', 'rescore'], ['ls']],
  ['rollout-viewer ls --so', ['--sort'], ['--filter']],
  ['rollout-viewer ls --sort sc', ['score'], ['step']],
  ['rollout-viewer ls --filter find', ['findings'], ['score']],
  ['rollout-viewer --keys v', ['vim', 'verl'], ['emacs']],
  ['rollout-viewer fork --api g', ['generate'], ['chat']],
  ['rollout-viewer rollout --api com', ['completions'], ['chat']],
  ['rollout-viewer ls --format ver', ['verl'], ['trl-sft']],
  ['rollout-viewer rescore --reward g', ['gsm8k'], ['math']],
  ['rollout-viewer rescore --reward du', ['dump'], ['math']],
  ['rollout-viewer help tr', ['trainers'], ['dump']],
  ['rollout-viewer help re', ['remote', 'rescore'], ['ls']],
  ['rollout-viewer completion f', ['fish'], ['bash']],
  ['rollout-viewer ls du', ['dump'], ['replay']],
];

describe.skipIf(!has('bash'))('bash completes (skipped without bash)', () => {
  test.each(OFFERS)('%s', async (line, offered, not) => {
    const { cwd, env } = await setUp('bash');
    const words = line
      .split(' ')
      .map((word) => `'${word}'`)
      .join(' ');
    const script = `source completion.bash; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _rollout_viewer rollout-viewer "\${COMP_WORDS[COMP_CWORD]}"; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const found = (await execute('bash', ['-c', script], { cwd, env })).stdout.split('\n');
    expect(found).toEqual(expect.arrayContaining(offered));
    for (const word of not) expect(found).not.toContain(word);
  });
});

describe.skipIf(!has('fish'))('fish completes (skipped without fish)', () => {
  test.each(OFFERS)('%s', async (line, offered, not) => {
    const { cwd, env } = await setUp('fish');
    const { stdout } = await execute('fish', ['-c', `source completion.fish; complete -C '${line}'`], {
      cwd,
      env: { ...env, HOME: cwd },
    });
    const found = stdout.split('\n').map((row) => row.split('\t')[0]!.replace(/\/$/, ''));
    expect(found).toEqual(expect.arrayContaining(offered));
    for (const word of not) expect(found).not.toContain(word);
  });
});

/** The typed text, and the line that Tab makes of it. */
const TYPED: [string, string][] = [
  ["rollout-viewer ls --filter 'score < 0.5 && finding:answer_f", "--filter 'score < 0.5 && finding:answer_form"],
  ['rollout-viewer ls --filter "finding:answer_f', '--filter "finding:answer_form'],
  ['rollout-viewer resc', 'rollout-viewer rescore'],
  ['rollout-viewer ls --so', 'rollout-viewer ls --sort'],
  ['rollout-viewer --keys ema', 'rollout-viewer --keys emacs'],
  ['rollout-viewer ls du', 'rollout-viewer ls dump/'],
  ['rollout-viewer help trainer', 'rollout-viewer help trainers'],
];

const SHELLS: [string, string[], string][] = [
  ['zsh', ['-f', '-i'], 'autoload -U compinit; compinit -u; source completion.zsh'],
  ['bash', ['--norc', '-i'], 'source completion.bash'],
];
describe.each(SHELLS)('%s', (name, flags, setup) => {
  test.skipIf(!has(name)).each(TYPED)('completes %s (skipped without it)', async (typed, completed) => {
    const { cwd, env } = await setUp(name);
    const shell = spawn(name, flags, {
      cwd,
      env: { ...env, HOME: cwd, TERM: 'dumb', PS1: '' },
      cols: 200,
      rows: 50,
    });
    let seen = '';
    shell.onData((data) => {
      seen += data.replaceAll('\u0007', '');
    });
    const until = async (text: string) => {
      await expect.poll(() => seen).toContain(text);
    };
    shell.write(`${setup}; echo rea""dy\n`);
    await until('ready');
    seen = '';
    shell.write(`${typed}\t`);
    await until(completed);
    shell.kill();
  });
});

test.skipIf(!has('man'))('the manual is a page that man shows (skipped without man)', async () => {
  const { stdout, code } = await execute(process.execPath, [bin, 'manual']);
  expect(code).toBe(0);
  const path = join(directoryWith({ 'page.1': stdout }), 'page.1');
  const page = await execute('man', ['-l', path], {
    env: { ...(process.env as Record<string, string>), MANWIDTH: '100', LC_ALL: 'C.UTF-8' },
  });
  expect(page.stdout).toContain('EXIT STATUS');
  expect(page.stdout).toMatch(/--filter <expr>/);
});
