import { verl } from '../../src/core/formats/verl.ts';
import type { Message } from './conversations.ts';

/** The reading of a conversation, against the conversation that was rendered. */
export interface Verdict {
  /** Turns that hold words of another role, or of two messages, and are not unknown. */
  wrong: number;
  turns: number;
  /** Words of a tool or a user in text that is shown as trained, for certain or not. */
  trained: number;
  trainedForCertain: number;
  /** UTF-16 units of text, those of turns that are certain, and those of turns that are certain or inferred. */
  chars: number;
  certain: number;
  known: number;
}

const ROLE: Record<string, string> = { developer: 'system' };

export function judge(messages: readonly Message[], prompt: string, response: string): Verdict {
  const rollout = verl.read({ input: prompt, output: response, gts: null, score: 1, step: 1 }, { validation: false });
  const verdict: Verdict = { wrong: 0, turns: 0, trained: 0, trainedForCertain: 0, chars: 0, certain: 0, known: 0 };
  const roleOf = (word: string): string => messages[Number(/^M(\d+)/.exec(word)![1])]!.role;
  for (const turn of rollout.turns) {
    verdict.chars += turn.text.length;
    if (turn.confidence !== 'unknown') verdict.known += turn.text.length;
    if (turn.confidence === 'marked') verdict.certain += turn.text.length;
    const words = [...turn.text.matchAll(/M\d+(?:a|z|b\d+)/g)].map(([word]) => word);
    if (turn.confidence === 'unknown' || words.length === 0) continue;
    verdict.turns++;
    const role = ROLE[turn.role] ?? turn.role;
    if (words.some((word) => roleOf(word) !== role)) verdict.wrong++;
  }
  for (const span of rollout.spans) {
    if (span.field !== 'output' || span.trained !== true) continue;
    const words = [...response.slice(span.start, span.end).matchAll(/M\d+(?:a|z|b\d+)/g)].map(([word]) => word);
    const foreign = words.filter((word) => roleOf(word) !== 'assistant').length;
    verdict.trained += foreign;
    if (rollout.turns[span.turn]!.confidence === 'marked') verdict.trainedForCertain += foreign;
  }
  return verdict;
}
