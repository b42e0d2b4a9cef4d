import { loadTokenText } from '../../core/chat/token-text.ts';
import type { RolloutTokens } from '../../core/rollout/rollout.ts';
import type { TokenText } from '../../core/rollout/token-table.ts';
import { reasonOf } from '../../core/text/problems.ts';
import type { ExportConversation } from './conversation.ts';
import type { LoaderRule } from './loader-rule.ts';
import { loadLoaderTemplate } from './loader-template.ts';
import { type LoadedTokens, LoaderTokens } from './loader-tokens.ts';

/** Why a loader would not train on the tokens that were recorded. */
export interface TokenDifference {
  /** tokenizer: the recorded ids are not of this tokenizer. */
  kind: 'tokenizer' | 'ids' | 'mask';
  /** The first token that differs, as a sentence. */
  says: string;
}

/** Compares the tokens that a loader would make with the recorded ones. */
export class TokenCheck {
  readonly #tokenizer: TokenText;
  readonly #loader: LoaderTokens | null;

  private constructor(tokenizer: TokenText, loader: LoaderTokens | null) {
    this.#tokenizer = tokenizer;
    this.#loader = loader;
  }

  /**
   * @param path of tokenizer.json
   * @param rule null: only whether the recorded ids are of this tokenizer
   * @throws if it is not a tokenizer, or no template is beside it
   */
  static async load(path: string, rule: LoaderRule | null): Promise<TokenCheck> {
    const tokenizer = await loadTokenText(path);
    const loader = rule === null ? null : new LoaderTokens(tokenizer, await loadLoaderTemplate(path), rule);
    return new TokenCheck(tokenizer, loader);
  }

  /** How much `difference` compares. */
  get compares(): 'ids and mask' | 'ids' | 'nothing' {
    if (this.#loader === null) return 'nothing';
    return this.#loader.knowsMask ? 'ids and mask' : 'ids';
  }

  /**
   * @param isMaskAccepted the user accepted that masked tokens are trained
   * @returns null if the loader gives the recorded ids and mask, or if none were recorded
   */
  difference(conversation: ExportConversation, isMaskAccepted: boolean): TokenDifference | null {
    const { tokens } = conversation;
    if (tokens === null || tokens.promptIds === null) return null;
    const foreign = this.#foreignId(conversation, tokens);
    if (foreign !== null) return { kind: 'tokenizer', says: foreign };
    if (this.#loader === null) return null;
    try {
      const loaded = this.#loader.load(conversation);
      if (this.#loader.rule.renders === 'prompt')
        return this.#idDifference(tokens.promptIds, loaded.ids, loaded.ids.length);
      const recorded = [...tokens.promptIds, ...tokens.responseIds];
      return (
        this.#idDifference(recorded, loaded.ids, recorded.length) ??
        (this.#loader.knowsMask ? this.#maskDifference(this.#loader, tokens, loaded, isMaskAccepted) : null)
      );
    } catch (error) {
      return { kind: 'ids', says: reasonOf(error) };
    }
  }

  /** Compares all recorded ids, and at least `length` ones. */
  #idDifference(recorded: readonly number[], ids: readonly number[], length: number): TokenDifference | null {
    for (let at = 0; at < Math.max(recorded.length, length); at++) {
      if (recorded[at] === ids[at]) continue;
      const says = `token ${at} was ${this.#shown(recorded[at])}, and the template gives ${this.#shown(ids[at])}`;
      return { kind: 'ids', says };
    }
    return null;
  }

  #maskDifference(
    loader: LoaderTokens,
    { promptIds, responseIds, mask }: RolloutTokens,
    loaded: LoadedTokens,
    isMaskAccepted: boolean,
  ): TokenDifference | null {
    const first = promptIds?.length ?? 0;
    let last = -1;
    for (const [at, id] of loaded.ids.entries()) {
      const was = mask[at - first] === 1;
      const is = loaded.mask[at] === 1;
      if (was) last = at;
      if (was === is) continue;
      const token = `token ${at}, ${this.#shown(id)},`;
      if (was) return { kind: 'mask', says: `${token} was trained, and the loader masks it` };
      if (isMaskAccepted || this.#isOfTemplate(loader, loaded, at, last)) continue;
      const before = at < first + responseIds.length ? 'was masked' : 'was never sampled';
      return { kind: 'mask', says: `${token} ${before}, and the loader trains on it` };
    }
    return null;
  }

  /** The line break behind an end token and the header before a reply: each loader is known to train them or not. */
  #isOfTemplate(loader: LoaderTokens, { ids, messages }: LoadedTokens, at: number, lastTrained: number): boolean {
    const { trains } = loader.rule;
    if (trains === 'generation' || trains === 'flagged') return false;
    const isBlank =
      this.#tokenizer
        .pieces(ids.slice(at, at + 1))
        .join('')
        .trim() === '';
    if (lastTrained >= 0 && messages[lastTrained] === messages[at]) return isBlank;
    return trains === 'headers' && at < messages.indexOf(messages[at] ?? 0) + loader.ends().header;
  }

  /** The first id of the response that spells other text than the record. */
  #foreignId({ messages, response }: ExportConversation, { promptIds, responseIds }: RolloutTokens): string | null {
    const first = messages[response];
    // The text of parts that are recorded apart is joined by the reader.
    const text = (first?.isApart ? first.content : (first?.text ?? '')).trim();
    const pieces = this.#tokenizer.pieces(responseIds);
    const decoded = pieces.join('');
    if (decoded.includes(text) || text.includes(decoded.trim())) return null;
    let at = 0;
    for (const [place, piece] of pieces.entries()) {
      const words = piece.trim();
      if (at >= text.length) return null;
      if (words === '' || SPECIAL.test(words)) continue;
      const found = text.indexOf(words, at);
      // A turn may begin in the prompt; later on only white space and special tokens are missing between two tokens.
      if (
        found < 0 ||
        (at > 0 &&
          text
            .slice(at, found)
            .replace(/<[^<>\s]+>/g, '')
            .trim() !== '')
      ) {
        const there = JSON.stringify(text.slice(at, at + 20));
        const token = `token ${(promptIds?.length ?? 0) + place} is ${this.#shown(responseIds[place])}`;
        return `${token} for this tokenizer, and the text says ${there}: the ids come from another one`;
      }
      at = found + words.length;
    }
    return null;
  }

  #shown(id: number | undefined): string {
    return id === undefined ? 'the end' : `${id} ${JSON.stringify(this.#tokenizer.pieces([id]).join(''))}`;
  }
}

const SPECIAL = /^<[^<>\s]+>$/;
