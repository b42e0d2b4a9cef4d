import { parseJson } from '../../core/json/parse.ts';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import type { TokenText } from '../../core/rollout/token-table.ts';
import { argumentsText } from './arguments-text.ts';
import type { ExportConversation } from './conversation.ts';
import type { ExportRow } from './format.ts';
import type { LoaderRule } from './loader-rule.ts';
import type { LoaderTemplate } from './loader-template.ts';
import type { ExportMessage } from './message.ts';
import { exportMessages, isTrainedReply, withThinking } from './openai-messages.ts';

export interface LoadedTokens {
  ids: number[];
  /** 1 = trained. */
  mask: number[];
  /** The message of each token; empty if the loader does not cut by messages. */
  messages: number[];
}

/** Makes tokens of conversations as a trainer's loader would. */
export class LoaderTokens {
  readonly rule: LoaderRule;
  readonly #tokenizer: TokenText;
  readonly #template: LoaderTemplate;
  #ends: { system: number; header: number } | null = null;

  constructor(tokenizer: TokenText, template: LoaderTemplate, rule: LoaderRule) {
    this.#tokenizer = tokenizer;
    this.#template = template;
    this.rule = rule;
  }

  /** Without generation blocks TRL uses its own template, or stops. */
  get knowsMask(): boolean {
    const { trains } = this.rule;
    return trains !== null && (this.#template.hasGeneration || (trains !== 'generation' && trains !== 'flagged'));
  }

  /** @throws if the template or the loader refuses the conversation */
  load(conversation: ExportConversation): LoadedTokens {
    const { messages, response, tools } = conversation;
    const { isText, renders, parsesCalls } = this.rule;
    const given = parsesCalls ? messages.map(withParsedCalls) : messages;
    const rows = exportMessages(isText ? { isRecorded: false } : conversation, given);
    const listed = isText && conversation.isTextWhole ? null : tools;
    switch (renders) {
      case 'prompt':
        return { ids: this.#ids(rows.slice(0, response), listed, true), mask: [], messages: [] };
      case 'each':
        return this.#each(rows);
      case 'prefixes':
        return this.#prefixes(rows, listed);
      case 'slots':
        return this.#slots(conversation);
      case 'whole':
        return this.#whole(rows, listed, conversation);
    }
  }

  /** Tokens of the system prompt that the template adds by itself, and of the header of a reply. */
  ends(): { system: number; header: number } {
    if (this.#ends !== null) return this.#ends;
    const user = { role: 'user', content: '' };
    const one = this.#ids([user], null, false).length;
    const two = this.#ids([user, user], null, false).length;
    this.#ends = { system: one - (two - one), header: this.#ids([user], null, true).length - one };
    return this.#ends;
  }

  #whole(rows: readonly ExportRow[], tools: JsonValue[] | null, conversation: ExportConversation): LoadedTokens {
    const { text, generated } = this.#render(rows, tools, false);
    const ids = this.#tokenizer.ids(text);
    const mask = ids.map(() => 0);
    const { trains } = this.rule;
    if (trains === 'generation' || trains === 'flagged') {
      const place = this.#places(text, ids);
      const isTrained = trains === 'generation' ? null : flagsOf(conversation, generated.length);
      for (const [at, { start, end }] of generated.entries())
        if (end > start && isTrained?.[at] !== false) mask.fill(1, place(start), place(end - 1) + 1);
    } else if (trains === 'completion') {
      mask.fill(1, this.#ids(rows.slice(0, conversation.response), tools, true).length);
    }
    return { ids, mask, messages: [] };
  }

  /** MultiTurnSFTDataset: every message alone, without the system prompt that the template may add. */
  #each(rows: readonly ExportRow[]): LoadedTokens {
    const { system, header } = this.ends();
    const loaded: LoadedTokens = { ids: [], mask: [], messages: [] };
    for (const [at, row] of rows.entries()) {
      const all = this.#ids([row], null, false);
      const ids = at > 0 && row.role !== 'system' ? all.slice(system) : all;
      append(loaded, at, ids, row.role === 'assistant' ? header : ids.length);
    }
    const whole = this.#ids(rows, null, false);
    const at = whole.findIndex((id, place) => id !== loaded.ids[place]);
    if (at < 0 && whole.length === loaded.ids.length) return loaded;
    const from = at < 0 ? whole.length : at;
    throw new Error(`the template gives other tokens for the messages one by one than together, from token ${from} on`);
  }

  /** Tools and calls are written by the trainer's own templates. */
  #slots(conversation: ExportConversation): LoadedTokens {
    const { messages, tools } = conversation;
    if ((tools?.length ?? 0) > 0 || messages.some(({ calls }) => calls.length > 0))
      throw new Error('the trainer writes tools and calls by templates of its own');
    const rows = messages.map((message) => ({ role: message.role, content: withThinking(message) }));
    const text = (...of: readonly ExportRow[]): string => this.#render(of, null, false).text;
    const user = { role: 'user', content: '' };
    const [one, opened] = [text(user), this.#render([user], null, true).text];
    const system = 2 * one.length - text(user, user).length;
    const loaded: LoadedTokens = { ids: [], mask: [], messages: [] };
    let between: ExportRow[] = [];
    for (const [at, row] of rows.entries()) {
      if (row.role !== 'assistant') {
        between.push(row);
        continue;
      }
      const joined = this.rule.joinsResults ? withJoinedResults(between) : between;
      const before = this.#render(joined, null, true).text.slice(loaded.ids.length === 0 ? 0 : system);
      append(loaded, at - 1, this.#tokenizer.ids(before), Number.POSITIVE_INFINITY);
      const reply = text(user, row);
      if (!reply.startsWith(opened)) throw new Error('the template opens a reply otherwise than it writes one');
      const isTrained = this.rule.trains !== 'marked' || isTrainedReply(conversation, at);
      const ids = this.#tokenizer.ids(reply.slice(opened.length));
      append(loaded, at, ids, isTrained ? 0 : Number.POSITIVE_INFINITY);
      between = [];
    }
    return loaded;
  }

  /** get_formatted_message_log: a message is the text that it adds, and the ends of the text are completed. */
  #prefixes(rows: readonly ExportRow[], tools: JsonValue[] | null): LoadedTokens {
    const { bos, eos } = this.#template;
    const loaded: LoadedTokens = { ids: [], mask: [], messages: [] };
    let before = '';
    for (const [at, row] of rows.entries()) {
      const { text } = this.#render(rows.slice(0, at + 1), tools, false);
      let shared = 0;
      while (shared < before.length && before[shared] === text[shared]) shared++;
      let piece = text.slice(shared);
      if (at === 0 && !piece.startsWith(bos)) piece = bos + piece;
      if (at === rows.length - 1 && !piece.replace(/\n+$/, '').endsWith(eos)) piece += eos;
      const ids = this.#tokenizer.ids(piece);
      append(loaded, at, ids, row.role === 'assistant' ? 0 : ids.length);
      before = text;
    }
    return loaded;
  }

  #render(rows: readonly ExportRow[], tools: JsonValue[] | null, opensReply: boolean) {
    return this.#template.render({
      messages: rows as JsonObject[],
      ...(tools === null || tools.length === 0 ? {} : { tools }),
      add_generation_prompt: opensReply,
    });
  }

  #ids(rows: readonly ExportRow[], tools: JsonValue[] | null, opensReply: boolean): number[] {
    return this.#tokenizer.ids(this.#render(rows, tools, opensReply).text);
  }

  /** Finds the token of a character; the first one, if the character takes several. @throws if the ids do not spell the text */
  #places(text: string, ids: readonly number[]): (char: number) => number {
    const ends: number[] = [];
    let spelled = '';
    for (const piece of this.#tokenizer.pieces(ids)) {
      spelled += piece;
      ends.push(spelled.length);
    }
    const find = (char: number): number => {
      let [low, high] = [0, ends.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((ends[middle] ?? 0) > char) high = middle;
        else low = middle + 1;
      }
      return low;
    };
    if (spelled === text) return find;
    // Tokenizers that normalise their text.
    if (spelled === text.normalize('NFC')) return (char) => find(text.slice(0, char + 1).normalize('NFC').length - 1);
    return (char) => {
      const before = this.#tokenizer.ids(text.slice(0, char));
      if (before.every((id, at) => id === ids[at])) return before.length;
      throw new Error('a token extends over the border of a turn');
    };
  }
}

/** Which replies are trained; null if the template does not write one block for each. */
function flagsOf(conversation: ExportConversation, blocks: number): boolean[] | null {
  const flags = conversation.messages.flatMap(({ role }, at) =>
    role === 'assistant' ? [isTrainedReply(conversation, at)] : [],
  );
  return flags.length === blocks ? flags : null;
}

/** @throws for arguments that are not JSON, at which such a loader stops */
const withParsedCalls = (message: ExportMessage): ExportMessage => ({
  ...message,
  calls: message.calls.map((call) => ({ ...call, arguments: argumentsText(parseJson(call.arguments)) })),
});

const withJoinedResults = (rows: readonly ExportRow[]): ExportRow[] => {
  const results = rows.filter(({ role }) => role === 'tool');
  if (results.length === 0) return [...rows];
  const content = results.map((row) => `<tool_response>\n${row.content}\n</tool_response>`).join('\n');
  return [...rows.filter(({ role }) => role !== 'tool'), { role: 'user', content }];
};

/** Adds a message's tokens; those from `trainedFrom` on are trained. */
function append(loaded: LoadedTokens, message: number, ids: readonly number[], trainedFrom: number): void {
  for (const [at, id] of ids.entries()) {
    loaded.ids.push(id);
    loaded.mask.push(at >= trainedFrom ? 1 : 0);
    loaded.messages.push(message);
  }
}
