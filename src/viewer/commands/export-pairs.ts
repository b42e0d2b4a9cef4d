import type { ExportConversation } from '../../analysis/export/conversation.ts';
import { conversationOf } from '../../analysis/export/conversation.ts';
import type { AnswerPair } from '../../analysis/export/format.ts';
import { type Candidate, type PairOptions, type PairPlan, pairOf, pairsInGroup } from '../../analysis/export/pairs.ts';
import { partsBy } from '../../analysis/groups.ts';
import { hashOf } from '../../core/json/fingerprint.ts';
import { printJson } from '../../core/json/print.ts';

import { type GroupKey, settleGroups } from '../../core/rollout/group-key.ts';
import { branchesOf } from '../../replay/branches.ts';
import { recordKey } from '../../replay/journal/record-key.ts';
import type { ExportScreen } from './export-screen.ts';
import { type ExportSource, markEdit } from './export-source.ts';
import { journalOf } from './journal-of.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';

/** Reads the selection for its scores, then only the answers that a pair needs. */
export async function* exportPairs(
  source: ExportSource,
  screen: ExportScreen,
  options: PairOptions,
): AsyncGenerator<AnswerPair> {
  const steps = new Map<number | null, { keys: GroupKey[]; found: Candidate[] }>();
  const sources = new Map<string, string>();
  for await (const { conversation: one } of source.rows()) {
    const score = one.isGood === null ? one.score : Number(one.isGood);
    if (score === null || !Number.isFinite(score)) {
      screen.tally.drop('no_score');
      continue;
    }
    if (screen.lets(one) === null) continue;
    const step = steps.get(one.step) ?? { keys: [], found: [] };
    steps.set(one.step, step);
    sources.set(one.locator, one.source);
    step.keys.push(one.group);
    step.found.push(candidate(one, score, options.rule));
  }
  const plans = [...steps.values()].flatMap(({ keys, found }) => {
    const settled = settleGroups(keys);
    // Answers to different texts are never paired, so prompts that are all equal do no harm here.
    const groups = partsBy([...found.keys()], (at) => settled[at]?.key ?? keys[at]?.key);
    return groups.flatMap((group) => {
      const answers = group.flatMap((at) => found[at] ?? []);
      const pairs = pairsInGroup(answers, options);
      const used = new Set(pairs.map(({ better }) => better));
      const prompts = new Set(answers.filter(({ locator }) => used.has(locator)).map(({ prompt }) => prompt));
      for (const { prompt } of answers) if (!prompts.has(prompt)) screen.tally.drop('no_pair');
      return pairs;
    });
  });
  yield* wholePairs(plans, { source, sources }, screen, options);
}

const candidate = (one: ExportConversation, score: number, rule: PairOptions['rule']): Candidate => {
  const reply = one.messages.slice(one.response);
  return {
    locator: one.locator,
    // The same words with other tools are another prompt.
    prompt: one.tools === null ? one.prompt : hashOf(one.prompt + printJson(one.tools)),
    score,
    chars: reply.reduce((sum, { text }) => sum + text.length, 0),
    answer: hashOf(reply.map(({ role, text }) => `${role}\n${text}`).join('\n\n')),
    turns:
      rule !== 'turn'
        ? []
        : reply.map(({ role, text }) => ({ hash: hashOf(`${role}\n${text}`), isReply: role === 'assistant' })),
  };
};

/** The pairs in plan order; an answer is kept in memory only while a pair needs it. */
async function* wholePairs(
  plans: readonly PairPlan[],
  { source, sources }: { source: ExportSource; sources: ReadonlyMap<string, string> },
  screen: ExportScreen,
  { rule }: PairOptions,
): AsyncGenerator<AnswerPair> {
  const uses = new Map<string, number>();
  for (const { better, worse } of plans)
    for (const locator of [better, worse]) uses.set(locator, (uses.get(locator) ?? 0) + 1);
  const kept = new Map<string, ExportConversation>();
  let next = 0;
  for await (const { conversation } of source.rows(
    new Map([...uses.keys()].map((locator) => [locator, sources.get(locator) ?? ''])),
  )) {
    if (!uses.has(conversation.locator)) continue;
    kept.set(conversation.locator, screen.again(conversation));
    for (let plan = plans[next]; plan !== undefined; plan = plans[next]) {
      const [better, worse] = [kept.get(plan.better), kept.get(plan.worse)];
      if (better === undefined || worse === undefined) break;
      next++;
      const pair = screen.alike(pairOf(plan, better, worse, rule));
      if (pair !== null) yield pair;
      for (const locator of [plan.better, plan.worse]) {
        const left = (uses.get(locator) ?? 1) - 1;
        uses.set(locator, left);
        if (left === 0) kept.delete(locator);
      }
    }
  }
}

/** A branch against its original, or the reverse, from the first differing turn on. */
export async function* forkPairs(
  source: ExportSource,
  screen: ExportScreen,
  flags: { journal?: string; margin?: number },
): AsyncGenerator<AnswerPair> {
  for await (const { row, conversation: original } of source.rows()) {
    if (original.score === null) {
      screen.tally.drop('no_score');
      continue;
    }
    const kept = screen.lets(original);
    if (kept === null) continue;
    const journal = await journalOf(pathOfArgument(row.locator), flags.journal);
    let pairs = 0;
    for (const entry of branchesOf(journal, recordKey(row.raw))) {
      const branch = await branchConversation(entry, flags.journal);
      if (branch === null || branch.score === null) continue;
      const [better, worse] = branch.score > original.score ? [branch, kept] : [kept, branch];
      const margin = Math.abs(branch.score - original.score);
      if (!(margin > 0 && margin >= (flags.margin ?? 0))) continue;
      let shared = 0;
      while (shared < better.messages.length && isSameMessage(better, worse, shared)) shared++;
      if (shared < original.response || shared >= Math.min(better.messages.length, worse.messages.length)) continue;
      const other = screen.lets(branch);
      if (other === null) continue;
      const reason = `branch ${entry.branch} from turn ${entry.turn}: score ${branch.score} against ${original.score}`;
      const pair = { better, worse, shared, length: Number.POSITIVE_INFINITY, reason };
      const alike = screen.alike(branch === better ? { ...pair, better: other } : { ...pair, worse: other });
      if (alike === null) continue;
      pairs++;
      yield alike;
    }
    if (pairs === 0) screen.tally.drop('no_pair');
  }
}

const isSameMessage = (a: ExportConversation, b: ExportConversation, at: number): boolean =>
  a.messages[at]?.role === b.messages[at]?.role && a.messages[at]?.text === b.messages[at]?.text;

async function branchConversation(
  { path, uid }: { path: string; uid: string },
  journal: string | undefined,
): Promise<ExportConversation | null> {
  try {
    for await (const { row } of selectRows([path], {})) {
      if (row.rollout?.uid !== uid) continue;
      const conversation = conversationOf(row);
      if (conversation !== null) await markEdit(row, conversation, journal);
      return conversation;
    }
  } catch {
    // The branches were deleted.
  }
  return null;
}
