// A language model of a few kilobytes in llama.cpp's file format (GGUF 3): the layers of Llama with random weights, over the vocabulary of a tokenizer.json.
// Its text means nothing; everything else about it is real: a tokenizer, logits, sampling, a grammar that forces a text.

const EMBEDDING = 64;
const HEADS = 4;
const FEED_FORWARD = 128;
const BLOCKS = 2;
const CONTEXT = 4096;
const ALIGNMENT = 32;

/** The words of the format for the types of a value. */
const UINT32 = 4;
const INT32 = 5;
const FLOAT32 = 6;
const STRING = 8;
const ARRAY = 9;
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;

/** @param tokenizer the content of tokenizer.json, byte-level BPE @param end the token that ends a turn */
export function tinyGguf(tokenizer, end, seed = 1) {
  const { vocab, merges } = tokenizer.model;
  const added = new Map(tokenizer.added_tokens.map(({ id, content }) => [id, content]));
  const byId = new Map(Object.entries(vocab).map(([token, id]) => [id, token]));
  const tokens = Array.from({ length: byId.size + added.size }, (_, id) => added.get(id) ?? byId.get(id));
  const endId = tokens.indexOf(end);
  const keys = [
    ['general.architecture', string('llama')],
    ['general.name', string('random weights')],
    ['llama.context_length', number(UINT32, CONTEXT)],
    ['llama.embedding_length', number(UINT32, EMBEDDING)],
    ['llama.block_count', number(UINT32, BLOCKS)],
    ['llama.feed_forward_length', number(UINT32, FEED_FORWARD)],
    ['llama.attention.head_count', number(UINT32, HEADS)],
    ['llama.attention.head_count_kv', number(UINT32, HEADS)],
    ['llama.attention.layer_norm_rms_epsilon', number(FLOAT32, 1e-5)],
    ['llama.rope.dimension_count', number(UINT32, EMBEDDING / HEADS)],
    ['llama.vocab_size', number(UINT32, tokens.length)],
    ['tokenizer.ggml.model', string('gpt2')],
    ['tokenizer.ggml.pre', string('gpt-2')],
    ['tokenizer.ggml.tokens', array(STRING, tokens.map(text))],
    [
      'tokenizer.ggml.token_type',
      array(
        INT32,
        tokens.map((_, id) => word(INT32, added.has(id) ? CONTROL_TOKEN : NORMAL_TOKEN)),
      ),
    ],
    ['tokenizer.ggml.merges', array(STRING, merges.map(text))],
    ['tokenizer.ggml.bos_token_id', number(UINT32, endId)],
    ['tokenizer.ggml.eos_token_id', number(UINT32, endId)],
  ];
  const random = normal(seed);
  const weights = (...shape) => ({ shape, value: () => random() * 0.3 });
  const ones = { shape: [EMBEDDING], value: () => 1 };
  const tensors = [
    ['token_embd.weight', weights(EMBEDDING, tokens.length)],
    ...Array.from({ length: BLOCKS }).flatMap((_, block) => [
      [`blk.${block}.attn_norm.weight`, ones],
      [`blk.${block}.attn_q.weight`, weights(EMBEDDING, EMBEDDING)],
      [`blk.${block}.attn_k.weight`, weights(EMBEDDING, EMBEDDING)],
      [`blk.${block}.attn_v.weight`, weights(EMBEDDING, EMBEDDING)],
      [`blk.${block}.attn_output.weight`, weights(EMBEDDING, EMBEDDING)],
      [`blk.${block}.ffn_norm.weight`, ones],
      [`blk.${block}.ffn_gate.weight`, weights(EMBEDDING, FEED_FORWARD)],
      [`blk.${block}.ffn_up.weight`, weights(EMBEDDING, FEED_FORWARD)],
      [`blk.${block}.ffn_down.weight`, weights(FEED_FORWARD, EMBEDDING)],
    ]),
    ['output_norm.weight', ones],
    ['output.weight', weights(EMBEDDING, tokens.length)],
  ];
  const infos = [];
  const data = [];
  let offset = 0;
  for (const [name, { shape, value }] of tensors) {
    infos.push(text(name), word(UINT32, shape.length), ...shape.map(long), word(UINT32, 0), long(offset));
    const floats = new Float32Array(shape.reduce((a, b) => a * b)).map(value);
    data.push(padded(Buffer.from(floats.buffer)));
    offset += data.at(-1).length;
  }
  const head = [Buffer.from('GGUF'), word(UINT32, 3), long(tensors.length), long(keys.length)];
  const all = [...head, ...keys.flatMap(([key, value]) => [text(key), value]), ...infos];
  return Buffer.concat([padded(Buffer.concat(all)), ...data]);
}

function word(type, value) {
  const bytes = Buffer.alloc(4);
  if (type === FLOAT32) bytes.writeFloatLE(value);
  else bytes.writeInt32LE(value);
  return bytes;
}

function long(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([long(bytes.length), bytes]);
}

const string = (value) => Buffer.concat([word(UINT32, STRING), text(value)]);
const number = (type, value) => Buffer.concat([word(UINT32, type), word(type, value)]);
const array = (type, values) =>
  Buffer.concat([word(UINT32, ARRAY), word(UINT32, type), long(values.length), ...values]);

const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);

/** Normally distributed, the same for the same seed. */
function normal(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}
