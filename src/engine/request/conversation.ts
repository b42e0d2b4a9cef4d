import type { JsonObject } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { RolloutFault } from '../common/faults.ts';
import type { Message } from '../common/message.ts';
import type { RequestOptions } from './options.ts';
import { plainRenderer, type Renderer, type Rendering, TemplateRenderer } from './renderer.ts';
import type { LoopRules } from './rules.ts';
import { tokenizationWarning } from './tokenization-check.ts';
import { Transcript } from './transcript.ts';

/** The messages of a rollout, and the text and tokens the model saw for them: both grow together. */
export class Conversation {
  readonly messages: Message[];
  /** Number of given messages; a message from a tool's creation counts as part of the prompt. */
  promptLength: number;
  readonly renderer: Renderer;
  readonly #options: RequestOptions;
  readonly #rules: LoopRules;
  readonly #schemas: readonly JsonObject[];
  readonly #cutPrompt: { limit: number | null; warn: (message: string) => void };
  #transcript: Transcript | null = null;
  /** Renders the last given part again, without the header of the upcoming turn. */
  #closing: (() => void) | null = null;

  constructor(
    options: RequestOptions,
    {
      rules,
      schemas,
      ...cutPrompt
    }: {
      rules: LoopRules;
      schemas: readonly JsonObject[];
      limit: number | null;
      warn: (message: string) => void;
    },
  ) {
    const { tokenizer, templateKwargs: kwargs = {}, partial } = options;
    this.#options = options;
    this.#rules = rules;
    this.#schemas = schemas;
    this.#cutPrompt = cutPrompt;
    this.renderer = tokenizer ? new TemplateRenderer(tokenizer, { kwargs, separator: rules.separator }) : plainRenderer;
    this.messages = [...(partial?.messages ?? options.messages)];
    this.promptLength = partial?.prompt_turns ?? options.messages.length;
    if (partial) this.#transcript = Transcript.restore(partial.transcript);
  }

  /** Rendered on first use. */
  get transcript(): Transcript {
    this.#transcript ??= new Transcript(this.#prompt());
    return this.#transcript;
  }

  /** Replaces the prompt with messages, or appends them. Nothing was sampled yet. */
  open(messages: readonly Message[], isInstead: boolean): void {
    if (isInstead) this.messages.splice(0, this.promptLength, ...messages);
    else this.messages.push(...messages);
    this.promptLength = this.messages.length;
  }

  #prompt(): Rendering {
    const { model, tokenizer } = this.#options;
    if (model.exact && this.messages.some(({ content }) => Array.isArray(content) && content.some(isPicture)))
      throw new RolloutFault('prompt_not_rendered', 'pictures have no token ids here: use --api chat');
    const rendering =
      this.#options.prompt ??
      ofTemplate(() => this.renderer.prompt(this.messages.slice(0, this.promptLength), this.#schemas));
    const { limit, warn } = this.#cutPrompt;
    const { ids } = rendering;
    if (!this.#rules.cutsPrompt || limit === null || ids === null || ids.length <= limit) return rendering;
    warn(`the prompt of ${ids.length} tokens was cut to its last ${limit}, as verl does`);
    const kept = ids.slice(-limit);
    const text = tokenizer!.decode(kept, true);
    return { ids: kept, pieces: [{ turn: this.promptLength - 1, kind: 'marker', text }] };
  }

  /** @param fits false if its tokens are left out, as verl does. @returns whether they are in */
  addGiven(messages: readonly Message[], fits: (rendering: Rendering) => boolean): Rendering | null {
    const { transcript } = this;
    const first = this.messages.length;
    const { lastId } = transcript;
    const rendering = this.#continuation(messages, first, lastId, true);
    this.messages.push(...messages);
    for (const [position, message] of messages.entries())
      this.#options.onEvent?.({ kind: 'message', turn: first + position, message });
    if (!fits(rendering)) return null;
    transcript.addGiven(rendering);
    this.#closing = () => transcript.replaceGiven(this.#continuation(messages, first, lastId, false));
    return rendering;
  }

  #continuation(...asked: Parameters<Renderer['continuation']>): Rendering {
    return ofTemplate(() => this.renderer.continuation(...asked));
  }

  /** Removes the header of an assistant turn that never came. */
  dropOpenHeader(): void {
    if (this.#rules.keepsOpenHeader || this.messages.at(-1)?.role === 'assistant') return;
    this.#closing?.();
    this.#closing = null;
  }

  /** Cuts the response like verl's truncate_output_ids; without ids, the server that counts tokens has enforced the limit. */
  truncate(maxResponse: number, maxAll: number | null): void {
    const { tokenizer, model } = this.#options;
    if (!tokenizer || !model.exact) return;
    const room = maxAll === null ? Number.POSITIVE_INFINITY : maxAll - (this.transcript.promptTokens ?? 0);
    this.transcript.truncate(Math.min(maxResponse, room), (ids) => tokenizer.decode(ids, true));
  }

  /** Compares the sampled text with the conversation rendered from scratch. @returns the difference, or null */
  async tokenizationWarning(): Promise<string | null> {
    const { tokenizer, tokenizationCheck: mode = 'strict', templateKwargs = {}, model } = this.#options;
    if (!tokenizer || !model.exact || mode === 'disable' || this.#rules.version !== null) return null;
    let rendered: string;
    try {
      rendered = tokenizer.render(this.messages, this.#schemas, false, templateKwargs);
    } catch (error) {
      return `the chat template cannot render the conversation again: ${errorMessage(error)}`;
    }
    return tokenizationWarning(rendered, this.transcript.ids ?? [], tokenizer, mode);
  }
}

/** Templates refuse some conversations, such as roles that do not alternate. @throws RolloutFault with its words */
function ofTemplate(render: () => Rendering): Rendering {
  try {
    return render();
  } catch (error) {
    if (error instanceof RolloutFault) throw error;
    throw new RolloutFault('prompt_not_rendered', `the chat template: ${errorMessage(error)}`);
  }
}

const isPicture = ({ type }: JsonObject): boolean => type === 'image_url' || type === 'image';
