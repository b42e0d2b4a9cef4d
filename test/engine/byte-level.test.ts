// Text and ids of byte-level tokenizers, against the library that reads any tokenizer.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/value.ts';
import { ByteLevel } from '../../src/engine/model/byte-level.ts';
import { TOKENIZER_JSON } from './byte-tokenizer.ts';
import { tokenizerFile } from './verl-truth.ts';

const SPECIAL = [
  '<|im_start|>',
  '<|im_end|>',
  '<|endoftext|>',
  '<tool_call>',
  '<|im_',
  'ab',
  '  \n',
  'é',
  'e\u0301',
  ' the',
  "'ll",
  ' it',
  's ',
];
const said = fc
  .array(fc.oneof(fc.constantFrom(...SPECIAL), fc.string({ unit: 'binary', maxLength: 12 })), { maxLength: 12 })
  .map((parts) => parts.join(''));

function both(tokenizer: object, config: JsonObject) {
  const own = ByteLevel.of(tokenizer as JsonObject, config)!;
  const library = new Tokenizer(tokenizer, config);
  const whole = (text: string) => library.encode(text, { add_special_tokens: false }).ids;
  const letters = (id: number) => library.id_to_token(id);
  return { own, library, whole, letters };
}

const families = ['qwen2.5', 'qwen3', 'llama3_1'].flatMap((family) => {
  const file = tokenizerFile(family);
  if (file === null) return [];
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  return [{ family, tokenizer: read(file), config: read(join(dirname(file), 'tokenizer_config.json')) }];
});

describe.each([{ family: 'bytes', tokenizer: TOKENIZER_JSON as object, config: {} as JsonObject }, ...families])(
  'a byte-level tokenizer ($family)',
  ({ tokenizer, config }) => {
    const { own, library, whole, letters } = both(tokenizer, config);
    const options = (skip: boolean) => ({ skip_special_tokens: skip, clean_up_tokenization_spaces: false });

    it('encodes as the library does, also what it has met before', () => {
      fc.assert(
        fc.property(said, (text) => {
          expect(own.encode(text, whole)).toEqual(whole(text));
        }),
        { numRuns: 300 },
      );
    });

    it('decodes as the library does, special tokens kept or left out, letters cut in their middle too', () => {
      const size = Object.keys((tokenizer as { model: { vocab: object } }).model.vocab).length;
      const ids = fc.oneof(said.map(whole), fc.array(fc.nat(size - 1), { maxLength: 30 }));
      fc.assert(
        fc.property(ids, fc.boolean(), (some, skip) => {
          const known = some.filter((id) => letters(id) !== undefined);
          if (known.length === 0) return;
          expect(own.decode(known, skip, letters)).toBe(library.decode(known, options(skip)));
        }),
        { numRuns: 300 },
      );
    });

    it('takes special tokens out of a text as decoding would, or does not do it', () => {
      fc.assert(
        fc.property(said, (text) => {
          const strip = own.stripper(text);
          const ids = whole(text);
          if (strip !== null && ids.length > 0) expect(strip(text)).toBe(library.decode(ids, options(true)));
        }),
        { numRuns: 300 },
      );
    });
  },
);

it.each([
  ['a space in front', { pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true } }],
  ['another normalizer', { normalizer: { type: 'Lowercase' } }],
  ['a metaspace', { pre_tokenizer: { type: 'Metaspace' } }],
  ['tokens that take the space beside them', { added_tokens: [{ id: 1, content: '<s>', lstrip: true }] }],
])('is not known of a tokenizer with %s', (_, more) => {
  expect(ByteLevel.of({ ...TOKENIZER_JSON, ...more } as unknown as JsonObject, {})).toBeNull();
});
