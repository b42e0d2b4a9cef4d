import type { ExportConversation } from './conversation.ts';
import type { AnswerPair } from './format.ts';

/**
 * Which answers of a group are compared. best: the best against the worst that the limits allow; all: each against every lower score; ladder:
 * each against the next lower score; turn: the turn at which two answers with the same beginning diverge.
 */
export const PAIR_RULES = ['best', 'all', 'ladder', 'turn'] as const;
export type PairRule = (typeof PAIR_RULES)[number];

export interface PairOptions {
  rule: PairRule;
  /** The better score must exceed the worse one by at least this; equal scores make no pair. */
  margin: number;
  /** The longer answer has at most this many times the characters of the shorter one; Infinity = any. */
  lengthRatio: number;
  /** The reason for each pair if the scores are not the recorded ones. */
  why?: string;
}

interface CandidateTurn {
  hash: string;
  /** The model wrote it. */
  isReply: boolean;
}

/** Kept from a rollout until its group is complete. */
export interface Candidate {
  locator: string;
  prompt: string;
  score: number;
  /** Characters of the response. */
  chars: number;
  /** A hash of the response. */
  answer: string;
  /** The messages of the response, in order; empty unless the rule compares turns. */
  turns: readonly CandidateTurn[];
}

export interface PairPlan {
  better: string;
  worse: string;
  /** Messages that both responses begin with. */
  sharedTurns: number;
  reason: string;
}

/**
 * The pairs of one group. Answers to different prompts are never paired, equal answers neither, and no two answers come
 * twice, however often they were sampled.
 */
export function pairsInGroup(group: readonly Candidate[], { rule, margin, lengthRatio, why }: PairOptions): PairPlan[] {
  const plans: PairPlan[] = [];
  const byPrompt = new Map<string, Candidate[]>();
  for (const one of group) {
    const answers = byPrompt.get(one.prompt);
    if (answers === undefined) byPrompt.set(one.prompt, [one]);
    else answers.push(one);
  }
  for (const answers of byPrompt.values()) {
    const ranked = [...answers].sort((a, b) => b.score - a.score || (a.locator < b.locator ? -1 : 1));
    const seen = new Set<string>();
    for (const [better, worse] of matches(ranked, rule)) {
      if (!(better.score - worse.score >= margin) || better.score <= worse.score) continue;
      const [short, long] = [better.chars, worse.chars].sort((a, b) => a - b);
      if ((long ?? 0) > (short ?? 0) * lengthRatio) continue;
      const sharedTurns = rule === 'turn' ? sharedLength(better.turns, worse.turns) : 0;
      // The model chose nothing if results of tools diverge.
      if (rule === 'turn' && (sharedTurns === 0 || ![better, worse].every(({ turns }) => turns[sharedTurns]?.isReply)))
        continue;
      const both = [better.answer, worse.answer].sort().join(' ');
      if (better.answer === worse.answer || seen.has(both)) continue;
      seen.add(both);
      const reason = why ?? `score ${better.score} against ${worse.score}`;
      plans.push({ better: better.locator, worse: worse.locator, sharedTurns, reason });
      if (rule === 'best') break;
    }
  }
  return plans;
}

function* matches(ranked: readonly Candidate[], rule: PairRule): Generator<[Candidate, Candidate]> {
  if (rule === 'best') {
    const [best, ...others] = ranked;
    if (best !== undefined) for (const worse of others.reverse()) yield [best, worse];
    return;
  }
  for (const [at, better] of ranked.entries()) {
    const lower = ranked.slice(at + 1).filter(({ score }) => score < better.score);
    const [next] = lower;
    if (rule !== 'ladder') for (const worse of lower) yield [better, worse];
    else if (next !== undefined) yield [better, next];
  }
}

function sharedLength(a: readonly CandidateTurn[], b: readonly CandidateTurn[]): number {
  let at = 0;
  while (at < a.length && a[at]?.hash === b[at]?.hash) at++;
  return at;
}

/** The pair that a plan describes. */
export const pairOf = (
  plan: PairPlan,
  better: ExportConversation,
  worse: ExportConversation,
  rule: PairRule,
): AnswerPair => ({
  better,
  worse,
  shared: better.response + plan.sharedTurns,
  length: rule === 'turn' ? 1 : Number.POSITIVE_INFINITY,
  reason: plan.reason,
});
