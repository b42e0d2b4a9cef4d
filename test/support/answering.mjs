// The built program as a child that answers one command line after the other: see `ask` in test/program.ts.
import { part } from '../../dist/compiled.js';

/** They hold for the rest of a process. */
const LASTING = ['-q', '--quiet', '--threads', '--nice'];

const { runProgram } = part('program');
const exit = process.exit;
const said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'])
  process[name].write = (text) => {
    said[name] += text;
    return true;
  };
// Each command listens for signals and closed pipes as if it were the only one.
for (const emitter of [process, process.stdout]) emitter.setMaxListeners(0);

const answer = (isLast) =>
  process.send({ code: process.exitCode, ...said, isLast }, () => {
    if (isLast) exit();
  });

process.on('message', async ({ args, cwd, env }) => {
  process.chdir(cwd);
  process.argv.splice(2, Infinity, ...args);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.assign(said, { stdout: '', stderr: '' });
  process.exitCode = 0;
  const ended = Symbol('ended');
  process.exit = (code = process.exitCode) => {
    process.exitCode = code;
    throw ended;
  };
  let isLast = args.some((arg) => LASTING.includes(arg));
  try {
    await runProgram(args);
  } catch (error) {
    isLast = true;
    if (error !== ended) {
      process.exitCode = 1;
      said.stderr += error?.stack;
    }
  }
  answer(isLast);
});
process.on('disconnect', () => exit());
