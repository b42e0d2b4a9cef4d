import type { Generation, Model, ModelRequest } from '../../src/engine/index.ts';

/** A model in the same process: replies are functions of the request, or texts one after the other. */
export function fakeModel(
  reply: (request: ModelRequest, number: number) => Partial<Generation> | Promise<Partial<Generation>>,
  exact = false,
) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    name: 'fake',
    exact,
    async generate(request) {
      // The engine goes on writing to its messages, so what was asked is kept as it was.
      requests.push({ ...request, messages: [...request.messages] });
      const given = await reply(request, requests.length - 1);
      const toolCalls = given.toolCalls ?? [];
      return {
        text: '',
        reasoning: null,
        toolCalls,
        finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
        ids: null,
        logprobs: null,
        promptTokens: null,
        completionTokens: null,
        retries: 0,
        ...given,
      };
    },
  };
  return { model, requests };
}

export const texts = (...replies: string[]) =>
  fakeModel((_, number) => ({ text: replies[number] ?? 'no more to say' }));

export const call = (name: string, args: unknown): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
