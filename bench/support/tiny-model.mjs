// A real model behind an OpenAI-compatible server on loopback: node tiny-model.mjs FOLDER, which holds a tokenizer.json and gets the model.
// It prints its address. /v1/chat/completions gives calls as text, or below /native/v1 parsed, as llama.cpp's own server does;
// /v1/completions takes and gives token ids with their log probabilities, as vLLM's. A grammar has each first turn call the
// calculator, and each turn behind a result answer with a number.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { getLlama, LlamaGrammarEvaluationState, LlamaLogLevel } from 'node-llama-cpp';
import { tinyGguf } from './tiny-gguf.mjs';

const [, , folder] = process.argv;
const END = '<|im_end|>';
const modelPath = join(folder, 'model.gguf');
writeFileSync(modelPath, tinyGguf(JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')), END));

const llama = await getLlama({ gpu: false, build: 'never', maxThreads: 1, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 4096, sequences: 4, threads: 1 });
const grammars = {
  call: await llama.createGrammar({
    grammar: String.raw`root ::= "<tool_call>\n{\"name\": \"calculator\", \"arguments\": {\"a\": " number ", \"b\": " number ", \"op\": \"" [-+*] "\"}}\n</tool_call>"
number ::= [1-9] [0-9]? [0-9]?`,
  }),
  answer: await llama.createGrammar({ grammar: String.raw`root ::= "#### " "-"? [1-9] [0-9]? [0-9]?` }),
};

const free = Array.from({ length: 4 }, () => context.getSequence());
const waiting = [];

/** Samples a turn. @returns its ids, the one that ends it too, and their log probabilities */
async function sample(prompt, { limit, temperature, seed }) {
  const sequence = free.pop() ?? (await new Promise((resolve) => waiting.push(resolve)));
  try {
    await sequence.clearHistory();
    const said = model.detokenize(prompt, true);
    const grammar =
      said.lastIndexOf('<tool_response>') > said.lastIndexOf('<|im_start|>user\nWhat')
        ? grammars.answer
        : grammars.call;
    const grammarEvaluationState = new LlamaGrammarEvaluationState({ model, grammar });
    const turn = { ids: [], logprobs: [], finish: 'stop' };
    const options = {
      temperature,
      grammarEvaluationState,
      yieldEogToken: true,
      ...(seed === undefined ? {} : { seed }),
    };
    for await (const { token, confidence } of sequence.evaluateWithMetadata(prompt, { confidence: true }, options)) {
      turn.ids.push(token);
      turn.logprobs.push(Math.log(confidence));
      if (model.isEogToken(token)) break;
      if (turn.ids.length >= limit) {
        turn.finish = 'length';
        break;
      }
    }
    return turn;
  } finally {
    const next = waiting.shift();
    if (next) next(sequence);
    else free.push(sequence);
  }
}

const CALL = /<tool_call>\n(.*)\n<\/tool_call>/;

function written({ role, content, tool_calls = [] }) {
  const calls = tool_calls.map(
    ({ function: { name, arguments: args } }) => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`,
  );
  const said =
    role === 'tool'
      ? `<tool_response>\n${content}\n</tool_response>`
      : [content, ...calls].filter((one) => one !== '').join('\n');
  return `<|im_start|>${role === 'tool' ? 'user' : role}\n${said}${END}\n`;
}

async function chat({ messages, max_tokens = 256, temperature = 1, seed, stream }, isNative, respond) {
  const prompt = model.tokenize(`${messages.map(written).join('')}<|im_start|>assistant\n`, true);
  const { ids, finish } = await sample(prompt, { limit: max_tokens, temperature, seed });
  const content = model.detokenize(ids.filter((id) => !model.isEogToken(id)));
  const call = isNative ? CALL.exec(content) : null;
  const { name, arguments: args } = call ? JSON.parse(call[1]) : {};
  const said = call
    ? {
        content: '',
        tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
      }
    : { content };
  const usage = { prompt_tokens: prompt.length, completion_tokens: ids.length };
  const finish_reason = call ? 'tool_calls' : finish;
  if (stream)
    respond([
      { choices: [{ index: 0, delta: said, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ]);
  else respond({ choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason }], usage });
}

async function complete({ prompt, max_tokens = 256, temperature = 1, seed, stream }, respond) {
  const { ids, logprobs, finish } = await sample(prompt, { limit: max_tokens, temperature, seed });
  const usage = { prompt_tokens: prompt.length, completion_tokens: ids.length };
  const choice = {
    index: 0,
    text: model.detokenize(ids, true),
    token_ids: ids,
    logprobs: { token_logprobs: logprobs },
    finish_reason: finish,
  };
  respond(stream ? [{ choices: [choice], usage }] : { choices: [choice], usage });
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  if (request.method !== 'POST') return void response.end('{"data": [{"id": "tiny"}]}');
  const respond = (answer) => {
    const isStream = Array.isArray(answer);
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(
      isStream
        ? `${answer.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`
        : JSON.stringify(answer),
    );
  };
  try {
    const asked = JSON.parse(body);
    if (request.url.endsWith('/chat/completions')) await chat(asked, request.url.startsWith('/native'), respond);
    else await complete(asked, respond);
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ error: String(error) }));
  }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
