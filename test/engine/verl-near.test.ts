// The rules of verl's loop at their edges. Expected texts are written down from the rules: text in «» was given, the rest was sampled.
import { describe, expect, it } from 'vitest';
import type { VerlVersion } from '../../src/engine/request/rules.ts';
import { familyTokenizer, marked, play } from './verl-play.ts';
import { tokenizerFile } from './verl-truth.ts';

const JANUARY = '2026-01-29';
const AUGUST = '2026-08-22';
const END = '<|im_end|>';

const tool = (name: string) => ({
  type: 'function',
  function: {
    name,
    description: 'Runs.',
    parameters: { type: 'object', properties: { code: { type: 'string', description: 'Code.' } }, required: ['code'] },
  },
});
const call = (code: string, name = 'run') =>
  `<tool_call>\n{"name": "${name}", "arguments": {"code": "${code}"}}\n</tool_call>`;
/** The newer tree writes the line end behind a turn's end token. */
const newline = (version: VerlVersion) => (version === AUGUST ? '\n' : '');
const results = (version: VerlVersion, ...texts: string[]) =>
  `«${newline(version)}<|im_start|>user${texts.map((text) => `\n<tool_response>\n${text}\n</tool_response>`).join('')}${END}\n<|im_start|>assistant\n»`;
const user = (version: VerlVersion, text: string) =>
  `«${newline(version)}<|im_start|>user\n${text}${END}\n<|im_start|>assistant\n»`;
const raised = (version: VerlVersion, message: string) =>
  version === JANUARY ? `Error when executing tool: ${message}` : `Error executing tool 'run': ${message}`;
const unknown = (version: VerlVersion, name: string, names: string) =>
  version === JANUARY
    ? `Error when executing tool: '${name}'`
    : `Unknown function '${name}'. Available tools: [${names}]`;

interface Near {
  name: string;
  /** The model's sampled text. */
  turns: string[];
  tools?: string[];
  tool_results?: ({ text: string; reward?: number } | { raises: string; args: string[] })[];
  config?: Record<string, unknown>;
  /** A GSM8K user with this truth. */
  user?: string;
  response: (version: VerlVersion) => string;
  /** The codes of the calls that reached a tool. */
  executed?: (string | undefined)[];
  rewards?: number[];
  num_turns: number;
  only?: VerlVersion;
}

const LONG = 'abcdefghij'.repeat(3);
const WRONG = 'Your response is incorrect! You need to reflect on your answer and try again.';
const AS_STRING = `<tool_call>\n{"name": "run", "arguments": "{\\"code\\": \\"1\\"}"}\n</tool_call>${END}`;
const AS_TEXT = `<tool_call>\n{"name": "run", "arguments": "print(1)"}\n</tool_call>${END}`;
const answer = `#### 1${END}`;
const two = `${call('1')}\n${call('2')}${END}`;
const once = `${call('1')}${END}`;

const CASES: Near[] = [
  {
    name: 'four calls where two may run: the others are never answered',
    turns: [`${['1', '2', '3', '4'].map((code) => call(code)).join('\n')}${END}`, answer],
    config: { max_parallel_calls: 2 },
    tool_results: [{ text: 'one' }, { text: 'two' }],
    response: (of) =>
      `${['1', '2', '3', '4'].map((code) => call(code)).join('\n')}${END}${results(of, 'one', 'two')}${answer}`,
    executed: ['1', '2'],
    num_turns: 4,
  },
  {
    name: 'a broken call is no call, and takes nobody’s place',
    turns: [`<tool_call>\n{"name": "run", "arguments": {"code": }}\n</tool_call>\n${once}`, answer],
    tool_results: [{ text: 'one' }],
    response: (of) =>
      `<tool_call>\n{"name": "run", "arguments": {"code": }}\n</tool_call>\n${once}${results(of, 'one')}${answer}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'nothing but broken calls ends the rollout',
    turns: [`<tool_call>{"name": "run"}</tool_call><tool_call>run(1)</tool_call>${END}`],
    response: () => `<tool_call>{"name": "run"}</tool_call><tool_call>run(1)</tool_call>${END}`,
    num_turns: 2,
  },
  {
    name: 'a call that was cut is text',
    turns: ['Let me see. <tool_call>\n{"name": "run", "argum'],
    response: () => 'Let me see. <tool_call>\n{"name": "run", "argum',
    num_turns: 2,
  },
  {
    name: 'a whole call before one that was cut runs',
    turns: [`${call('1')}\n<tool_call>\n{"name": "ru`, answer],
    config: { max_parallel_calls: 2 },
    tool_results: [{ text: 'one' }],
    response: (of) =>
      // Without an end token only the template's text of the next message follows.
      `${call('1')}\n<tool_call>\n{"name": "ru${results(of, 'one').replace('«\n', '«')}${answer}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'a whole call at the end of response_length is not run',
    turns: [once],
    config: { response_length: 4 },
    response: () => '<tool_call>\n{"name',
    num_turns: 2,
  },
  {
    name: 'a tool that raises beside one that does not',
    turns: [two, answer],
    config: { max_parallel_calls: 2 },
    tool_results: [
      { raises: 'ValueError', args: ['no'] },
      { text: 'two', reward: 0.5 },
    ],
    response: (of) => `${two}${results(of, raised(of, 'no'), 'two')}${answer}`,
    executed: ['1', '2'],
    rewards: [0, 0.5],
    num_turns: 4,
  },
  {
    name: 'a long error is shown whole',
    turns: [once, answer],
    config: { max_tool_response_length: 10 },
    tool_results: [{ raises: 'ValueError', args: [LONG] }],
    response: (of) => `${once}${results(of, raised(of, LONG))}${answer}`,
    executed: ['1'],
    rewards: [0],
    num_turns: 4,
  },
  ...(['left', 'right'] as const).map(
    (side): Near => ({
      name: `a long result, ${side}: the trees mean opposite sides`,
      turns: [once, answer],
      config: { max_tool_response_length: 7, tool_response_truncate_side: side },
      tool_results: [{ text: LONG }],
      response: (of) =>
        `${once}${results(of, (side === 'left') === (of === JANUARY) ? 'abcdefg...(truncated)' : '(truncated)...defghij')}${answer}`,
      executed: ['1'],
      num_turns: 4,
    }),
  ),
  {
    name: 'a long result, cut in the middle by an odd length',
    turns: [once, answer],
    config: { max_tool_response_length: 7 },
    tool_results: [{ text: LONG }],
    response: (of) => `${once}${results(of, 'abc...(truncated)...hij')}${answer}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'a result of exactly the length',
    turns: [once, answer],
    config: { max_tool_response_length: 30 },
    tool_results: [{ text: LONG }],
    response: (of) => `${once}${results(of, LONG)}${answer}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'characters are code points',
    turns: [once, answer],
    config: { max_tool_response_length: 4 },
    tool_results: [{ text: '😀😁😂🤣😃' }],
    response: (of) => `${once}${results(of, '😀😁...(truncated)...🤣😃')}${answer}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'an unknown tool among two, its text longer than a result may be',
    turns: [`${call('1', 'walk')}${END}`, answer],
    tools: ['run', 'look'],
    config: { max_tool_response_length: 10 },
    response: (of) => `${call('1', 'walk')}${END}${results(of, unknown(of, 'walk', "'run', 'look'"))}${answer}`,
    rewards: [0],
    num_turns: 4,
  },
  {
    name: 'an unknown tool beside one that is there',
    turns: [`${call('1', 'walk')}\n${call('2')}${END}`, answer],
    config: { max_parallel_calls: 2 },
    tool_results: [{ text: 'two' }],
    response: (of) =>
      `${call('1', 'walk')}\n${call('2')}${END}${results(of, unknown(of, 'walk', "'run'"), 'two')}${answer}`,
    executed: ['2'],
    rewards: [0],
    num_turns: 4,
  },
  {
    name: 'a turn of nothing but its end token',
    turns: [END],
    response: () => END,
    num_turns: 2,
  },
  {
    name: 'a turn of nothing after a tool',
    turns: [once, END],
    tool_results: [{ text: '' }],
    response: (of) => `${once}${results(of, '')}${END}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'calls in the last turn that is allowed are not run',
    turns: [once, `${call('2')}${END}`],
    config: { max_user_turns: 1 },
    tool_results: [{ text: 'one' }],
    response: (of) => `${once}${results(of, 'one')}${call('2')}${END}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'a limit of 0 turns does not count',
    turns: [once, answer],
    config: { max_user_turns: 0, max_assistant_turns: 0 },
    tool_results: [{ text: 'one' }],
    response: (of) => `${once}${results(of, 'one')}${answer}`,
    executed: ['1'],
    num_turns: 4,
  },
  {
    name: 'a result that does not fit leaves its reward and no text',
    turns: [once],
    config: { response_length: 40 },
    tool_results: [{ text: LONG.repeat(8), reward: 1 }],
    response: () => once,
    executed: ['1'],
    rewards: [1],
    num_turns: 2,
  },
  {
    name: 'a user who is content at once',
    turns: [`It is #### 7${END}`],
    user: '7',
    response: (of) => `It is #### 7${END}${user(of, 'Your response is correct!')}`,
    num_turns: 3,
    only: JANUARY,
  },
  {
    name: 'a user who is content with the second answer',
    turns: [`#### 8${END}`, `#### 7${END}`],
    user: '7',
    response: (of) => `#### 8${END}${user(of, WRONG)}#### 7${END}${user(of, 'Your response is correct!')}`,
    num_turns: 5,
    only: JANUARY,
  },
  {
    name: 'a user who is asked once: the turn behind his word is the last',
    turns: [`#### 8${END}`, `#### 9${END}`],
    user: '7',
    config: { max_user_turns: 1 },
    response: (of) => `#### 8${END}${user(of, WRONG)}#### 9${END}`,
    num_turns: 4,
    only: JANUARY,
  },
  {
    name: 'a user who hears nothing',
    turns: [END, END],
    user: '7',
    config: { max_assistant_turns: 2 },
    response: (of) => `${END}${user(of, WRONG)}${END}`,
    num_turns: 4,
    only: JANUARY,
  },
  {
    name: 'arguments as JSON in a string reach the tool as that string, which fails on it',
    turns: [AS_STRING, answer],
    response: (of) => `${AS_STRING}${results(of, raised(of, "'str' object has no attribute 'get'"))}${answer}`,
    executed: [undefined],
    rewards: [0],
    num_turns: 4,
  },
  {
    name: 'arguments that are a bare text reach the tool, which fails on it',
    turns: [AS_TEXT, answer],
    response: (of) => `${AS_TEXT}${results(of, raised(of, "'str' object has no attribute 'get'"))}${answer}`,
    executed: [undefined],
    rewards: [0],
    num_turns: 4,
  },
];

const FAMILIES = ['qwen2.5', 'qwen3'].filter((family) => tokenizerFile(family) !== null);

describe.each(FAMILIES.length === 0 ? ['skipped: npm ci in bench/ brings the tokenizers'] : FAMILIES)(
  '%s',
  (family) => {
    const runs = CASES.flatMap((one) =>
      ([JANUARY, AUGUST] as const)
        .filter((version) => one.only === undefined || one.only === version)
        .map((version) => [`${one.name} (${version})`, version, one] as const),
    );
    it.skipIf(FAMILIES.length === 0).each(runs)('%s', async (_, version, one) => {
      const chat = await familyTokenizer(family);
      const { request, record, log } = await play(
        {
          family,
          messages: [{ role: 'user', content: 'Go.' }],
          tools: one.user === undefined ? (one.tools ?? ['run']).map(tool) : [],
          tools_kwargs: {},
          tool_results: one.tool_results ?? [],
          extra_info: one.user === undefined ? {} : { interaction_kwargs: { name: 'gsm8k', ground_truth: one.user } },
          interactions:
            one.user === undefined
              ? null
              : [{ name: 'gsm8k', class_name: 'verl.interactions.gsm8k_interaction.Gsm8kInteraction', config: {} }],
          apply_chat_template_kwargs: {},
          gts: '1',
          config: {
            prompt_length: 1024,
            response_length: 1024,
            max_user_turns: null,
            max_assistant_turns: null,
            max_parallel_calls: 1,
            max_tool_response_length: 256,
            tool_response_truncate_side: 'middle',
            format: 'hermes',
            ...one.config,
          },
          server: one.turns.map((text) => {
            const ids = chat.encode(text);
            return { text, ids, log_probs: ids.map(() => -1) };
          }),
        },
        version,
      );
      expect(request.error).toBeNull();
      const { response_ids: ids, response_mask: mask } = record as { response_ids: number[]; response_mask: number[] };
      expect(marked(chat, ids, mask)).toBe(one.response(version));
      expect(record.rollout_log_probs).toEqual(mask.map((is) => (is === 1 ? -1 : 0)));
      const executed = log.filter(({ do: did }) => did === 'execute').map(({ parameters }) => parameters.code);
      expect(executed).toEqual(one.executed ?? []);
      expect(request.calls.flatMap(({ reward }) => (reward === null ? [] : [reward]))).toEqual(one.rewards ?? []);
      expect(request.assistantTurns + request.userTurns + 1).toBe(one.num_turns);
    });
  },
);
