import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const FILE = 'queue.json';

/** Whether a run with a queue was started in the folder before, and has not come to its end. */
export const hasRun = (folder: string): Promise<boolean> =>
  stat(join(folder, FILE)).then(
    () => true,
    () => false,
  );

/** The name of the run whose state is in a folder: one that is started again takes up what was made for it. */
export async function runIn(folder: string): Promise<string> {
  const path = join(folder, FILE);
  const kept = await readFile(path, 'utf8').catch(() => null);
  const run = kept === null ? null : nameIn(kept);
  if (run !== null) return run;
  const made = randomUUID();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify({ run: made })}\n`);
  return made;
}

export const forgetRun = (folder: string): Promise<void> => rm(join(folder, FILE), { force: true });

/** A file that was cut off by a kill names none. */
function nameIn(text: string): string | null {
  try {
    const { run } = JSON.parse(text) as { run?: unknown };
    return typeof run === 'string' && /^[\w-]+$/.test(run) ? run : null;
  } catch {
    return null;
  }
}
