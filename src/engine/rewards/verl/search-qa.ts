/** The score of Search-R1 (`verl/utils/reward_score/search_r1_like_qa_em.py`): whether the last `<answer>` matches one of the targets; a quarter of the score for a text full of tags. */
export function searchScore(solution: string, targets: readonly string[]): { score: number; pred: string | null } {
  const pred = lastAnswer(solution);
  if (pred === null || !targets.some((target) => plainAnswer(target) === plainAnswer(pred))) return { score: 0, pred };
  const tags = Math.max(solution.split('<answer>').length, solution.split('</answer>').length) - 1;
  return { score: tags > 10 ? 0.25 : 1, pred };
}

/**
 * The answer reward of R1-Searcher for HotpotQA: the best F1 of the answer's words against a target's (SQuAD's measure). The answer is the
 * last `<answer>`, else the text after the last `####`, as verl's first hotpotqa.py read it. Format penalties are not included.
 */
export function answerF1(solution: string, targets: readonly string[]): { score: number; pred: string | null } {
  const pred = lastAnswer(solution) ?? /.*####\s*([^\n]*)/s.exec(solution)?.[1]?.trim() ?? null;
  if (pred === null) return { score: 0, pred };
  return { score: Math.max(0, ...targets.map((target) => wordF1(answerWords(pred), answerWords(target)))), pred };
}

/** Harmonic mean of precision and recall over the words of two texts, with multiplicity. */
function wordF1(given: readonly string[], wanted: readonly string[]): number {
  if (given.length === 0 || wanted.length === 0) return given.length === wanted.length ? 1 : 0;
  const left = [...wanted];
  let common = 0;
  for (const word of given) {
    const at = left.indexOf(word);
    if (at === -1) continue;
    left.splice(at, 1);
    common++;
  }
  return (2 * common) / (given.length + wanted.length);
}

const lastAnswer = (text: string): string | null =>
  [...text.matchAll(/<answer>([\s\S]*?)<\/answer>/g)].at(-1)?.[1]?.trim() ?? null;

/** Without case, ASCII punctuation and articles, and with single spaces, as in SQuAD's evaluation. */
const plainAnswer = (text: string): string => answerWords(text).join(' ');

const answerWords = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .replace(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
