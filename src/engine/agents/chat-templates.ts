import { pythonText } from '../common/python-text.ts';

/** A message as agents store it. */
export interface ChatMessage {
  role: string;
  content: unknown;
}

/** The part of a tokenizer that a template needs. */
export interface TemplateTokenizer {
  encode(text: string): number[];
  bosToken?: string;
  eosToken?: string;
  bosId?: number;
  eosId?: number;
  /** The tokenizer's own template, for the parser `default`. */
  applyChatTemplate?(messages: readonly ChatMessage[], options: { addGenerationPrompt: boolean }): string;
}

/** Removed from message texts if a template declares no tokens. */
const CONTROL_TOKENS = [
  '<start_of_turn>',
  '<end_of_turn>',
  '<bos>',
  '<eos>',
  '<|begin_of_text|>',
  '<|end_of_text|>',
  '<|start_header_id|>',
  '<|end_header_id|>',
  '<|eot_id|>',
  '<|im_start|>',
  '<|im_end|>',
];

/** Removes control tokens repeatedly until none is left, so removing one cannot form another. Null stays null. */
export function sanitizeControlTokens(
  content: unknown,
  { extraTokens = [], includeDefault = true }: { extraTokens?: Iterable<string>; includeDefault?: boolean } = {},
): string | null {
  if (content === null || content === undefined) return null;
  let text = content instanceof Uint8Array ? new TextDecoder().decode(content) : pythonText(content);
  const tokens = [...new Set([...(includeDefault ? CONTROL_TOKENS : []), ...extraTokens])].filter(Boolean).sort();
  if (tokens.length === 0) return text;
  const pattern = new RegExp(tokens.map((token) => token.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(pattern, '');
  }
  return text;
}

/** The pieces that make up a template; '' for the ones it lacks. */
export interface TemplateTokens {
  bos: string;
  eos: string;
  eot: string;
  system: string;
  user: string;
  assistant: string;
  toolStart: string;
  toolEnd: string;
  toolResponseStart: string;
  toolResponseEnd: string;
  /** Written between messages, and before a continuation. */
  separator: string;
}

const NO_TOKENS: TemplateTokens = {
  bos: '',
  eos: '',
  eot: '',
  system: '',
  user: '',
  assistant: '',
  toolStart: '',
  toolEnd: '',
  toolResponseStart: '',
  toolResponseEnd: '',
  separator: '',
};

export interface RenderOptions {
  /** The conversation begins with these messages. */
  isFirst?: boolean;
  /** A reply will follow. */
  addGenerationPrompt?: boolean;
}

/** How one model formats a conversation; deviations from the common format are hooks. */
interface Template {
  tokens(tokenizer: TemplateTokenizer, thinking: boolean): Partial<TemplateTokens>;
  /** Before the first message of a conversation. */
  begin?(messages: readonly ChatMessage[], parser: ChatTemplateParser): string;
  prepare?(messages: readonly ChatMessage[]): readonly ChatMessage[];
  write?: Partial<
    Record<'system' | 'user' | 'assistant' | 'tool', (text: string, parser: ChatTemplateParser) => string>
  >;
  /** No separator and nothing before the first message. */
  isPlain?: boolean;
  alsoRemoved?: string[];
  endsWithNewline?: boolean;
}

const QWEN: Template = {
  tokens: ({ bosToken = '', eosToken = '' }, thinking) => ({
    bos: bosToken,
    eos: eosToken,
    eot: '<|im_end|>',
    system: '<|im_start|>system\n',
    user: '<|im_start|>user\n',
    assistant: `<|im_start|>assistant\n${thinking ? '' : '<think>\n\n</think>\n\n'}`,
    toolStart: '\n<tool_call>\n',
    toolEnd: '\n</tool_call>',
    toolResponseStart: '<tool_response>\n',
    toolResponseEnd: '\n</tool_response>',
    separator: '\n',
  }),
  begin(messages, parser) {
    const [first] = messages;
    if (first === undefined) throw new RangeError('no message to begin a conversation with');
    if (first.role === 'system') return '';
    return parser.write({
      role: 'system',
      content: 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.',
    });
  },
};

const chatHeader = (role: string) => `<|start_header_id|>${role}<|end_header_id|>\n\n`;
const LLAMA: Template = {
  tokens: () => ({
    bos: '<|begin_of_text|>',
    eot: '<|eot_id|>',
    system: chatHeader('system'),
    user: chatHeader('user'),
    assistant: chatHeader('assistant'),
    toolStart: chatHeader('tool'),
    toolEnd: '<|eot_id|>',
    toolResponseStart: chatHeader('tool_response'),
    toolResponseEnd: '<|eot_id|>',
  }),
  begin: (_messages, parser) => parser.tokens.bos,
};

const GEMMA: Template = {
  tokens: () => ({
    bos: '<bos>',
    eot: '<end_of_turn>\n',
    user: '<start_of_turn>user\n',
    assistant: '<start_of_turn>model\n',
  }),
  isPlain: true,
  /** Gemma has no system turn: its text goes before the first user's. */
  prepare(messages) {
    const [first, second, ...rest] = messages;
    if (first !== undefined && messageRole(first) !== 'system') return messages;
    if (first === undefined) return messages;
    const system = messageWords(first);
    if (second !== undefined && messageRole(second) === 'user')
      return [{ ...second, content: `${system}\n${messageWords(second)}` }, ...rest];
    return [{ role: 'user', content: system }, ...messages.slice(1)];
  },
  write: {
    system() {
      throw new RangeError(
        'Gemma models do not support system messages directly. The system prompt should be the first message and is handled by merging with the first user message.',
      );
    },
    assistant: (text, { tokens }) => tokens.assistant + text,
  },
};

const GEMMA4: Template = {
  tokens: (_tokenizer, thinking) => ({
    bos: '<bos>',
    eot: '<turn|>\n',
    system: `<|turn>system\n${thinking ? '<|think|>' : ''}`,
    user: '<|turn>user\n',
    assistant: `<|turn>model\n${thinking ? '' : '<|channel>thought\n<channel|>'}`,
    toolStart: '<|tool_call>',
    toolEnd: '<tool_call|>',
    toolResponseStart: '<|tool_response>',
    toolResponseEnd: '<tool_response|>',
  }),
  alsoRemoved: ['<turn|>'],
  endsWithNewline: true,
  begin(messages, { tokens, thinking }) {
    const [first] = messages;
    const asks = thinking && first !== undefined && !['system', 'developer'].includes(messageRole(first));
    return tokens.bos + (asks ? '<|turn>system\n<|think|><turn|>\n' : '');
  },
  write: {
    system: (text, { tokens }) => tokens.system + text.trim() + tokens.eot,
    user: (text, { tokens }) => tokens.user + text.trim() + tokens.eot,
    assistant: (text, { tokens }) => tokens.assistant + text.trim() + tokens.eot,
    tool: (text, { tokens }) => tokens.toolResponseStart + text + tokens.toolResponseEnd,
  },
};

const TEMPLATES = {
  qwen: QWEN,
  llama: LLAMA,
  gemma: GEMMA,
  gemma4: GEMMA4,
  default: { tokens: () => ({}) } as Template,
};
export type ChatTemplateName = keyof typeof TEMPLATES;

function messageRole(message: ChatMessage): string {
  if (!Object.hasOwn(message, 'role')) throw new TypeError('a message has no role');
  return message.role;
}

function messageWords(message: ChatMessage): string {
  if (!Object.hasOwn(message, 'content')) throw new TypeError('a message has no content');
  if (typeof message.content !== 'string') throw new TypeError('the content of a message is not text');
  return message.content;
}

/**
 * Writes messages as a model's template does (`tunix/rl/agentic/parser/chat_template_parser/parser.py`): a continuation begins with the
 * separator between messages, so that concatenated pieces form the conversation. The caller's messages are never changed.
 */
export class ChatTemplateParser {
  readonly tokens: TemplateTokens;
  readonly generationPrompt: string;
  readonly thinking: boolean;
  readonly removed: ReadonlySet<string>;
  readonly #template: Template;
  readonly #tokenizer: TemplateTokenizer;

  /** @throws RangeError for an unknown name */
  constructor(name: ChatTemplateName, tokenizer: TemplateTokenizer, { thinking = true }: { thinking?: boolean } = {}) {
    const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
    if (template === undefined)
      throw new RangeError(`unknown chat template '${name}'; known: ${Object.keys(TEMPLATES).join(', ')}`);
    this.#template = template;
    this.#tokenizer = tokenizer;
    this.thinking = thinking;
    this.tokens = { ...NO_TOKENS, ...template.tokens(tokenizer, thinking) };
    this.generationPrompt = this.tokens.assistant;
    const { separator: _, ...own } = this.tokens;
    this.removed = new Set([...Object.values(own).filter(Boolean), ...(template.alsoRemoved ?? [])]);
  }

  render(
    messages: readonly ChatMessage[],
    { isFirst = false, addGenerationPrompt = false }: RenderOptions = {},
  ): string {
    if (this.#template === TEMPLATES.default) {
      for (const message of messages) messageRole(message);
      if (!this.#tokenizer.applyChatTemplate) throw new TypeError('the tokenizer has no chat template');
      return this.#tokenizer.applyChatTemplate(messages, { addGenerationPrompt });
    }
    const { begin, isPlain = false } = this.#template;
    const prepared = this.prepare(messages);
    const first = isFirst && !isPlain ? (begin?.(prepared, this) ?? '') : '';
    const parts = [
      ...(first === '' ? [] : [first]),
      ...prepared.map((message) => this.write(message)),
      ...(addGenerationPrompt ? [this.generationPrompt] : []),
    ];
    const { separator } = this.tokens;
    const text = parts.join(separator);
    return isFirst || text === '' ? text : separator + text;
  }

  /** The messages in the form in which they are written one by one. */
  prepare(messages: readonly ChatMessage[]): readonly ChatMessage[] {
    return this.#template.prepare?.(messages) ?? messages;
  }

  /** @throws TypeError for a message without role or text, RangeError for a role unknown to every template */
  write(message: ChatMessage): string {
    const role = messageRole(message);
    if (!Object.hasOwn(message, 'content')) throw new TypeError('a message has no content');
    const text = sanitizeControlTokens(message.content, {
      extraTokens: this.removed,
      includeDefault: this.removed.size === 0,
    });
    if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool')
      throw new RangeError(`Unsupported message role: ${role}`);
    if (text === null) throw new TypeError('the content of a message is null');
    const own = this.#template.write?.[role];
    if (own) return own(text, this);
    const { tokens } = this;
    if (role !== 'tool') return tokens[role] + text + tokens.eot;
    return tokens.user + tokens.toolResponseStart + text + tokens.toolResponseEnd + tokens.eot;
  }

  /** The template's text after a sampled turn, beyond its end token. */
  get newlineTokens(): number[] {
    if (!this.#template.endsWithNewline) return [];
    const { bosId, eosId } = this.#tokenizer;
    return this.#tokenizer.encode('\n').filter((id) => id !== bosId && id !== eosId);
  }
}
