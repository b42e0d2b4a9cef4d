import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Settings } from '../engine/collect/settings.ts';
import { VERSION } from './redis.ts';
import type { Texts } from './texts.ts';
import type { SentRun } from './wire.ts';

/** Settings that name files of which the content is all that matters. */
const FILES = ['tools', 'interaction_config', 'chat_template', 'tokenizer'] as const;
/** What a worker says of itself, and what is of no use to it. */
const OWN = ['model_url', 'out', 'concurrency', 'n', 'step', 'batch_size', 'python', 'python_path'] as const;

/** What the workers are to know of a run: its settings, and the files that they name. @throws Error for a file that cannot be read */
export async function runToSend(settings: Settings, texts: Texts): Promise<SentRun> {
  const sent: Record<string, unknown> = { ...settings };
  const files: SentRun['files'] = [];
  for (const key of FILES) {
    const path = settings[key];
    if (path === undefined) continue;
    for (const one of await filesOf(key, path)) {
      const content = await texts.put(await readFile(one, 'utf8'));
      files.push({ key, name: basename(one), content });
    }
    delete sent[key];
  }
  // The address is a default: a worker on another machine may name its own.
  for (const key of OWN) if (key !== 'model_url') delete sent[key];
  const started = new Date().toISOString();
  return { version: VERSION, settings: sent as Settings, files, out: settings.out!, host: hostname(), started };
}

/** tokenizer_config.json stands beside tokenizer.json, and both are read. */
async function filesOf(key: (typeof FILES)[number], path: string): Promise<string[]> {
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

/** Lays the files of a run down in `folder`. @param own what this worker says for itself. @returns its settings, for this machine */
export async function receivedSettings(
  run: SentRun,
  texts: Texts,
  folder: string,
  own: Partial<Settings>,
): Promise<Settings> {
  const settings: Record<string, unknown> = { ...run.settings };
  for (const { key, name, content } of run.files) {
    const place = join(folder, key);
    await mkdir(place, { recursive: true });
    const path = join(place, basename(name));
    await writeFile(path, await texts.get(content));
    settings[key] ??= path;
  }
  return { ...(settings as Settings), ...own, out: '-' };
}
