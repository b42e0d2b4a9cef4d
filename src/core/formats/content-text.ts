import { isJsonObject, type JsonValue } from '../json/value.ts';

/**
 * A message's content as text: a string, or the texts of its parts in order. Other parts are described by type and
 * size: `[image png 40 kB]`. Calls and results inside the content are handled elsewhere.
 */
export function contentText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (isJsonObject(value)) return contentPartText(value);
  if (!Array.isArray(value)) return '';
  return value
    .map((part) => (typeof part === 'string' ? part : isJsonObject(part) ? contentPartText(part) : ''))
    .join('');
}

/** Part types that are calls or results, in the terms of their writers. */
const ELSEWHERE = /^(?:toolCall|tool_call|(?:redacted_)?thinking|think|reasoning|(?:\w+_)?tool_(?:use|result))$/;

function contentPartText(part: { [key: string]: JsonValue }): string {
  const { type } = part;
  if (typeof type === 'string' && ELSEWHERE.test(type)) return '';
  for (const key of ['text', 'content', 'refusal']) if (typeof part[key] === 'string') return part[key];
  const media = mediaOf(part);
  return media === null ? '' : media;
}

function mediaOf(part: { [key: string]: JsonValue }): string | null {
  const { type } = part;
  const named = typeof type === 'string' ? type : '';
  const kind = /audio/.test(named) ? 'audio' : /video/.test(named) ? 'video' : /image/.test(named) ? 'image' : null;
  const held = part.image_url ?? part.image ?? part.source ?? part.input_audio ?? part.audio ?? part.video ?? part.data;
  if (kind === null && held === undefined) return null;
  return mediaText(kind ?? 'image', held, idOfType(part));
}

const idOfType = (part: { [key: string]: JsonValue }): string | null =>
  ['mimeType', 'media_type', 'mime_type', 'format'].map((key) => part[key]).find((one) => typeof one === 'string') as
    | string
    | null;

/** `[image png 40 kB]` for a data URL, for base64 with its type, or for a reference to a file. */
function mediaText(kind: string, held: JsonValue | undefined, type: string | null | undefined): string {
  if (isJsonObject(held)) {
    const inner = held.url ?? held.data ?? held.path ?? held.file_id;
    return mediaText(kind, inner ?? null, idOfType(held) ?? type);
  }
  if (typeof held !== 'string' || held === '') return `[${kind}]`;
  const url = /^data:([\w-]+)\/([\w.+-]+)[^,]{0,60},/.exec(held);
  if (url !== null) return `[${url[1]} ${url[2]} ${kilobytes(held.length - url[0].length)}]`;
  const ending = type?.replace(/^[\w-]+\//, '') ?? '';
  if (held.length > 200) return `[${[kind, ending, kilobytes(held.length)].filter((word) => word !== '').join(' ')}]`;
  return `[${[kind, ending, held].filter((word) => word !== '').join(' ')}]`;
}

/** The decoded size of this many base64 characters. */
const kilobytes = (characters: number): string => `${Math.max(1, Math.round((characters * 3) / 4 / 1000))} kB`;
