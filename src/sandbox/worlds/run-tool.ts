import { execFile, spawnSync } from 'node:child_process';

const MOST_TEXT = 16 * 1024 * 1024;

/** The output of a program. @throws Error with its last words */
export const runTool = (program: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: MOST_TEXT, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const words = stderr.trim().split('\n').at(-1)?.slice(0, 400);
      reject(new Error(words || `${program}: ${error.message}`));
    });
  });

/** Whether a program can be started here. */
export const isInstalled = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
