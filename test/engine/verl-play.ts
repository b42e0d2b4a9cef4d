// Plays a conversation through the engine as verl's ToolAgentLoop would: a scripted server, scripted tools, verl's own rules.
import { judgeRollout } from '../../src/engine/collect/score.ts';
import {
  type ChatTokenizer,
  type Model,
  OpenAIFunctionToolSchema,
  parseInteractions,
  RolloutRequest,
  rewardRouter,
  rolloutRecord,
  type Task,
  type Tool,
} from '../../src/engine/index.ts';
import type { Recorded } from '../support/shared-data.ts';
import { tokenizerOf } from './verl-truth.ts';

const families = new Map<string, Promise<ChatTokenizer>>();
export const familyTokenizer = (family: string) => {
  if (!families.has(family)) families.set(family, tokenizerOf(family));
  return families.get(family)!;
};

/** The response with «» around what is not trained. */
export function marked(chat: ChatTokenizer, ids: readonly number[], mask: readonly number[]) {
  let text = '';
  for (let at = 0; at < ids.length; ) {
    let end = at;
    while (end < ids.length && mask[end] === mask[at]) end++;
    const piece = chat.decode(ids.slice(at, end), false);
    text += mask[at] === 1 ? piece : `«${piece}»`;
    at = end;
  }
  return text;
}

/** Plays the recorded turns, whatever it is asked. */
function scripted({ server }: Recorded, chat: ChatTokenizer) {
  const asked: number[] = [];
  const model: Model = {
    name: 'scripted',
    exact: true,
    async generate({ inputIds }) {
      const { ids, log_probs } = server[asked.length];
      asked.push(inputIds!.length);
      return {
        text: chat.decode(ids, true),
        reasoning: null,
        toolCalls: [],
        finishReason: 'stop',
        ids,
        logprobs: log_probs,
        promptTokens: inputIds!.length,
        completionTokens: ids.length,
        retries: 0,
      };
    },
  };
  return { model, asked };
}

/** As the recorder's tools: they read their parameters with `.get`, and answer from a script. */
function scriptedTools({ tools, tool_results }: Recorded) {
  const log: Recorded[] = [];
  const script = [...tool_results];
  const made = tools.map((given: Recorded): Tool => {
    const schema = OpenAIFunctionToolSchema.parse(given);
    const { name } = schema.function;
    return {
      name,
      getOpenAIToolSchema: () => schema,
      async create(id = 'i', kwargs = {}) {
        log.push({ do: 'create', tool: name, kwargs: { create_kwargs: kwargs } });
        return { instanceId: id, response: { text: '' } };
      },
      async execute(_id, parameters: unknown) {
        log.push({ do: 'execute', tool: name, parameters });
        if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
          throw new Error(`'${pythonType(parameters)}' object has no attribute 'get'`);
        const answer = script.shift();
        if (answer.raises) throw new Error(answer.raises === 'KeyError' ? `'${answer.args[0]}'` : answer.args.join());
        return { response: { text: answer.text ?? '' }, reward: answer.reward ?? null, metrics: null };
      },
      calcReward: async () => null,
      async release() {
        log.push({ do: 'release', tool: name });
      },
    };
  });
  return { tools: made as Tool[], log };
}

const pythonType = (value: unknown): string =>
  value === null
    ? 'NoneType'
    : Array.isArray(value)
      ? 'list'
      : ({ number: Number.isInteger(value) ? 'int' : 'float', string: 'str', boolean: 'bool' }[
          typeof value as string
        ] ?? '?');

const STATES: Record<string, string> = {
  pending: 'pending',
  running: 'generating',
  tool_calling: 'processing_tools',
  interacting: 'interacting',
  completed: 'terminated',
};

export async function play(one: Recorded, version: '2026-01-29' | '2026-08-22') {
  const chat = await familyTokenizer(one.family);
  const { model, asked } = scripted(one, chat);
  const { tools, log } = scriptedTools(one);
  const { prompt_length, response_length, format, ...multiTurn } = one.config;
  const kwargs = one.extra_info.interaction_kwargs;
  const users = one.interactions
    ? parseInteractions(JSON.stringify({ interaction: one.interactions }), 'interactions.yaml')
    : null;
  const interaction = users?.get(kwargs?.name);
  const trail: Recorded[] = [];
  let before = 'pending';
  const request: RolloutRequest = new RolloutRequest({
    model,
    messages: one.messages,
    tools,
    toolsKwargs: one.tools_kwargs,
    toolSelection: one.extra_info.tool_selection,
    tokenizer: chat,
    templateKwargs: one.apply_chat_template_kwargs,
    toolFormat: format,
    limits: { max_prompt_length: prompt_length, max_response_length: response_length, ...multiTurn },
    verlCompat: version,
    ...(interaction ? { user: { interaction, kwargs } } : {}),
    onEvent: (event) => {
      if (event.kind !== 'state') return;
      trail.push({
        ran: STATES[before],
        next: STATES[event.state],
        response_tokens: request.transcript.responseTokens,
        assistant_turns: request.assistantTurns,
        user_turns: request.userTurns,
      });
      before = event.state;
    },
  });
  await request.run();
  const task = { key: 'prompt0', groundTruth: one.gts, dataSource: 'openai/gsm8k', messages: one.messages } as Task;
  const judgement = await judgeRollout(task, request, rewardRouter(), undefined);
  const record = rolloutRecord(request, { task, rollout: 0, step: 0, model: 'm', gamma: 1, judgement });
  return { request, record, log, asked, trail };
}
