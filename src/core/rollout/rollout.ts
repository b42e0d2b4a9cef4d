import type { JsonObject, JsonValue } from '../json/value.ts';
import type { EncodingComparison } from './compared.ts';
import type { Ended } from './ended.ts';
import type { Finding } from './finding.ts';
import type { LossMask, Trained } from './loss-mask.ts';
import type { RecordedOutcome } from './outcome.ts';
import type { Rewards } from './rewards.ts';
import type { Times } from './times.ts';

/** system, user, assistant and tool, or any other speaker of a template. */
export type Role = 'system' | 'user' | 'assistant' | 'tool' | (string & {});

/**
 * A piece of a field's decoded string. The spans of a field, concatenated, cover it exactly, so no character is lost or
 * duplicated. `start` and `end` are UTF-16 offsets. Markers are written by the template: a role header, a tag, an end
 * token.
 */
export type Span = {
  /** The top-level key that holds the string, or a JSON pointer if the text is nested deeper. */
  field: string;
  start: number;
  end: number;
  turn: number;
  kind: 'text' | 'marker';
  /**
   * null: the record does not say. The end token of a sampled turn is a marker, and trained if its writer trains it.
   */
  trained: Trained;
};

/** A piece of a turn's text, by UTF-16 offsets into `Turn.text`; parts cover the text exactly. */
export interface Part {
  kind: 'text' | 'think' | 'call';
  start: number;
  end: number;
  /** For a call: its index in `Turn.toolCalls`. */
  call?: number;
  /** Unclosed reasoning: it extends to the end of the turn, or to a call. */
  open?: true;
  /** Reasoning that the record keeps in a separate place; a line break in its text joins it to the text that follows. */
  apart?: true;
}

export interface ToolCall {
  /** Counted from 0 over the whole rollout, including calls that could not be parsed. */
  index: number;
  id: string | null;
  name: string | null;
  /** The tool's arguments: an object if the call is well formed. */
  arguments: JsonValue | null;
  /** The text between the call's tags, as the model wrote it. */
  raw: string;
  /** Why the call could not be parsed; null if it was parsed. */
  error: string | null;
  /** The turn that answers the call; null if it was not executed, or its result was not recorded. */
  resultTurn: number | null;
  /** The step reward and the metrics from its tool, if recorded. */
  reward?: number | null;
  metrics?: JsonValue;
}

/**
 * marked: the borders of the turn are certain (recorded, special tokens, or a form that only the template writes);
 * inferred: they were judged; unknown: the text may hold more than one turn.
 */
export type Confidence = 'marked' | 'inferred' | 'unknown';

export interface Turn {
  index: number;
  role: Role;
  /** The raw text of the turn, reasoning and calls included, without its role header. */
  text: string;
  /** Whether any text of its body is trained on; null if the mask of its body is unknown. */
  trained: Trained;
  confidence: Confidence;
  /** The recorded reward of this turn, or null. */
  reward: number | null;
  toolCalls: ToolCall[];
  parts: Part[];
  /** It represents an unreadable line of the session with unknown contents. */
  isLost?: true;
  /** The outcome of a tool's result; absent if its writer noted nothing beside the text. */
  outcome?: RecordedOutcome;
  /** The history it belongs to: its index in `Rollout.contexts`; absent = the main one. */
  context?: number;
  /** The turn that it replaced in the history: a reply that the agent sent back in its own words. */
  retells?: number;
}

/** The answer to a call; some harnesses give it in the user's role. */
export const isResult = ({ role, outcome }: Pick<Turn, 'role' | 'outcome'>): boolean =>
  role === 'tool' || outcome !== undefined;

/** A message history that the model saw. Each turn is listed once, in the context in which it was made. */
export interface Context {
  /**
   * compaction: continues from a summary or a cut history; branch: leaves a history that it shares; rejected: tried and
   * not kept.
   */
  kind: 'main' | 'subagent' | 'compaction' | 'branch' | 'rejected';
  /** Its name in the record. */
  name: string | null;
  /** The turn after which it leaves another history; null if unknown, or for the main one. */
  after: number | null;
  /** Absent if the record has no ids for it. */
  tokens?: RolloutTokens;
  /** A trajectory with a separate record, such as a subagent's; its turns are not among those of the rollout. */
  own?: Rollout;
}

/** The tokens of a rollout, if recorded. The three lists of the response have the same length. */
export interface RolloutTokens {
  promptIds: number[] | null;
  /** One per prompt token; absent if none were recorded. */
  promptLogprobs?: (number | null)[];
  responseIds: number[];
  /** 1 = trained. */
  mask: number[];
  logprobs: (number | null)[] | null;
  /** Other values recorded for each token of the response, by name: entropy, advantages, the trainer's log probabilities … */
  more?: Record<string, (number | null)[]>;
}

/**
 * How well a text separates its turns. exact: completely. inferred: role words are glued to the text, so some borders
 * are judged. lost: nothing is left between the turns.
 */
export type ReadingClass = 'exact' | 'inferred' | 'lost';

/** The oldest and the newest weights that sampled a rollout, by the trainer's version count. */
export interface PolicyVersions {
  first: number;
  last: number;
  /**
   * The version that was trained with it, if the record counts steps and versions alike; else null, and its age is
   * unknown.
   */
  trainedAt: number | null;
}

/** One sampled trajectory, whatever format it came from. */
export interface Rollout {
  format: string;
  /** The recorded training step, or null. */
  step: number | null;
  /** The rollout's recorded scalar, or null; NaN and ±Infinity are kept. */
  score: number | null;
  /** undefined if the record has no ground truth (null is one). */
  groundTruth: JsonValue | undefined;
  uid: string | null;
  requestId: string | null;
  status: string | null;
  /** The strings that spans refer to, by field. */
  texts: Record<string, string>;
  turns: Turn[];
  spans: Span[];
  /** The first turn with text of the response; equals turns.length if the response is empty. */
  responseTurn: number;
  /** Tool schemas that the prompt shows to the model. */
  toolSchemas: readonly JsonValue[];
  /** Keys without a place in the format, in record order. */
  extras: JsonObject;
  /** A validation rollout is not trained on and has no mask. */
  validation: boolean;
  lossMask: LossMask | null;
  /** Absent if the user gave neither a template nor a tokenizer. */
  encoding?: EncodingComparison;
  ended: Ended;
  /** Absent if the record holds messages instead of one text. */
  reading?: ReadingClass;
  /** Absent if the record holds no ids. */
  tokens?: RolloutTokens;
  /** Absent if no version of the weights was recorded. */
  policy?: PolicyVersions;
  /** Absent if no times were recorded. */
  times?: Times;
  /** The message histories, the main one first; absent = only one. */
  contexts?: Context[];
  /**
   * No model is recorded as the author of its text: a row of a data set, or a prompt alone. Findings about model output
   * do not apply.
   */
  isUnsampled?: true;
  /** Its writer asks for calls and judges them without running any. */
  runsNoCalls?: true;
  /** Its writer notes in the record what went wrong during the rollout. */
  hasNotes?: true;
  /** The key of the prompt's group, if the record names it. */
  group?: string;
  rewards: Rewards;
  findings: Finding[];
}

/** All calls of a rollout in index order. */
export function toolCallsOf({ turns }: Pick<Rollout, 'turns'>): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const turn of turns) calls.push(...turn.toolCalls);
  return calls;
}

/** The fields of a record as a whole. */
export type RolloutFields = Pick<Rollout, 'texts' | 'groundTruth' | 'uid' | 'requestId' | 'status' | 'extras'>;

/** A rollout whose findings are not made yet. */
export type UncheckedRollout = Omit<Rollout, 'findings'>;
