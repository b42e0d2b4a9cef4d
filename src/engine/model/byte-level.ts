import { SplitPreTokenizer } from '@huggingface/tokenizers';
import { isJsonObject, type JsonObject, type JsonValue, stringIn } from '../../core/json/value.ts';
import { RecentTexts } from './recent-texts.ts';

/** Characters of text whose ids are cached: system prompts, headers and results recur constantly. */
const KEPT = 4_000_000;

interface AddedToken {
  id: number;
  content: string;
  /** Left out of displayed text. */
  special: boolean;
}

/**
 * Guaranteed properties of a byte-level tokenizer. Text between two special tokens is encoded independently, and decoding restores the text:
 * ids can be cached per text, special tokens removed from a text without its ids, and ids decoded byte by byte.
 */
export class ByteLevel {
  readonly #idOf: ReadonlyMap<string, number>;
  readonly #added: ReadonlyMap<number, AddedToken>;
  readonly #border: RegExp;
  readonly #special: RegExp;
  readonly #isNormalized: boolean;
  /** Splits a text into words that are encoded independently; null if that is not proven for this tokenizer. */
  readonly #word: RegExp | null;
  /** Words, and the ids of each: most words of a new text are known. */
  readonly #words = new Map<string, readonly number[]>();
  /** The bytes of each token seen. */
  readonly #bytes = new Map<number, Uint8Array>();
  readonly #known = new RecentTexts<readonly number[]>(KEPT);

  private constructor(
    added: readonly AddedToken[],
    { isNormalized, word }: { isNormalized: boolean; word: RegExp | null },
  ) {
    this.#added = new Map(added.map((token) => [token.id, token]));
    this.#idOf = new Map(added.map(({ content, id }) => [content, id]));
    this.#border = anyOf([...this.#idOf.keys()]);
    this.#special = anyOf(added.flatMap(({ content, special }) => (special ? [content] : [])));
    this.#isNormalized = isNormalized;
    this.#word = word;
  }

  /** @returns null if a text and its ids may differ, or if a boundary changes its neighbours */
  static of(tokenizer: JsonObject, config: JsonObject): ByteLevel | null {
    const added = (Array.isArray(tokenizer.added_tokens) ? tokenizer.added_tokens : []).filter(isJsonObject);
    const isPlain = added.every(
      ({ content, id, lstrip, rstrip, normalized }) =>
        typeof content === 'string' && content !== '' && typeof id === 'number' && !lstrip && !rstrip && !normalized,
    );
    const { normalizer, pre_tokenizer: splitter, decoder, model } = tokenizer;
    const isNormalized = isJsonObject(normalizer) && normalizer.type === 'NFC';
    const isLossless =
      (normalizer === null || normalizer === undefined || isNormalized) &&
      isByteLevel(splitter) &&
      isJsonObject(decoder) &&
      decoder.type === 'ByteLevel' &&
      isJsonObject(model) &&
      model.type === 'BPE' &&
      !model.end_of_word_suffix;
    const more = Array.isArray(config.additional_special_tokens) ? config.additional_special_tokens : [];
    const isOwnWay = config.remove_space === true || config.do_lowercase_and_remove_accent === true;
    if (!isPlain || !isLossless || isOwnWay || more.some((one) => !added.some(({ content }) => content === one)))
      return null;
    const tokens = added.map(({ id, content, special }) => ({
      id: id as number,
      content: stringIn(content),
      special: special === true || more.includes(stringIn(content)),
    }));
    return new ByteLevel(tokens, { isNormalized, word: splitPattern(splitter) });
  }

  encode(text: string, encode: (piece: string) => readonly number[]): number[] {
    const ids: number[] = [];
    let at = 0;
    for (const { 0: token, index } of text.matchAll(this.#border)) {
      if (index > at) this.#add(text.slice(at, index), ids, encode);
      const id = this.#idOf.get(token);
      if (id !== undefined) ids.push(id);
      at = index + token.length;
    }
    if (at < text.length) this.#add(text.slice(at), ids, encode);
    return ids;
  }

  #add(piece: string, ids: number[], encode: (piece: string) => readonly number[]): void {
    let own = this.#known.get(piece);
    if (own === undefined) {
      own = this.#word !== null && this.#isNormal(piece) ? this.#encodeWords(piece, this.#word, encode) : encode(piece);
      this.#known.set(piece, own, own.length);
    }
    for (const id of own) ids.push(id);
  }

  #encodeWords(piece: string, word: RegExp, encode: (piece: string) => readonly number[]): number[] {
    if (this.#words.size > MOST_WORDS) this.#words.clear();
    const ids: number[] = [];
    for (const text of piece.match(word) ?? []) {
      let own = this.#words.get(text);
      if (own === undefined) {
        own = encode(text);
        if (text.length <= LONGEST_WORD) this.#words.set(text, own);
      }
      for (const id of own) ids.push(id);
    }
    return ids;
  }

  /** Latin-1 is normal in any combination. */
  #isNormal(text: string): boolean {
    return !this.#isNormalized || !BEYOND_LATIN.test(text) || text.normalize('NFC') === text;
  }

  /** @param tokenOf the token of an id, in the letters that represent bytes, if any */
  decode(ids: readonly number[], skipsSpecial: boolean, tokenOf: (id: number) => string | undefined): string {
    let text = '';
    let bytes: Uint8Array[] = [];
    const flush = () => {
      if (bytes.length > 0) text += Buffer.concat(bytes).toString('utf8');
      bytes = [];
    };
    for (const id of ids) {
      const added = this.#added.get(id);
      if (added === undefined) bytes.push(this.#bytesOf(id, tokenOf));
      else if (!added.special || !skipsSpecial) {
        flush();
        text += added.content;
      }
    }
    flush();
    return text;
  }

  #bytesOf(id: number, tokenOf: (id: number) => string | undefined): Uint8Array {
    let bytes = this.#bytes.get(id);
    if (bytes === undefined) {
      bytes = Uint8Array.from(tokenOf(id) ?? '', (letter) => BYTE_OF.get(letter) ?? 0);
      this.#bytes.set(id, bytes);
    }
    return bytes;
  }

  /** Removes the special tokens, as decoding without their ids would; null if the ids decode to a different text. */
  stripper(text: string): ((piece: string) => string) | null {
    const isSame = !LONE_SURROGATE.test(text) && this.#isNormal(text);
    return isSame ? (piece) => piece.replace(this.#special, '') : null;
  }
}

/** GPT-2's letters for the 256 bytes: printable ones represent themselves. */
const BYTE_OF = new Map<string, number>();
for (let byte = 0, next = 256; byte < 256; byte++) {
  const isPrinted = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  BYTE_OF.set(String.fromCharCode(isPrinted ? byte : next++), byte);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

const MOST_WORDS = 100_000;
const LONGEST_WORD = 32;
const BEYOND_LATIN = /[^\0-\u00ff]/;

/**
 * The patterns that Qwen and Llama 3 use to split a text into words. Every character is part of a word, and each word stays one word when
 * split alone: alternatives that failed before it fail again, since only the last but one looks beyond its end, and there
 * the last one takes the same. For any other pattern this would first have to be proven.
 */
const WORD_PATTERNS = ['\\p{N}', '\\p{N}{1,3}'].map(
  (digits) =>
    `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
);

function splitPattern(splitter: JsonValue | undefined): RegExp | null {
  const steps = isJsonObject(splitter) && Array.isArray(splitter.pretokenizers) ? splitter.pretokenizers : [];
  const [first, second] = steps;
  if (steps.length !== 2 || !isJsonObject(first) || !isJsonObject(second) || second.use_regex !== false) return null;
  const { pattern } = first;
  const regex = WORD_PATTERNS.find((known) => isJsonObject(pattern) && pattern.Regex === known);
  if (regex === undefined) return null;
  return new SplitPreTokenizer({ type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false })
    .pattern;
}

/** Matches one of the texts, longest first; nothing without texts. */
function anyOf(texts: readonly string[]): RegExp {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|') || '(?!)', 'gu');
}

/** The last step writes bytes, and no step prepends a space. */
function isByteLevel(splitter: JsonValue | undefined): boolean {
  if (!isJsonObject(splitter)) return false;
  const steps = splitter.type === 'Sequence' ? splitter.pretokenizers : [splitter];
  if (!Array.isArray(steps) || !steps.every(isJsonObject)) return false;
  return (
    steps.at(-1)?.type === 'ByteLevel' &&
    steps.every(({ type, add_prefix_space, behavior }) =>
      type === 'ByteLevel' ? add_prefix_space !== true : type === 'Split' && behavior === 'Isolated',
    )
  );
}
