import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ensureFolder } from '../core/files/ensure-folder.ts';
import { environmentsFolder } from '../core/files/places.ts';
import { reasonOf } from '../core/text/problems.ts';

const run = promisify(execFile);

/** Root's programs run in the sandbox as another user, who cannot read anything below /root. */
const IS_ROOT = process.getuid?.() === 0;

/** pip may have to build a package. */
const MOST_MS = 30 * 60_000;

/**
 * The interpreter of a virtual environment with the packages of a requirements file, created once per file content and interpreter. pip
 * runs with the user's rights and network. @throws Error with pip's message
 */
export async function requirementsPython(
  file: string,
  {
    python = IS_ROOT ? '/usr/bin/python3' : 'python3',
    signal,
    onStart,
  }: { python?: string; signal?: AbortSignal; onStart?: (folder: string) => void },
): Promise<string> {
  const path = resolve(file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${file}: ${reasonOf(error)}; --sandbox-requirements names a file of pip`);
  }
  const { stdout: version } = await run(python, ['-c', 'import sys; print(sys.version, sys.prefix)'], { signal });
  const name = createHash('sha256').update(`${version}\n${text}`).digest('hex').slice(0, 16);
  const folder = join(environmentsFolder(), name);
  const interpreter = join(folder, 'bin', 'python');
  const isWhole = join(folder, 'requirements.txt');
  if (existsSync(isWhole)) return interpreter;
  onStart?.(folder);
  // An environment left incomplete is rebuilt from scratch.
  rmSync(folder, { recursive: true, force: true });
  ensureFolder(environmentsFolder());
  const options = { signal, timeout: MOST_MS, maxBuffer: 1 << 26 };
  try {
    await run(python, ['-m', 'venv', folder], options);
    await run(interpreter, ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '-r', path], options);
    writeFileSync(isWhole, text);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    signal?.throwIfAborted();
    const { stderr = '', message } = error as Error & { stderr?: string };
    const said = stderr.trim().split('\n').slice(-3).join('; ');
    throw new Error(`${file}: no environment could be made of it: ${said || message}`);
  }
  return interpreter;
}
