import type { ReadingClass, Role } from '../rollout/rollout.ts';

/**
 * The template's text before a turn's text, as regular expression source. If one rule covers several roles, a group
 * captures the role word.
 */
export interface HeaderRule {
  open: string;
  /**
   * The texts that a match begins with: `open` is tried only at their occurrences. The end of the text counts as a
   * line's end. Without it the whole text is searched for `open`.
   */
  begins?: readonly string[];
  /** The role, if the rule covers only one. */
  role?: Role;
  /** Legal only after turns of these roles. */
  after?: readonly string[];
  /** Roles that may follow this header, besides those that its role allows. */
  leads?: readonly string[];
  /** Legal only where no other header is between the turn before and it. */
  adjacent?: true;
  /** Words that also occur in prose: a border if the text reads as a conversation only with it, and then inferred. */
  weak?: true;
  /** How much it reads like a header, if the characters around it do not decide (see `weightOf`). */
  weight?: number;
  /** After other roles it is prose, without casting doubt on the turn. */
  prose?: true;
  /**
   * How a call that it answers ends, as regular expression source. A result with this ending is not a result, but a
   * continuation by the model.
   */
  answers?: string;
  /** A result without the tags that enclose the shape's other results. */
  bare?: true;
}

/** How the turns of a template appear in a text, with or without its special tokens. */
export interface Shape {
  /** Does the text have this shape? Decided by the start of the prompt and its end, the generation prompt. */
  detects(prompt: string, response: string): boolean;
  /**
   * The template's text after a turn's text, before the next header, as regular expression source; may match nothing.
   */
  end: string;
  headers: readonly HeaderRule[];
  /** How a result ends, before `end`; without it a result ends at the next header. */
  resultEnd?: string;
  /** The role of text before the first header. */
  before?: Role;
  /** Roles that may follow a role, if not the usual ones. */
  follows?: Readonly<Record<string, readonly string[]>>;
  /** How the last of several consecutive model messages begins: no other one may follow it. */
  final?: string;
  /** The template writes the system text into a user turn, the first or the last of the prompt. */
  systemIn?: 'first' | 'last';
  /** Turns of this role leave no trace, so text that is followed by another turn of its own role may contain one. */
  hides?: Role;
  /** Nothing but a line break separates the model's messages after a result. */
  joins?: true;
  /** The reading is entirely heuristic: no turn of it is certain. */
  judged?: true;
  /** Special tokens separate the turns; no text contains them unless it quotes them. */
  special?: true;
}

/** A chat template, or a family of templates with the same turn layout. */
export interface ChatTemplate {
  name: string;
  /** Models that use it, as shown to people. */
  models: string;
  /** With special tokens. */
  marked: Shape | null;
  /** The form that `skip_special_tokens` leaves; null if it equals `marked`, or if nothing is left. */
  stripped: Shape | null;
  /** The class of the stripped text: how much of it can be recovered. */
  class: ReadingClass;
  /** Names of call grammars that must be given, because their calls have no tags. */
  calls?: readonly string[];
}

/** The role for a template's role word. */
export const roleOf = (word: string): Role => ROLE_OF[word] ?? word;

const ROLE_OF: Readonly<Record<string, Role>> = {
  model: 'assistant',
  ai: 'assistant',
  gpt: 'assistant',
  chatbot: 'assistant',
  human: 'user',
  ipython: 'tool',
  environment: 'tool',
  observation: 'tool',
  function: 'tool',
  tool_response: 'tool',
  tool_declare: 'system',
  available_tools: 'system',
  documents: 'system',
  developer: 'system',
};

/** Text that may follow the generation prompt's header: reasoning tags that some templates add. */
export const THINK_TAIL = String.raw`\s*(?:<think>\s*(?:</think>\s*)?|</think>\s*|\[THINK\]|<seed:think>|<\|channel>\w*\n?|<\|START_THINKING\|>(?:<\|END_THINKING\|>)?)?`;

/**
 * Matches a prompt that ends with this header and what templates put after it. @param header regular expression source
 */
export const endsWithHeader = (header: string): RegExp => new RegExp(`${header}${THINK_TAIL}$`);

/**
 * Before a role word that is glued to text: excludes quoted words (`"user"`) and parts of words (`username`, `users`).
 */
export const GLUED = String.raw`(?<!"(?=\w+")|'(?=\w+')|\x60(?=\w+\x60))(?!user(?:names?|data|s)\b)`;
