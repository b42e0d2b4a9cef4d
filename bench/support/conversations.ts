import { existsSync, readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import fc from 'fast-check';
import type { ReadingClass } from '../../src/core/rollout/rollout.ts';

/** A message as a chat template takes it. */
export interface Message {
  role: string;
  content: string;
  name?: string;
  tool_call_id?: string;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: unknown } }[];
}

/** A published template, and what of its text is special: `skip_special_tokens` takes it away. */
export interface Family {
  name: string;
  file: string;
  class: ReadingClass;
  special: readonly string[];
  /** It renders calls and results; else a conversation holds none. */
  tools: boolean;
  /** A system's text has no separate turn. */
  noSystem?: true;
  /** Arguments are JSON text, since this Jinja does not print an object where Python's does. */
  textArguments?: true;
}

const CHATML = ['<|im_start|>', '<|im_end|>'];
const DEEPSEEK = ['<｜end▁of▁sentence｜>'];
const KIMI = ['<|im_system|>', '<|im_middle|>', '<|im_end|>', '<|im_user|>', '<|im_assistant|>'];
const LLAMA = ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'];
const MISTRAL =
  '[SYSTEM_PROMPT] [/SYSTEM_PROMPT] [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [CALL_ID] [ARGS] [TOOL_RESULTS] [TOOL_CONTENT] [/TOOL_RESULTS] [THINK] [/THINK]'.split(
    ' ',
  );
const exact = (name: string, file: string, special: readonly string[], tools = true): Family => ({
  name,
  file,
  class: 'exact',
  special,
  tools,
});
const of = (shape: ReadingClass, family: Family): Family => ({ ...family, class: shape });

export const FAMILIES: readonly Family[] = [
  exact('Qwen2.5', 'trl-qwen2_5', CHATML),
  exact('Qwen2.5-VL', 'trl-qwen2_5_vl', CHATML, false),
  exact('Qwen3', 'trl-qwen3', CHATML),
  exact('Qwen3-Instruct-2507', 'trl-qwen3_instruct_2507', CHATML),
  exact('Qwen3-VL', 'trl-qwen3_vl', CHATML),
  exact('QwQ-32B', 'ik-Qwen-QwQ-32B', CHATML),
  exact('Qwen3-Coder', 'ik-Qwen3-Coder', CHATML),
  exact('Qwen3.5', 'trl-qwen3_5_think', CHATML),
  exact('Hermes-3', 'ik-NousResearch-Hermes-3-Llama-3.1-8B-tool_use', CHATML),
  of('inferred', exact('Llama-3.1', 'trl-llama3_1', LLAMA)),
  of('inferred', exact('Llama-3.2', 'trl-llama3_2', LLAMA)),
  { ...exact('DeepSeek-V3', 'trl-deepseekv3', DEEPSEEK), textArguments: true },
  exact('DeepSeek-R1', 'ik-llama-cpp-deepseek-r1', DEEPSEEK),
  exact('DeepSeek-V3.1', 'ik-deepseek-ai-DeepSeek-V3.1', DEEPSEEK),
  of('inferred', exact('Kimi-K2', 'ik-Kimi-K2-Instruct', KIMI)),
  of('inferred', exact('Kimi-K2-Thinking', 'ik-Kimi-K2-Thinking', KIMI)),
  of(
    'lost',
    exact('GLM-4.5', 'trl-glm4moe', ['[gMASK]', '<sop>', '<|system|>', '<|user|>', '<|assistant|>', '<|observation|>']),
  ),
  of(
    'inferred',
    exact('gpt-oss', 'trl-gptoss', ['<|start|>', '<|message|>', '<|end|>', '<|channel|>', '<|return|>', '<|call|>']),
  ),
  { ...of('lost', exact('Mistral-Nemo', 'ik-mistralai-Mistral-Nemo-Instruct-2407', MISTRAL)), noSystem: true },
  of('lost', exact('Mistral-Small-3.2', 'ik-Mistral-Small-3.2-24B-Instruct-2506', MISTRAL)),
  of('lost', exact('Ministral-3', 'ik-mistralai-Ministral-3-14B-Reasoning-2512', MISTRAL)),
  { ...exact('Gemma 2', 'ik-google-gemma-2-2b-it', ['<start_of_turn>', '<end_of_turn>'], false), noSystem: true },
  { ...exact('Gemma 3', 'trl-gemma3', ['<start_of_turn>', '<end_of_turn>'], false), noSystem: true },
  of('inferred', exact('Phi-4', 'unsloth-phi4', ['<|im_start|>', '<|im_sep|>', '<|im_end|>'], false)),
  of('lost', exact('Phi-4-mini', 'llamacpp-phi4-mini', ['<|system|>', '<|end|>', '<|user|>', '<|assistant|>'])),
  exact('OLMo 2', 'oi-tulu', [], false),
  exact('OLMo 3', 'vllm-olmo3', CHATML),
  exact('SmolLM3', 'ik-HuggingFaceTB-SmolLM3-3B', CHATML, false),
  exact('InternLM2.5', 'vllm-internlm2', [...CHATML, '<|plugin|>', '<|action_start|>', '<|action_end|>']),
  of(
    'inferred',
    exact('Granite 3.3', 'ik-ibm-granite-granite-3.3-2B-Instruct', [
      '<|start_of_role|>',
      '<|end_of_role|>',
      '<|end_of_text|>',
    ]),
  ),
  exact('Command-R7B', 'ik-CohereForAI-c4ai-command-r7b-12-2024-tool_use', ['<|END_OF_TURN_TOKEN|>']),
  exact('MiniMax-M1', 'vllm-minimax-m1', ['<begin_of_document>', '<beginning_of_sentence>', '<end_of_sentence>']),
  exact('MiniMax-M2', 'llamacpp-minimax-m2', [']~!b[', ']~b]', '[e~[']),
  exact('Seed-OSS', 'ik-ByteDance-Seed-OSS', ['<seed:bos>', '<seed:eos>']),
  exact('Nemotron-3-Nano', 'trl-nemotron_3_nano', CHATML),
  exact('Gemma 4', 'ik-google-gemma-4-31B-it', ['<|turn>', '<turn|>']),
];

const TOOLS = [
  tool('get_weather', 'Weather of a city.', { city: 'string', days: 'integer' }),
  tool('calc', 'Evaluate.', { expr: 'string' }),
];

function tool(name: string, description: string, types: Record<string, string>) {
  const properties = Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type, description: key }]));
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: { type: 'object', properties, required: Object.keys(types).slice(0, 1) },
    },
  };
}

/** Constructs that this Jinja cannot run unchanged: Python's list.pop, objects with numbers for keys, `for` over nothing, blocks of a trainer. */
function patched(source: string): string {
  return source
    .replaceAll(/\{%-?\s*(?:end)?generation\s*-?%\}/g, '')
    .replaceAll(/\{%-?\s*set _ = [\w.]+\.append\([^)]*\)\s*-?%\}/g, '')
    .replaceAll('{%- if tool_response_queue.ids -%}', '{%- if true -%}')
    .replaceAll('tool_response_queue.ids.pop(0)', 'message.tool_call_id')
    .replaceAll(/for (tool|tool_call) in ([\w.]+)(?=\s*-?%\})/g, 'for $1 in ($2 or [])')
    .replaceAll(/^(\s*)(\d+):/gm, '$1"$2":')
    .replaceAll('thinking_budget <= k', 'thinking_budget <= (k | int)');
}

const compiled = new Map<string, Template>();

export const templatesAt = (folder: string): boolean => existsSync(folder);

/** Prompt and response with their special tokens; null where the template refuses the conversation. */
export function renderFamily(
  family: Family,
  folder: string,
  messages: readonly Message[],
): { prompt: string; response: string } | null {
  const before = messages[messages.findIndex(({ role }) => role === 'assistant') - 1]!;
  return renderBehind(family, folder, messages, /M\d+a/.exec(before.content)![0]);
}

/** @param said words of the last message before the first reply, which occur nowhere else */
export function renderBehind(
  family: Family,
  folder: string,
  messages: readonly Message[],
  said: string,
  tools: readonly unknown[] = TOOLS,
): { prompt: string; response: string } | null {
  let template = compiled.get(family.file);
  if (template === undefined) {
    template = new Template(patched(readFileSync(`${folder}/${family.file}.jinja`, 'utf8')));
    compiled.set(family.file, template);
  }
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const render = (some: readonly Message[], generation: boolean): string =>
    template.render({
      messages: some.map((message) => ({ ...message })),
      ...(messages.some(({ tool_calls }) => tool_calls !== undefined) ? { tools } : {}),
      add_generation_prompt: generation,
      bos_token: '',
      eos_token: family.special.at(-1)?.includes('end▁of') ? '<｜end▁of▁sentence｜>' : '',
    });
  try {
    const whole = render(messages, false);
    const asked = render(messages.slice(0, first), true);
    // The prompt is the model's input; the template may write it differently in a longer conversation, so the response is found by its words.
    const behind = (text: string): number => text.lastIndexOf(said);
    let [at, from] = [behind(asked), behind(whole)];
    while (at < asked.length && asked[at] === whole[from]) {
      at++;
      from++;
    }
    // A generation prompt that the whole conversation does not have: the header ends with its line, or its token.
    if (at < asked.length) {
      const cut = Math.max(asked.lastIndexOf('\n', at - 1), asked.lastIndexOf('>', at - 1)) + 1;
      from -= at - cut;
      at = cut;
    }
    return { prompt: asked.slice(0, at), response: whole.slice(from) };
  } catch (error) {
    if (process.env.RV_WHY) console.log(`${family.name}: ${(error as Error).message}`);
    return null;
  }
}

export function stripped({ special }: Family, text: string): string {
  return special.reduce((rest, token) => rest.replaceAll(token, ''), text);
}

/** Words that identify the message of a text: `m3w2`, and in between common ones. */
const COMMON = ['so', 'the', 'answer', 'is', '42', 'we', 'add', 'Paris', 'warm', 'not', '让我们', '🙂'];

/** Role words and tags that are no header. */
const HOSTILE_WORDS = [
  'user',
  'assistant',
  'tool',
  'system',
  'model',
  'ai',
  'the user',
  'an assistant',
  '```\ncode\n```',
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
  '<|im_end|>',
];

/** Texts that read like a header, or an end, in some template: role words alone on a line, markers. */
const HOSTILE = [
  '\nuser\n',
  '\nassistant\n',
  '\ntool\n',
  '\nmodel\n',
  '\nsystem\n',
  '\nai\n',
  '.user',
  '.assistant',
  '1. user\n2. assistant',
  '</tool_response>',
  '</tool_response>\nassistant\n',
  '<tool_response>',
  '\n<tool_response>\n',
  '<|im_start|>',
  '<|im_end|>\n<|im_start|>assistant\n',
  '<|im_end|>\n<|im_start|>user\n',
  '<｜Assistant｜>',
  '<｜tool▁output▁end｜>',
  '[INST]',
  '[/TOOL_RESULTS]',
  '</response>',
  '<|user|>\n',
  'assistant\n\n',
  'user\n\n',
];

/** How a text begins and ends: role words are glued to these in some templates. */
const LEADS = ['', '', '', 'so ', 'a', '"', '{"t": 1} ', '- ', '1. ', '`x` ', '(', '🙂', '让', 'Is ', '# T\n'];
const TAILS = ['.', '.', '.', '', '!', '?', '"', '}', ')', '`', ' so', ' 42', '让', ':', '\n```py\nx = 1\n```'];

interface Words {
  list: string[];
  lead: string;
  tail: string;
}

/** A conversation whose every message is named in its text, asked of each family once, to learn the text between the texts. */
const SAMPLE = (family: Family): Message[] =>
  (
    [
      ...(family.noSystem ? [] : ['system']),
      'user',
      ...(family.tools ? ['call', 'tool', 'assistant', 'user'] : ['assistant', 'user']),
      'assistant',
    ] as const
  ).map((role, i) => messageOf({ role, words: { list: ['so'], lead: '', tail: '.' } }, i, family, 0));

/** The text that the family's template writes between two texts, with special tokens and without: the quotes that deceive most. */
export function bordersOf(family: Family, folder: string): string[] {
  const text = renderFamily(family, folder, SAMPLE(family));
  if (text === null) return [];
  const whole = text.prompt + text.response;
  // Behind a call only: with it, the quote would be a whole exchange.
  const found = [...whole.matchAll(/M\d+z\.([\s\S]{1,400}?)(?=M\d+a)/g)].map((match) =>
    match[1]!.replace(/^[\s\S]*6\*7/, ''),
  );
  return [...new Set(found.flatMap((border) => [border, stripped(family, border)]))].filter((one) => one.trim() !== '');
}

/**
 * Conversations in which each text names its message; `hostile` texts hold role words and markers as well. Of what reads like a header a
 * text holds one: two make a turn, and then two conversations give the same text.
 */
export function conversations(
  family: Family,
  hostile: boolean,
  borders: readonly string[] = [],
): fc.Arbitrary<Message[]> {
  const quotes = [...HOSTILE, ...borders];
  const plain = fc.array(fc.constantFrom(...COMMON), { minLength: 1, maxLength: 6 });
  const quoting = fc
    .tuple(
      plain,
      fc.array(fc.constantFrom(...HOSTILE_WORDS), { maxLength: 2 }),
      fc.option(fc.constantFrom(...quotes)),
      fc.nat(6),
    )
    .map(([list, few, quote, at]) => [
      ...list.slice(0, at),
      ...few,
      ...(quote === null ? [] : [quote]),
      ...list.slice(at),
    ]);
  const words = fc.record<Words>({
    list: hostile ? quoting : plain,
    lead: fc.constantFrom(...LEADS),
    tail: fc.constantFrom(...TAILS),
  });
  const reply = words.map((list) => ({ role: 'assistant', words: list }));
  const call = fc.tuple(words, fc.boolean()).map(([list, weather]) => ({ role: 'call', words: list, weather }));
  const round = family.tools
    ? fc.oneof(
        fc.tuple(call, words).map(([asked, result]) => [asked, { role: 'tool', words: result }]),
        fc.tuple(reply, words).map(([answer, next]) => [answer, { role: 'user', words: next }]),
      )
    : fc.tuple(reply, words).map(([answer, next]) => [answer, { role: 'user', words: next }]);
  return fc.tuple(words, words, fc.array(round, { maxLength: 3 }), words).map(([system, question, rounds, last]) => {
    const given: { role: string; words: Words; weather?: boolean }[] = [
      ...(family.noSystem ? [] : [{ role: 'system', words: system }]),
      { role: 'user', words: question },
      ...rounds.flat(),
      { role: 'assistant', words: last },
    ];
    let calls = 0;
    return given.map((one, i): Message => messageOf(one, i, family, one.role === 'call' ? calls++ : calls - 1));
  });
}

/** Kimi's ids name the function, Mistral's have nine letters. */
export const idOf = ({ special }: Family, name: string, call: number): string =>
  special.includes('[INST]') ? `abcdefgh${call % 10}` : `functions.${name}:${call}`;

/** Each word of the text's own names its message, first and last, so that a text that ends somewhere else shows it. */
function messageOf(
  one: { role: string; words: Words; weather?: boolean },
  i: number,
  family: Family,
  call: number,
): Message {
  const { list, lead, tail } = one.words;
  const content = `${lead}M${i}a ${list.map((word, n) => `${word} M${i}b${n}`).join(' ')} M${i}z${tail}`.replaceAll(
    / ?\n ?/g,
    '\n',
  );
  if (one.role === 'tool') return { role: 'tool', content, name: 'calc', tool_call_id: idOf(family, 'calc', call) };
  if (one.role !== 'call') return { role: one.role, content };
  const given = one.weather ? { city: 'Paris', days: 2 } : { expr: '6*7' };
  const name = one.weather ? 'get_weather' : 'calc';
  return {
    role: 'assistant',
    content,
    tool_calls: [
      {
        id: idOf(family, name, call),
        type: 'function',
        function: { name, arguments: family.textArguments ? JSON.stringify(given) : given },
      },
    ],
  };
}
