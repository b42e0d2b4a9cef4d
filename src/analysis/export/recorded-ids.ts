import type { ExportConversation } from './conversation.ts';

/** 0 replaces a value at which a loader would stop; the loss does not see a masked token. */
export const finite = (value: number | null | undefined): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

/** The recorded token ids of prompt and response with the mask and the log probabilities of the response. */
export const recordedIds = ({ tokens }: ExportConversation) => ({
  prompt: tokens?.promptIds ?? [],
  response: tokens?.responseIds ?? [],
  mask: tokens?.mask ?? [],
  logprobs: tokens?.logprobs?.map((one) => finite(one)) ?? null,
});
