import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { printJson } from '../../core/json/print.ts';
import { type JsonObject, type JsonValue, objectIn, plainJson } from '../../core/json/value.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Message } from '../common/message.ts';
import { ByteLevel } from './byte-level.ts';
import { RecentTexts } from './recent-texts.ts';
import { TemplateFrames } from './template-frames.ts';
import { isVerbatim } from './verbatim-template.ts';

/** Placeholder for an assistant's text, to find what a template writes after it. Plain letters: no template changes them. */
const SENTINEL = 'ROLLOUTVIEWERASSISTANTTEXT';
/** The history that verl renders a delta on (`verl/workers/rollout/schemas.py`). */
const BASE: Message[] = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'I am a user.' },
];

/** Characters of rendered texts that are cached. */
const KEPT = 4_000_000;

export interface ContinuationOptions {
  kwargs?: JsonObject;
  /** See LoopRules. */
  separator?: 'template' | 'newline after the end token' | 'nothing';
}

/** The user's tokenizer and chat template: conversations to text and ids, and back. */
export class ChatTokenizer {
  readonly #tokenizer: Tokenizer;
  readonly #template: Template;
  readonly #special: JsonObject;
  readonly #byteLevel: ByteLevel | null;
  /** Recently rendered texts: rollouts of one prompt render the same ones, and all of them the template's own text. */
  readonly #rendered: RecentTexts<string> | null;
  readonly #frames: TemplateFrames | null;
  /** Short, and the same for the same template and vocabulary. */
  readonly templateHash: string;

  /** `tokenizer` is tokenizer.json, `config` tokenizer_config.json; `template` defaults to the one in the config. */
  constructor(tokenizer: object, config: JsonObject = {}, template?: string) {
    const source = template ?? templateOf(config.chat_template);
    if (source === null) throw new Error('no chat template: give one with --chat-template');
    this.#tokenizer = new Tokenizer(tokenizer, config);
    this.#template = new Template(source);
    this.#byteLevel = ByteLevel.of(tokenizer as JsonObject, config);
    // A template that reads the clock may render differently each time.
    const isSteady = !source.includes('strftime_now');
    this.#rendered = isSteady ? new RecentTexts(KEPT) : null;
    this.#frames =
      isSteady && isVerbatim(this.#template) ? new TemplateFrames((...asked) => this.#render(...asked)) : null;
    this.templateHash = createHash('sha256')
      .update(source)
      .update(JSON.stringify(tokenizer))
      .digest('hex')
      .slice(0, 12);
    this.#special = Object.fromEntries(
      ['bos_token', 'eos_token', 'pad_token', 'unk_token'].map((key) => [key, tokenText(config[key])]),
    );
  }

  /** `kwargs` are verl's `apply_chat_template_kwargs`: template inputs besides the conversation, such as `enable_thinking`. */
  render(
    messages: readonly Message[],
    tools: readonly JsonObject[],
    addGenerationPrompt: boolean,
    kwargs: JsonObject = {},
  ): string {
    const framed = this.#frames?.render(messages, tools, addGenerationPrompt, kwargs) ?? null;
    if (framed !== null) return framed;
    if (this.#rendered === null) return this.#render(messages, tools, addGenerationPrompt, kwargs);
    const key = printJson([messages, tools, addGenerationPrompt, kwargs]);
    const known = this.#rendered.get(key);
    if (known !== undefined) return known;
    const text = this.#render(messages, tools, addGenerationPrompt, kwargs);
    this.#rendered.set(key, text, text.length);
    return text;
  }

  #render(
    messages: readonly Message[],
    tools: readonly JsonObject[],
    addGenerationPrompt: boolean,
    kwargs: JsonObject,
  ): string {
    return this.#template.render({
      ...this.#special,
      ...kwargs,
      messages: messages.map(templateMessage),
      ...(tools.length > 0 ? { tools } : {}),
      add_generation_prompt: addGenerationPrompt,
    });
  }

  encode(text: string): number[] {
    return this.#byteLevel === null
      ? this.#encodeWhole(text)
      : this.#byteLevel.encode(text, (piece) => this.#encodeWhole(piece));
  }

  #encodeWhole(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** Removes the special tokens from a piece of `text`, as encoding and decoding it would. */
  stripper(text: string): (piece: string) => string {
    return this.#byteLevel?.stripper(text) ?? ((piece) => this.decode(this.encode(piece), true));
  }

  /** Spaces are kept as sampled: cleaning them up would make the text differ from its tokens. */
  decode(ids: readonly number[], skipSpecialTokens: boolean): string {
    if (ids.length === 0) return '';
    if (this.#byteLevel !== null)
      return this.#byteLevel.decode(ids, skipSpecialTokens, (id) => this.#tokenizer.id_to_token(id));
    return this.#tokenizer.decode([...ids], {
      skip_special_tokens: skipSpecialTokens,
      clean_up_tokenization_spaces: false,
    });
  }

  /**
   * The template's text between an assistant's turn and the next one: the end of the turn, `messages`, and with
   * `addGenerationPrompt` the header of the next turn. `lastId` is the last sampled token: a sampled end-of-turn token is not
   * written a second time, a truncated one is. The policy wrote none of this text.
   */
  continuation(
    messages: readonly Message[],
    lastId: number | null,
    addGenerationPrompt: boolean,
    { kwargs = {}, separator = 'template' }: ContinuationOptions = {},
  ): string {
    const before: Message[] = [...BASE, { role: 'assistant', content: SENTINEL }];
    const after = this.#behindSentinel([...before, ...messages], addGenerationPrompt, kwargs);
    const last = lastId === null ? '' : this.decode([lastId], false);
    const isEnded = last !== '' && after.startsWith(last);
    if (separator === 'template') return isEnded ? after.slice(last.length) : after;
    const closing = this.#closing(kwargs);
    const own = after.startsWith(closing) ? after.slice(closing.length) : after;
    return isEnded && separator === 'newline after the end token' ? closing.slice(last.length) + own : own;
  }

  /** The template's text after a last assistant turn. */
  #closing(kwargs: JsonObject): string {
    return this.#behindSentinel([...BASE, { role: 'assistant', content: SENTINEL }], false, kwargs);
  }

  #behindSentinel(messages: readonly Message[], addGenerationPrompt: boolean, kwargs: JsonObject): string {
    const text = this.render(messages, [], addGenerationPrompt, kwargs);
    const at = text.indexOf(SENTINEL);
    if (at === -1) throw new Error('the chat template drops the text of an assistant turn');
    return text.slice(at + SENTINEL.length);
  }
}

/** Reads tokenizer.json, the tokenizer_config.json beside it, and a template file: Jinja text, or a JSON file that has `chat_template`. */
export async function loadChatTokenizer(path: string, templatePath?: string): Promise<ChatTokenizer> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const tokenizerPath = isFolder ? join(path, 'tokenizer.json') : path;
  const read = async (path: string): Promise<JsonObject> => {
    try {
      return objectIn(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      throw new Error(`${path}: ${error instanceof SyntaxError ? `not JSON: ${error.message}` : reasonOf(error)}`);
    }
  };
  const tokenizer = await read(tokenizerPath);
  const configPath = join(dirname(tokenizerPath), 'tokenizer_config.json');
  const config = await readFile(configPath, 'utf8').then(
    () => read(configPath),
    () => ({}),
  );
  let template: string | undefined;
  if (templatePath !== undefined) {
    const text = await readFile(templatePath, 'utf8').catch((error: Error) => {
      throw new Error(`${templatePath}: ${reasonOf(error)}`);
    });
    template = templatePath.endsWith('.json') ? (templateOf((await read(templatePath)).chat_template) ?? text) : text;
  }
  try {
    return new ChatTokenizer(tokenizer, config, template);
  } catch (error) {
    throw new Error(`${tokenizerPath}: ${errorMessage(error)}`);
  }
}

/** A config holds one template, or a list of named ones; with tools, the one called tool_use applies. */
function templateOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const named = value.filter(
    (entry): entry is JsonObject => typeof entry === 'object' && entry !== null && 'template' in entry,
  );
  const entry =
    named.find(({ name }) => name === 'tool_use') ?? named.find(({ name }) => name === 'default') ?? named[0];
  return typeof entry?.template === 'string' ? entry.template : null;
}

const tokenText = (value: JsonValue | undefined): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null && 'content' in value
      ? String(value.content)
      : '';

/** Templates write `arguments | tojson`, so they need an object; text that is not one stays text. */
function templateMessage(message: Message): JsonObject {
  const calls = message.tool_calls?.map((call) => {
    let args: JsonValue = call.function.arguments;
    try {
      args = plainJson(call.function.arguments);
    } catch {}
    return { ...call, function: { name: call.function.name, arguments: args } };
  });
  return { ...message, ...(calls ? { tool_calls: calls } : {}) };
}
