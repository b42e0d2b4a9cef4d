// rollout-viewer doctor: shows what works on this machine, each proven by a test run now, and how to get the rest.
import { Command } from 'commander';
import { sanitise } from '../../core/text/sanitise.ts';
import type { DoctorCheck } from '../../sandbox/server/checks.ts';
import { HERE } from './doctor-checks.ts';
import { NEIGHBOURS } from './doctor-neighbours.ts';
import { endOnClosedPipe, print } from './output.ts';

interface Options {
  toolchain: string[];
  json?: boolean;
}

interface CheckOutcome {
  name: string;
  ok: boolean;
  needed: boolean;
  detail: string;
  remedy: string | null;
}

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('test what this machine can do, and say how to get the rest')
    .option(
      '--toolchain <dir>',
      "as in 'sandbox'; repeatable",
      (folder: string, before: string[]) => [...before, folder],
      [],
    )
    .option('--json', 'one JSON object per check')
    .action(examine);

/** The limits of a run, with the `sandbox` flags that change them. */
const LIMITS = `Limits of a run (flags of rollout-viewer sandbox):
  --memory 2048 MB (Pyodide: 1024)   --processes 256   --disk 512 MB   --output 4 MB a stream   --max-run-timeout 600 s
  files: 1,000 sent, 64 MB fetched   body of a request: 128 MB   programs at once: --max-concurrency, --memory-budget`;

async function examine({ toolchain, json = false }: Options): Promise<void> {
  endOnClosedPipe();
  const { sandboxChecks } = await import('../../sandbox/server/checks.ts');
  const { checks, close } = sandboxChecks({ toolchains: toolchain });
  const all = [...HERE, ...NEIGHBOURS, ...checks];
  const width = Math.max(...all.map(({ name }) => name.length));
  let bad = false;
  try {
    for (const check of all) {
      const outcome = await tried(check);
      bad ||= outcome.needed && !outcome.ok;
      await print(`${json ? JSON.stringify(outcome) : checkLine(outcome, width)}\n`);
    }
  } finally {
    await close();
  }
  if (!json) await print(`\n${LIMITS}\n`);
  process.exit(bad ? 1 : 0);
}

async function tried({ name, needed, prove, remedy }: DoctorCheck): Promise<CheckOutcome> {
  try {
    return { name, ok: true, needed, detail: await prove(), remedy: null };
  } catch (error) {
    return { name, ok: false, needed, detail: error instanceof Error ? error.message : String(error), remedy };
  }
}

function checkLine({ name, ok, needed, detail, remedy }: CheckOutcome, width: number): string {
  const mark = ok ? 'ok     ' : needed ? 'MISSING' : 'no     ';
  const what = sanitise(detail).split('\n')[0] ?? '';
  return `${mark} ${name.padEnd(width)}  ${what}${remedy === null ? '' : `\n${' '.repeat(width + 10)}${remedy}`}`;
}
