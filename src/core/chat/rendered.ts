import { readFile } from 'node:fs/promises';
import { type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import type { TokenText } from '../rollout/token-table.ts';

/**
 * A user's chat template: its source, its other inputs besides the conversation, and its special tokens, if its file
 * names them.
 */
export interface TemplateFile {
  source: string;
  values: JsonObject;
  specials: string[];
}

/** The user's template and tokenizer for re-reading records. Plain data, because threads get it too. */
export interface UserEncoding {
  template?: TemplateFile;
  /** tokenizer.json. */
  tokenizer?: string;
}

export interface PromptMessage {
  role: string;
  content: string;
}

/** `UserEncoding` with its libraries loaded. */
export interface EncodingTools {
  /** Throws if the template refuses the conversation. */
  render: ((messages: readonly PromptMessage[], opensReply: boolean) => string) | null;
  specials: readonly string[];
  tokenizer: TokenText | null;
}

const loaded = new Map<string, EncodingTools>();
const renderingKey = ({ template, tokenizer }: UserEncoding): string => `${tokenizer ?? ''}\n${template?.source ?? ''}`;

/** The tools that `loadEncoding` has loaded in this thread; null before. */
export const encodingTools = (encoding: UserEncoding): EncodingTools | null =>
  loaded.get(renderingKey(encoding)) ?? null;

/** Templates and tokenizers need libraries, which are loaded on demand. @throws if a file is not what it should be */
export async function loadEncoding(encoding: UserEncoding | undefined): Promise<void> {
  if (encoding === undefined || loaded.has(renderingKey(encoding))) return;
  const { template, tokenizer } = encoding;
  let render: EncodingTools['render'] = null;
  if (template !== undefined) {
    const { Template } = await import('@huggingface/jinja');
    const made = new Template(template.source);
    render = (messages, opensReply) => made.render({ ...template.values, messages, add_generation_prompt: opensReply });
  }
  const text = tokenizer === undefined ? null : await (await import('./token-text.ts')).loadTokenText(tokenizer);
  loaded.set(renderingKey(encoding), { render, specials: template?.specials ?? [], tokenizer: text });
}

/** A template from a Jinja file or from tokenizer_config.json. @throws if the file has none */
export async function readTemplateFile(path: string): Promise<TemplateFile> {
  const text = await readFile(path, 'utf8');
  if (!text.trimStart().startsWith('{"') && !path.endsWith('.json')) return { source: text, values: {}, specials: [] };
  const config = objectIn(JSON.parse(text));
  const source = templateSource(config.chat_template);
  if (source === null) throw new Error('it has no chat_template');
  const values: JsonObject = {};
  for (const key of ['bos_token', 'eos_token', 'pad_token', 'unk_token']) values[key] = tokenContent(config[key]) ?? '';
  const added = Object.values(objectIn(config.added_tokens_decoder)) as JsonObject[];
  const specials = added.flatMap((one) => (one?.special === true ? (tokenContent(one) ?? []) : []));
  return { source, values, specials };
}

function templateSource(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const named = value as JsonObject[];
  const one = named.find(({ name }) => name === 'default') ?? named[0];
  return typeof one?.template === 'string' ? one.template : null;
}

const tokenContent = (value: JsonValue | undefined): string | null =>
  typeof value === 'string'
    ? value
    : typeof (value as JsonObject | null | undefined)?.content === 'string'
      ? (objectIn(value).content as string)
      : null;
