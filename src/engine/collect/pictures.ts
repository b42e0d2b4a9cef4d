import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';

/** A picture's bytes, and its path beside the dump. */
export interface PictureFile {
  /** Relative to the dump's directory. */
  path: string;
  bytes: Buffer;
}

/** The folder of pictures beside a dump; readers look for dumps in files, not in this folder. */
const FOLDER = 'images';
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,/;

/** Dump lines hold no base64: each picture becomes a reference with its size and hash, and its bytes go into `found`. */
export function withoutPictures(value: JsonValue, found: Map<string, PictureFile>): JsonValue {
  if (Array.isArray(value)) return withoutOf(value, found);
  if (!isJsonObject(value)) return value;
  const url = urlOf(value);
  return url !== null && DATA_URL.test(url) ? referenceTo(url, found) : withoutOf(value, found);
}

/** A value without a picture is not copied. */
function withoutOf<T extends JsonObject | JsonValue[]>(value: T, found: Map<string, PictureFile>): T {
  let own: T | null = null;
  for (const key of Object.keys(value) as (keyof T)[]) {
    const inner = value[key] as JsonValue;
    if (typeof inner !== 'object' || inner === null) continue;
    const without = withoutPictures(inner, found);
    if (without === inner) continue;
    own ??= (Array.isArray(value) ? [...value] : { ...value }) as T;
    own[key] = without as T[keyof T];
  }
  return own ?? value;
}

/** The bytes of an `image_url` part, or of a picture in a tool's form. */
function urlOf(part: JsonObject): string | null {
  if (part.type === 'image_url' && isJsonObject(part.image_url)) return stringOrNull(part.image_url.url);
  return Object.keys(part).length === 1 ? stringOrNull(part.url) : null;
}

const stringOrNull = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

function referenceTo(url: string, found: Map<string, PictureFile>): JsonObject {
  const [head, kind = 'application/octet-stream'] = DATA_URL.exec(url)!;
  const bytes = Buffer.from(url.slice(head.length), 'base64');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = `${FOLDER}/${sha256.slice(0, 32)}.${EXTENSIONS[kind] ?? 'bin'}`;
  found.set(path, { path, bytes });
  return { type: 'image', file: path, kind, bytes: bytes.length, sha256 };
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};

/** Writes each picture once; a picture shared by many rollouts is one file. */
export async function writePictures(out: string, pictures: Iterable<PictureFile>): Promise<void> {
  for (const { path, bytes } of pictures) {
    ensureFolder(join(out, FOLDER));
    await writeFile(join(out, path), bytes, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
