import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../core/files/ensure-folder.ts';

const FILE = 'queue.json';

/** Whether a queued run was started in the folder before and has not finished. */
export const hasRun = (folder: string): Promise<boolean> =>
  stat(join(folder, FILE)).then(
    () => true,
    () => false,
  );

/** The run whose state is in a folder, and its start time: a restarted run picks up earlier results. */
export async function runIn(folder: string): Promise<{ run: string; begun: string }> {
  const path = join(folder, FILE);
  const kept = await readFile(path, 'utf8').catch(() => null);
  const known = kept === null ? null : runOf(kept);
  if (known !== null) return known;
  const made = { run: randomUUID(), begun: new Date().toISOString() };
  ensureFolder(dirname(path));
  await writeFile(path, `${JSON.stringify(made)}\n`);
  return made;
}

export const forgetRun = (folder: string): Promise<void> => rm(join(folder, FILE), { force: true });

const RunFile = z.object({ run: z.string().regex(/^[\w-]+$/), begun: z.string() });

/** A file truncated by a kill names none. */
function runOf(text: string): z.infer<typeof RunFile> | null {
  try {
    return RunFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
