import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { itemAt } from '../lists/at.ts';
import type { TokenText } from '../rollout/token-table.ts';

/** The most bytes of a character; each may be a token. */
const MAX_PARTS = 4;

/** @throws if the file is not a tokenizer.json, with the reason */
export async function loadTokenText(path: string): Promise<TokenText> {
  const tokenizer = new Tokenizer(
    await jsonFile(path),
    await jsonFile(join(dirname(path), 'tokenizer_config.json')).catch(() => ({})),
  );
  const known = new Map<number, string>();
  const decode = (ids: readonly number[]): string =>
    tokenizer.decode([...ids], { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  const one = (id: number): string => {
    let text = known.get(id);
    if (text === undefined) {
      try {
        text = decode([id]);
      } catch {
        text = '\ufffd';
      }
      known.set(id, text);
    }
    return text;
  };
  return {
    ids: (text) => (text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids),
    pieces: (ids) => {
      const pieces = ids.map(one);
      for (let at = 0; at < ids.length; at++) {
        if (!itemAt(pieces, at).includes('\ufffd')) continue;
        // A character split over several tokens is attributed to the first.
        for (let parts = 2; parts <= MAX_PARTS && at + parts <= ids.length; parts++) {
          const whole = decode(ids.slice(at, at + parts));
          if (whole.includes('\ufffd')) continue;
          pieces.splice(at, parts, whole, ...Array.from({ length: parts - 1 }, () => ''));
          at += parts - 1;
          break;
        }
      }
      return pieces;
    },
  };
}

async function jsonFile(path: string): Promise<object> {
  return JSON.parse(await readFile(path, 'utf8')) as object;
}
