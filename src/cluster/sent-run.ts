import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../core/files/ensure-folder.ts';
import { type Settings, sentSettings } from '../engine/collect/settings.ts';
import { type OwnEntry, ownFiles } from '../engine/own/own-files.ts';
import { SentOwn } from './own-code.ts';
import { checkSecrets, checkVariables, hasPassword } from './secrets.ts';
import { TextPlace, type TextStore } from './texts.ts';

/** Settings that name files; only the content of the files matters. */
const FILES = ['tools', 'interaction_config', 'chat_template', 'tokenizer'] as const;
/** A worker's own settings, and keys it does not need. */
const OWN = ['out', 'concurrency', 'n', 'step', 'batch_size', 'python', 'python_path', 'deadline', 'enough'] as const;

/** Addresses that a worker may set itself, as it must if the run's contains a password. */
const NAMED_BY_WORKERS = ['model_url', 'sandbox'] as const;

/** A file that a setting names: the content is sent, since its path means nothing on another machine. */
const SentFile = z.object({ key: z.enum(FILES), name: z.string(), content: TextPlace });

/** The settings of one run's rollouts. No secrets: each worker has its own keys. */
export const SentRun = z.object({
  // A writer to the Redis may set no path and no interpreter of a worker, under any name of the key.
  settings: z
    .record(z.string(), z.unknown())
    .transform((sent) => without({ ...sentSettings(sent) }, [...FILES, ...OWN])),
  files: z.array(SentFile),
  own: SentOwn,
});
export type SentRun = z.infer<typeof SentRun>;

const without = (settings: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => !keys.includes(key)));

/**
 * The part of a run that workers need: its settings, and the files they name.
 * @param entries the files in which the user's code was found
 * @throws Error for a file that cannot be read, or for a secret
 */
export async function runToSend(settings: Settings, texts: TextStore, entries: readonly OwnEntry[]): Promise<SentRun> {
  const files: SentRun['files'] = [];
  for (const key of FILES) {
    const path = settings[key];
    if (path === undefined) continue;
    for (const one of await settingFiles(key, path)) {
      const text = await readFile(one, 'utf8');
      if (key === 'tools' || key === 'interaction_config') checkSecrets(text, one);
      if (key === 'interaction_config') checkVariables(text, one);
      files.push({ key, name: basename(one), content: await texts.put(text) });
    }
  }
  const all = settings as Record<string, unknown>;
  const sent = without(all, [...FILES, ...OWN, ...NAMED_BY_WORKERS.filter((key) => hasPassword(all[key]))]);
  checkSecrets(JSON.stringify(sent), 'the settings');
  return { settings: sent, files, own: await ownFiles(entries) };
}

/** tokenizer_config.json is beside tokenizer.json, and both are read. */
async function settingFiles(key: (typeof FILES)[number], path: string): Promise<string[]> {
  if (key !== 'tokenizer') return [path];
  const isFolder = (await stat(path)).isDirectory();
  const folder = isFolder ? path : dirname(path);
  const config = join(folder, 'tokenizer_config.json');
  const hasConfig = await stat(config).then(
    () => true,
    () => false,
  );
  return [isFolder ? join(folder, 'tokenizer.json') : path, ...(hasConfig ? [config] : [])];
}

/** Writes a run's files to `folder`. @param own this worker's own settings. @returns the run's settings, for this machine */
export async function receivedSettings(
  run: SentRun,
  texts: TextStore,
  folder: string,
  own: Partial<Settings>,
): Promise<Settings> {
  const settings: Record<string, unknown> = { ...run.settings };
  for (const { key, name, content } of run.files) {
    const place = join(folder, key);
    ensureFolder(place);
    const path = join(place, basename(name));
    await writeFile(path, await texts.get(content));
    settings[key] ??= path;
  }
  return { ...settings, ...own, out: '-' };
}
