import { itemAt, numberInAt } from '../../core/lists/at.ts';

/** A beginning that several answers share, or the rest of a single answer. */
export interface TreeBranch {
  /** The depth: 0 for the root. */
  depth: number;
  /** The text from the previous branch to the point where these answers diverge. */
  text: string;
  /** How many answers take this branch, and the mean of their known scores. */
  n: number;
  mean: number | null;
  /** Their indices among the given answers. */
  members: readonly number[];
}

export interface TreeAnswer {
  text: string;
  score: number | null;
}

/**
 * The answers of a group as a tree of common beginnings by word. Each branch comes before its children, and larger
 * branches come first.
 */
export function answerTree(answers: readonly TreeAnswer[]): TreeBranch[] {
  const words = answers.map(({ text }) => text.match(/\s*\S+\s*$|\s*\S+/g) ?? []);
  const branches: TreeBranch[] = [];
  // An explicit stack: a group of thousands may diverge at every word.
  const open: { members: number[]; from: number; depth: number }[] = [
    { members: answers.map((_, i) => i), from: 0, depth: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { members, from, depth } = next;
    const first = words[members[0] ?? 0] ?? [];
    let to = from;
    if (members.length === 1) to = first.length;
    else while (to < first.length && members.every((member) => itemAt(words, member)[to] === first[to])) to++;
    const scores = members
      .map((member) => itemAt(answers, member).score)
      .filter((score) => score !== null && Number.isFinite(score));
    branches.push({
      depth,
      text: first.slice(from, to).join(''),
      n: members.length,
      mean: scores.length === 0 ? null : scores.reduce<number>((sum, score) => sum + score!, 0) / scores.length,
      members,
    });
    if (members.length < 2) continue;
    const ways = new Map<string, number[]>();
    for (const member of members) {
      // Answers that end here share nothing further.
      const word = itemAt(words, member)[to];
      if (word === undefined) continue;
      const known = ways.get(word);
      if (known) known.push(member);
      else ways.set(word, [member]);
    }
    const ordered = [...ways.values()].sort((a, b) => a.length - b.length || numberInAt(b, 0) - numberInAt(a, 0));
    for (const own of ordered) open.push({ members: own, from: to, depth: depth + 1 });
  }
  return branches;
}
