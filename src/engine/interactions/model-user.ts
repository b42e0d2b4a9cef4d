import { z } from 'zod';
import type { JsonObject } from '../../core/json/value.ts';
import { type Message, messageText } from '../common/message.ts';
import { ChatCompletionsModel } from '../model/chat-completions.ts';
import type { Model, SamplingParams } from '../model/model.ts';
import type { Interaction, UserWord } from './interaction.ts';

/** The key for a simulated user's server; a worker sends it only to the address in its own environment. */
const KEY = 'ROLLOUT_VIEWER_USER_API_KEY';
const ADDRESS = 'ROLLOUT_VIEWER_USER_MODEL_URL';

const isSameServer = (own: string, asked: string): boolean =>
  URL.canParse(own) &&
  URL.canParse(asked) &&
  new URL(own).href.replace(/\/$/, '') === new URL(asked).href.replace(/\/$/, '');

const Config = z.looseObject({
  /** An OpenAI-compatible server, up to and including /v1. */
  model_url: z.string().min(1),
  model: z.string().min(1),
  /** The user's character and wishes; `{key}` inserts a key of the sample's interaction_kwargs. */
  persona: z.string().min(1),
  /** The environment variable that holds the server's key. */
  api_key_env: z.string().default(KEY),
  /** The user says this to end the conversation. */
  stop_word: z.string().default('###STOP###'),
  max_tokens: z.number().int().positive().default(512),
  temperature: z.number().optional(),
});

/**
 * A user played by a model with a persona. For that model the roles are swapped: it receives the assistant's turns as input,
 * and its replies are the user's turns.
 */
export class ModelUserInteraction implements Interaction {
  readonly name: string;
  readonly #config: z.infer<typeof Config>;
  readonly #model: Model;

  /** @param isGuest the configuration came with someone else's run: it may not choose variables of this machine */
  constructor(name: string, config: unknown, { model, isGuest = false }: { model?: Model; isGuest?: boolean } = {}) {
    this.name = name;
    this.#config = Config.parse(config ?? {});
    const { model_url: url, api_key_env } = this.#config;
    if (isGuest && api_key_env !== KEY)
      throw new Error(`api_key_env: a run names no variable of a worker's: the key there is ${KEY}`);
    const isOwn = !isGuest || (process.env[ADDRESS] !== undefined && isSameServer(process.env[ADDRESS], url));
    this.#model =
      model ??
      new ChatCompletionsModel(this.#config.model, { url, apiKey: isOwn ? process.env[api_key_env] : undefined });
  }

  async start(): Promise<void> {}

  async respond(
    _instanceId: string,
    messages: readonly Message[],
    kwargs: JsonObject,
    signal?: AbortSignal,
  ): Promise<UserWord> {
    const { max_tokens, temperature, stop_word: stopWord } = this.#config;
    const sampling: SamplingParams = temperature === undefined ? {} : { temperature };
    const { text } = await this.#model.generate({
      messages: [{ role: 'system', content: this.#persona(kwargs) }, ...turned(messages)],
      tools: [],
      sampling,
      maxNewTokens: max_tokens,
      inputIds: null,
      signal,
    });
    const terminate = text.includes(stopWord);
    return { terminate, text: text.replaceAll(stopWord, '').trim(), score: null, metadata: {} };
  }

  async finalize(): Promise<void> {}

  #persona(kwargs: JsonObject): string {
    const persona = this.#config.persona.replace(/\{(\w+)\}/g, (whole, key: string) =>
      kwargs[key] === undefined ? whole : String(kwargs[key]),
    );
    return `${persona}\n\nWrite the user's next message, and nothing else. When the user has what they want, write ${this.#config.stop_word}.`;
  }
}

/** Tool results and system texts are hidden from the user. */
function turned(messages: readonly Message[]): Message[] {
  return messages.flatMap((message): Message[] => {
    const content = messageText(message);
    if (content === '' || (message.role !== 'assistant' && message.role !== 'user')) return [];
    return [{ role: message.role === 'assistant' ? 'user' : 'assistant', content }];
  });
}
