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

/** The hashes of all runs of 13 words; a shorter text is one run. */
function grams(text: string): Set<number> {
  const all = copyWords(text);
  const found = new Set<number>();
  if (all.length === 0) return found;
  for (let at = 0; at === 0 || at + GRAM <= all.length; at++) found.add(gramHash(all.slice(at, at + GRAM).join(' ')));
  return found;
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

/** Texts of an evaluation; finds which of them occur in a conversation. */
export class Contamination {
  readonly #prompts = new Set<string>();
  readonly #grams = new Set<number>();

  /** @param text a question, a prompt or an answer of the evaluation */
  add(text: string): void {
    const all = copyWords(text);
    if (all.length === 0) return;
    this.#prompts.add(all.join(' '));
    if (all.length >= GRAM) for (const gram of grams(text)) this.#grams.add(gram);
  }

  /** `prompt`: the same question; `passage`: 13 words in a row; null: neither. */
  of(conversation: ExportConversation): 'prompt' | 'passage' | null {
    const asked = copyPrompt(conversation);
    if (this.#prompts.has(copyWords(asked).join(' '))) return 'prompt';
    for (const gram of grams(`${asked}\n${responseText(conversation)}`)) if (this.#grams.has(gram)) return 'passage';
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
    const sample = [...grams(text)].sort((a, b) => a - b).slice(0, SAMPLE);
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
