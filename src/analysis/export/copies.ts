import { hashOf } from '../../core/json/fingerprint.ts';
import type { ExportConversation } from './conversation.ts';

/** Consecutive words that count as the same passage. */
const GRAM = 13;
/** Two responses are near copies if they share this part of their passages. */
const NEAR = 0.8;
/** Passages compared for near copies. Each response has a fixed sample: those with the smallest hashes. */
const SAMPLE = 64;

const copyWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** 32-bit FNV-1a, run twice with different seeds: 52 bits as one number. */
function gramHash(text: string): number {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b);
  }
  return (a >>> 0) * 0x10_0000 + ((b >>> 0) & 0xf_ffff);
}

const runHash = (words: readonly string[], at: number, length: number): number =>
  gramHash(words.slice(at, at + length).join(' '));

/** The hashes of all runs of so many words; a shorter text is one run. */
function* runsOf(words: readonly string[], length: number): Generator<number> {
  for (let at = 0; words.length > 0 && (at === 0 || at + length <= words.length); at++)
    yield runHash(words, at, length);
}

const copyPrompt = ({ messages, response }: ExportConversation): string =>
  messages
    .slice(0, response)
    .filter(({ role }) => role === 'user')
    .map(({ text }) => text)
    .join('\n');

const responseText = ({ messages, response }: ExportConversation): string =>
  messages
    .slice(response)
    .map(({ text }) => text)
    .join('\n');

/** Words in a row that are looked at for instructions. */
const FORM = 5;
/** Words in a row in this many entries of an evaluation and more, and in this share of them, are instructions and say nothing about any. */
const INSTRUCTION = { entries: 3, share: 0.1 };
/** Words of a passage that must be its own. */
const OWN = 10;

/** Texts of an evaluation; finds which of them occur in a conversation. */
export class Contamination {
  readonly #prompts = new Set<string>();
  readonly #grams = new Set<number>();
  /** The number of entries with the same few words in a row. */
  readonly #forms = new Map<number, number>();
  #entries = 0;

  /** @param texts an entry of the evaluation: its question, its prompt, its answer */
  add(...texts: readonly string[]): void {
    const forms = new Set<number>();
    for (const text of texts) {
      const all = copyWords(text);
      if (all.length === 0) continue;
      this.#prompts.add(all.join(' '));
      if (all.length < GRAM) continue;
      for (const gram of runsOf(all, GRAM)) this.#grams.add(gram);
      for (const form of runsOf(all, FORM)) forms.add(form);
    }
    this.#entries++;
    for (const form of forms) this.#forms.set(form, (this.#forms.get(form) ?? 0) + 1);
  }

  /** Its entries have no words. */
  get isEmpty(): boolean {
    return this.#prompts.size === 0;
  }

  /** Whether a run of words that the evaluation has is more than its instruction. */
  #isOwn(words: readonly string[], at: number): boolean {
    const least = Math.max(INSTRUCTION.entries, this.#entries * INSTRUCTION.share);
    const isForm = new Set<number>();
    for (let from = Math.max(0, at - FORM + 1); from < at + GRAM && from + FORM <= words.length; from++) {
      if ((this.#forms.get(runHash(words, from, FORM)) ?? 0) < least) continue;
      for (let word = Math.max(at, from); word < Math.min(at + GRAM, from + FORM); word++) isForm.add(word);
    }
    return GRAM - isForm.size >= OWN;
  }

  /** `prompt`: the same question; `passage`: 13 words in a row; null: neither. */
  of(conversation: ExportConversation): 'prompt' | 'passage' | null {
    const asked = copyPrompt(conversation);
    if (this.#prompts.has(copyWords(asked).join(' '))) return 'prompt';
    const words = copyWords(`${asked}\n${responseText(conversation)}`);
    for (let at = 0; at + GRAM <= words.length; at++)
      if (this.#grams.has(runHash(words, at, GRAM)) && this.#isOwn(words, at)) return 'passage';
    return null;
  }
}

/** Finds conversations of one prompt whose responses are equal, or nearly so. */
export class Copies {
  readonly #exact = new Set<string>();
  readonly #samples = new Map<string, number[][]>();

  /** @returns how it repeats an earlier one of its prompt; null if it does not, in which case it is remembered */
  seen(conversation: ExportConversation): 'exact' | 'near' | null {
    const text = responseText(conversation);
    const key = hashOf(`${conversation.prompt}\n${text}`);
    if (this.#exact.has(key)) return 'exact';
    const sample = [...new Set(runsOf(copyWords(text), GRAM))].sort((a, b) => a - b).slice(0, SAMPLE);
    const others = this.#samples.get(conversation.prompt) ?? [];
    if (others.some((other) => similarity(sample, other) >= NEAR)) return 'near';
    this.#exact.add(key);
    this.#samples.set(conversation.prompt, [...others, sample]);
    return null;
  }
}

/** Jaccard's index, estimated on the smallest hashes of both (Broder 1997). */
function similarity(a: readonly number[], b: readonly number[]): number {
  const union = [...new Set([...a, ...b])].sort((x, y) => x - y).slice(0, SAMPLE);
  const [inA, inB] = [new Set(a), new Set(b)];
  if (union.length === 0) return 0;
  return union.filter((hash) => inA.has(hash) && inB.has(hash)).length / union.length;
}
