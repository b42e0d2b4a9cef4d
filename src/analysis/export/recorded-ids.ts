import type { ExportConversation } from './conversation.ts';

/** The recorded token ids of prompt and response with the mask and the log probabilities of the response; 0 if a masked token has none. */
export const recordedIds = ({ tokens }: ExportConversation) => ({
  prompt: tokens?.promptIds ?? [],
  response: tokens?.responseIds ?? [],
  mask: tokens?.mask ?? [],
  logprobs: tokens?.logprobs?.map((one) => one ?? 0) ?? null,
});
