import type { JsonObject } from '../../core/json/value.ts';
import { type Message, messageText } from '../common/message.ts';
import type { ChatTokenizer, ContinuationOptions } from '../model/chat-tokenizer.ts';

/** A piece of a dump's `input` or `output`, without special tokens, as verl decodes. */
export interface RenderedPiece {
  /** Index of the message. */
  turn: number;
  kind: 'text' | 'marker';
  text: string;
}

export interface Rendering {
  pieces: RenderedPiece[];
  /** The exact ids; null without a tokenizer. */
  ids: number[] | null;
}

/** Renders conversations as the model sees them. Messages are numbered from `firstTurn`; the header after them belongs to the next turn. */
export interface Renderer {
  prompt(messages: readonly Message[], tools: readonly JsonObject[]): Rendering;
  /** The tokens after an assistant's sampled ones: the end of its turn, `messages`, and the next assistant header if `next` is true. */
  continuation(messages: readonly Message[], firstTurn: number, lastId: number | null, next: boolean): Rendering;
  /** An assistant turn's text, for an API reply without ids. */
  assistantText(message: Message): string;
}

/** ChatML without its special tokens, which is how a verl dump shows it: for servers that render with their own template. */
export const plainRenderer: Renderer = {
  prompt(messages) {
    return {
      pieces: [...plainPieces(messages, 0, ''), ...headerPieces('assistant', messages.length, messages.length > 0)],
      ids: null,
    };
  },
  continuation(messages, firstTurn, _lastId, next) {
    const pieces = plainPieces(messages, firstTurn, '\n');
    return {
      pieces: next ? [...pieces, ...headerPieces('assistant', firstTurn + messages.length, true)] : pieces,
      ids: null,
    };
  },
  assistantText,
};

const headerPieces = (role: string, turn: number, after: boolean): RenderedPiece[] => [
  { turn, kind: 'marker', text: `${after ? '\n' : ''}${role}\n` },
];

function plainPieces(messages: readonly Message[], firstTurn: number, before: string): RenderedPiece[] {
  const pieces: RenderedPiece[] = [];
  for (const [at, message] of messages.entries()) {
    const turn = firstTurn + at;
    const isTool = message.role === 'tool';
    // Results of parallel calls share one user turn in Qwen's template.
    const follows = isTool && messages[at - 1]?.role === 'tool';
    const start = at === 0 ? before : '\n';
    const head = isTool ? `${follows ? '' : 'user\n'}<tool_response>\n` : `${message.role}\n`;
    pieces.push({ turn, kind: 'marker', text: start + head });
    const text = message.role === 'assistant' ? assistantText(message) : messageText(message);
    if (text !== '') pieces.push({ turn, kind: 'text', text });
    if (isTool) pieces.push({ turn, kind: 'marker', text: '\n</tool_response>' });
  }
  return pieces;
}

function assistantText(message: Message): string {
  const think = message.reasoning_content ? `<think>\n${message.reasoning_content}\n</think>\n\n` : '';
  const calls = (message.tool_calls ?? []).map(
    ({ function: { name, arguments: args } }) =>
      `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${args.trim() || '{}'}}\n</tool_call>`,
  );
  return think + [messageText(message), ...calls].filter((part) => part !== '').join('\n');
}

/** The user's template; ids are exact if the engine also returns the sampled ones. */
export class TemplateRenderer implements Renderer {
  readonly #tokenizer: ChatTokenizer;
  readonly #options: ContinuationOptions;
  assistantText = assistantText;

  constructor(tokenizer: ChatTokenizer, options: ContinuationOptions = {}) {
    this.#tokenizer = tokenizer;
    this.#options = options;
  }

  prompt(messages: readonly Message[], tools: readonly JsonObject[]): Rendering {
    return this.#rendering(messages, 0, (given) => this.#tokenizer.render(given, tools, true, this.#options.kwargs));
  }

  continuation(messages: readonly Message[], firstTurn: number, lastId: number | null, next: boolean): Rendering {
    return this.#rendering(messages, firstTurn, (given) =>
      this.#tokenizer.continuation(given, lastId, next, this.#options),
    );
  }

  #rendering(
    messages: readonly Message[],
    firstTurn: number,
    render: (messages: readonly Message[]) => string,
  ): Rendering {
    const text = render(messages);
    const ids = this.#tokenizer.encode(text);
    const strip = this.#tokenizer.stripper(text);
    const shown = strip(text);
    const pieces = layOut(text, messages, firstTurn, render).map((piece) => ({ ...piece, text: strip(piece.text) }));
    // Boundaries are uncertain if stripping piece by piece gives a different text (SentencePiece writes leading spaces).
    if (pieces.map((piece) => piece.text).join('') === shown)
      return { pieces: pieces.filter(({ text }) => text !== ''), ids };
    return { pieces: shown === '' ? [] : [{ turn: firstTurn, kind: 'marker', text: shown }], ids };
  }
}

const place = (index: number) => `ROLLOUTVIEWERMESSAGE${index}TEXT`;
const CALLS_END = '</tool_call>';

/**
 * Separates the messages' texts from the template's text around them, by rendering once more with a placeholder for each text.
 * If a template changes a text (trims it, drops old reasoning), everything becomes one marker.
 */
function layOut(
  text: string,
  messages: readonly Message[],
  firstTurn: number,
  render: (messages: readonly Message[]) => string,
): RenderedPiece[] {
  const contents = messages.map(messageText);
  const frame = render(messages.map((message, index) => ({ ...message, content: place(index) })));
  const pieces: RenderedPiece[] = [];
  let at = 0;
  for (const [index, content] of contents.entries()) {
    const start = frame.indexOf(place(index), at);
    if (start === -1) return [{ turn: firstTurn, kind: 'marker', text }];
    let marker = frame.slice(at, start);
    // Calls that the template writes after an earlier assistant's content belong to that turn.
    const calls = messages[index - 1]?.tool_calls ? marker.lastIndexOf(CALLS_END) : -1;
    if (calls !== -1) {
      pieces.push({ turn: firstTurn + index - 1, kind: 'text', text: marker.slice(0, calls + CALLS_END.length) });
      marker = marker.slice(calls + CALLS_END.length);
    }
    pieces.push({ turn: firstTurn + index, kind: 'marker', text: marker });
    pieces.push({ turn: firstTurn + index, kind: 'text', text: content });
    at = start + place(index).length;
  }
  pieces.push({ turn: firstTurn + messages.length, kind: 'marker', text: frame.slice(at) });
  return pieces.map((piece) => piece.text).join('') === text ? pieces : [{ turn: firstTurn, kind: 'marker', text }];
}
