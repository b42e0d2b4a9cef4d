import { existsSync, readFileSync } from 'node:fs';
import { configFiles } from '../../core/files/places.ts';
import { loadConfig } from '../config/config-file.ts';
import type { OwnReading } from './own-descriptions.ts';

const NOTHING: OwnReading = { maps: [], templates: [], errors: [] };

/** Most settings describe nothing of the kind, so load the parsers of descriptions only if needed. */
export async function ownReading(): Promise<OwnReading> {
  const path = configFiles().find((file) => existsSync(file));
  if (path === undefined || !/^\s*["']?(?:formats|chat_templates|errors)["']?\s*:/m.test(descriptionText(path)))
    return NOTHING;
  const { describedReading } = await import('./own-descriptions.ts');
  return describedReading(await loadConfig());
}

function descriptionText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
