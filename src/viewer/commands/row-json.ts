import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { digitsIn } from '../../core/dump/record-details.ts';
import type { Printable } from '../../core/json/print.ts';
import { unobservedChecks } from '../../core/rollout/checks.ts';
import { contextTree, keptBy } from '../../core/rollout/contexts.ts';
import { Facts, factRow } from '../../core/rollout/fact-row.ts';
import { FACTS } from '../../core/rollout/facts.ts';
import { type Finding, findingJson } from '../../core/rollout/finding.ts';
import type { Rollout, Span, Turn } from '../../core/rollout/rollout.ts';
import { timeByKind } from '../../core/rollout/times.ts';
import { unreadOf } from '../../core/rollout/unread.ts';

/** A line of `ls --json`. @param group the group's key, null if absent */
export function rowJson(row: DumpRecord, group: string | null): { [key: string]: Printable } {
  const { rollout, file } = row;
  if (rollout === null) {
    return {
      locator: row.locator,
      format: null,
      error: row.error,
      bytes: row.bytes,
      findings: row.findings.map(findingJson),
    };
  }
  return {
    locator: row.locator,
    format: rollout.format,
    stream: file.stream,
    step: digitsIn(row.json, 'step') ?? rollout.step ?? file.step,
    sample: row.sample,
    score: digitsIn(row.json, 'score') ?? rollout.score,
    ...factsJson(rollout, row.findings),
    group,
    bytes: row.bytes,
    findings: row.findings.map(findingJson),
    unobserved: unobservedChecks(rollout).filter((check) => !row.findings.some((one) => one.check === check)),
    extras: rollout.extras,
  };
}

function factsJson(rollout: Rollout, findings: readonly Finding[]): { [key: string]: Printable } {
  const facts = new Facts(factRow(rollout, findings));
  return Object.fromEntries(FACTS.map(({ name }) => [name, facts.value(name)]));
}

/** The object that `show --json` prints for one record. @param advantage recomputed from the scores of its group, null if unknown */
export function recordJson(
  row: DumpRecord,
  group: string | null,
  advantage: number | null,
): { [key: string]: Printable } {
  const { rollout } = row;
  if (rollout === null) return { ...rowJson(row, group), raw: row.raw };
  const { lossMask, rewards } = rollout;
  return {
    ...rowJson(row, group),
    uid: rollout.uid,
    ground_truth: rollout.groundTruth ?? null,
    status: rollout.status,
    ended_evidence: rollout.ended.evidence,
    contexts: contextsJson(rollout),
    turns: rollout.turns.map(turnJson),
    spans: rollout.spans.map(spanJson),
    loss_mask: lossMask && {
      source: lossMask.source,
      trained_chars: lossMask.trainedChars,
      unknown_chars: lossMask.unknownChars,
      total_chars: lossMask.totalChars,
      trained_tokens: lossMask.trainedTokens,
      total_tokens: lossMask.totalTokens,
    },
    tools: rollout.toolSchemas,
    unread: row.json === undefined ? null : unreadOf(row.json, rollout).map((one) => ({ ...one })),
    times: timesJson(rollout),
    policy:
      rollout.policy === undefined
        ? null
        : { first: rollout.policy.first, last: rollout.policy.last, trained_at: rollout.policy.trainedAt },
    rewards: {
      total: rewards.total,
      per_turn: perTurn(rollout),
      returns: rewards.returns,
      advantage: advantage ?? rewards.advantage,
      named: rewards.named ?? null,
      unaligned: rewards.unaligned.map(({ field, values }) => ({ field, values })),
    },
  };
}

/**
 * The message histories, the main one first. `turns` are the indexes of a history's own turns; a trajectory with its own record has them in
 * full.
 */
function contextsJson(rollout: Rollout): Printable {
  const { contexts, tokens } = rollout;
  const nodes = contextTree(rollout).sort((a, b) => a.index - b.index);
  return nodes.map(({ index, context, parent, depth, turns, trained, chars }) => {
    const own = contexts === undefined ? tokens : context.tokens;
    const change = keptBy(rollout, index);
    return {
      kind: context.kind,
      name: context.name,
      after: context.after,
      parent,
      depth,
      turns: context.own ? context.own.turns.map(turnJson) : turns,
      trained_chars: trained,
      chars,
      kept: change === null ? null : { ...change },
      tokens: own ? { prompt: own.promptIds?.length ?? null, response: own.responseIds.length } : null,
    };
  });
}

const perTurn = (rollout: Rollout): Printable => rollout.rewards.perTurn ?? rollout.turns.map(() => null);

const turnJson = (turn: Turn): Printable => ({
  index: turn.index,
  context: turn.context ?? 0,
  role: turn.role,
  text: turn.text,
  trained: turn.trained,
  confidence: turn.confidence,
  reward: turn.reward,
  ...(turn.outcome === undefined ? {} : { outcome: { ...turn.outcome } }),
  tool_calls: turn.toolCalls.map((call) => ({
    index: call.index,
    id: call.id,
    name: call.name,
    arguments: call.arguments,
    raw: call.raw,
    error: call.error,
    result_turn: call.resultTurn,
  })),
});

const spanJson = ({ field, start, end, turn, kind, trained }: Span): Printable => ({
  field,
  start,
  end,
  turn,
  kind,
  trained,
});

/** Seconds from the rollout's start; null if no times were recorded. */
function timesJson({ times }: Rollout): Printable {
  if (times === undefined) return null;
  const { started, wall, spans, durations, doubt } = times;
  return {
    started,
    wall,
    by_kind: timeByKind(times),
    spans: spans.map((span) => ({ ...span })),
    durations: { ...durations },
    first_token: times.firstToken ?? null,
    doubt,
  };
}
