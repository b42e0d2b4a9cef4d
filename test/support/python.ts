// A Python with packages that the project does not install: TRAINERS_PYTHON names one.
import { spawnSync } from 'node:child_process';

export const trainersPython = process.env.TRAINERS_PYTHON ?? 'python3';

const FIND = 'import importlib.util as u, sys; sys.exit(any(u.find_spec(one) is None for one in sys.argv[1:]))';

/** @returns why a test is skipped, for its title; '' where all of them are there */
export const lacksPackages = (...names: string[]): string =>
  spawnSync(trainersPython, ['-c', FIND, ...names]).status === 0
    ? ''
    : ` (skipped: TRAINERS_PYTHON names a Python with ${names.join(', ')})`;
