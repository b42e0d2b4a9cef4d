import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { requirementsPython } from '../../src/replay/index.ts';
import { jsonLines, rolloutViewer } from '../program.ts';
import { callLine, SANDBOX } from './fixture.ts';

const SYSTEM = '/usr/bin/python3';
const hasVenv = spawnSync(SYSTEM, ['-c', 'import ensurepip, venv']).status === 0;

/** A package that needs no network: a wheel is a zip. */
const WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('answers/__init__.py', 'VALUE = 42')
    for name, text in (
        ('METADATA', 'Metadata-Version: 2.1\\nName: answers\\nVersion: 1.5\\n'),
        ('WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'),
        ('RECORD', ''),
    ):
        wheel.writestr('answers-1.5.dist-info/' + name, text)
`;

test.skipIf(!hasVenv || SANDBOX !== 'bubblewrap')(
  'a requirements file gives calls their packages, and two environments are compared (skipped without venv or bubblewrap)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'requirements-'));
    const wheel = join(folder, 'answers-1.5-py3-none-any.whl');
    expect(spawnSync(SYSTEM, ['-c', WHEEL, wheel]).status).toBe(0);
    const requirements = join(folder, 'requirements.txt');
    writeFileSync(requirements, `--no-index\n${wheel}\n`);
    const dump = join(folder, '1.jsonl');
    writeFileSync(dump, `${callLine('code_interpreter', { code: 'import answers\nprint(answers.VALUE)' }, '42\n')}\n`);
    const replay = (...args: string[]) =>
      rolloutViewer(['replay', dump, '--sandbox', 'bubblewrap', '--json', '--journal', join(folder, 'j'), ...args]);

    expect(jsonLines((await replay()).stdout)).toMatchObject([{ status: 'skipped' }]);
    const made = await replay('--sandbox-requirements', requirements);
    expect(jsonLines(made.stdout)).toMatchObject([{ status: 'same', environment: { packages: { answers: '1.5' } } }]);

    const python = await requirementsPython(requirements, {});
    const two = await replay('--sandbox-python', SYSTEM, '--sandbox-python', python);
    expect(jsonLines(two.stdout)).toMatchObject([
      { first: { status: 'skipped' }, second: { status: 'drift', verdict: 'now_succeeds' } },
    ]);
    expect(two.stderr).toContain('answers missing → 1.5: 1 of 1 calls differ');
    rmSync(dirname(dirname(python)), { recursive: true });

    writeFileSync(requirements, '--no-index\nno-such-package-anywhere\n');
    const failed = await replay('--sandbox-requirements', requirements);
    expect(failed.code).toBe(2);
    expect(failed.stderr).toContain('no-such-package-anywhere');
  },
);
