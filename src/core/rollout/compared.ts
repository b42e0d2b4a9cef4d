/** Sampled turns, and how many of their end tokens are trained and masked. */
export interface TurnEnds {
  turns: number;
  trained: number;
  masked: number;
}

/** The first place at which two texts differ, and how they continue from there. */
export interface PromptDifference {
  at: number;
  recorded: string;
  rendered: string;
}

/** Compares the recorded mask with the turns whose words its tokens contain. */
export interface MaskByIds {
  /** Turns of tools and users, and how many of their tokens are trained. */
  foreign: { turn: number; tokens: number }[];
  /** Turns of the model, and how many of their tokens are masked. */
  missing: { turn: number; tokens: number }[];
  /** Tokens of the model that are trained. */
  modelTrained: number;
  /** Turns that were found. */
  looked: number;
}

/**
 * Differences between a rollout and the user's chat template and tokenizer; a key is absent if nothing could be
 * compared, and null if there is no difference.
 */
export interface EncodingComparison {
  prompt?: PromptDifference | null;
  ids?: { at: number; id: number; text: string; instead: number | null } | null;
  ends?: TurnEnds;
  mask?: MaskByIds | null;
}
