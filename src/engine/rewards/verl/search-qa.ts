/** The score of Search-R1 (`verl/utils/reward_score/search_r1_like_qa_em.py`): the last `<answer>` says one of the targets; a quarter of it for a text full of tags. */
export function searchScore(solution: string, targets: readonly string[]): { score: number; pred: string | null } {
  const pred = [...solution.matchAll(/<answer>([\s\S]*?)<\/answer>/g)].at(-1)?.[1]?.trim() ?? null;
  if (pred === null || !targets.some((target) => plain(target) === plain(pred))) return { score: 0, pred };
  const tags = Math.max(solution.split('<answer>').length, solution.split('</answer>').length) - 1;
  return { score: tags > 10 ? 0.25 : 1, pred };
}

/** Without case, ASCII punctuation, articles, and with single spaces, as SQuAD's own evaluation. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .replace(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '')
    .join(' ');
