import { keysIn } from '../../core/json/value.ts';
import { type Fit, fitAdvantages, totalOf } from './fit.ts';
import { type ByToken, type SignalRow, turnOfToken } from './signal-row.ts';

/** The kinds of lost or wrong signal; `of`: the denominator of its rate. */
export const SIGNAL_CHECKS = {
  reward_masked: { word: 'reward on a masked token', severity: 'warning', of: 'rewards' },
  reward_padding: { word: 'reward on padding', severity: 'error', of: 'rewards' },
  reward_untrained: { word: 'reward without a trained token', severity: 'warning', of: 'masks' },
  reward_blocked: { word: 'reward does not reach the turns before an observation', severity: 'error', of: 'rewards' },
  reward_sum: { word: 'rewards by token do not sum to the score', severity: 'warning', of: 'rewards' },
  baseline_untrained: { word: 'group baseline holds a row that is not trained', severity: 'error', of: 'groups' },
  session_zeroed: { word: 'advantage 0 for every output of the session', severity: 'error', of: 'masks' },
  group_nan: { word: 'NaN in a group', severity: 'error', of: 'groups' },
  group_alone: { word: 'group of one', severity: 'warning', of: 'groups' },
  no_signal: { word: 'no signal', severity: 'warning', of: 'groups' },
  duplicate: { word: 'written twice', severity: 'warning', of: 'masks' },
  advantage_differs: { word: 'advantage is not the one that fits', severity: 'warning', of: 'advantages' },
} as const;

export type SignalCheck = keyof typeof SIGNAL_CHECKS;

export const SIGNAL_NAMES = keysIn(SIGNAL_CHECKS);
type SignalInput = (typeof SIGNAL_CHECKS)[SignalCheck]['of'];

/** A finding about the signal of one row, or of a whole group. */
export interface SignalFinding {
  check: SignalCheck;
  severity: 'error' | 'warning';
  /** The affected rows, by index in the audited list; the first is the one to look at. */
  rows: number[];
  /** The token of the response, from 0, and its turn; null if it is about the whole row, or unknown. */
  token: number | null;
  turn: number | null;
  message: string;
}

export interface SignalAudit {
  findings: SignalFinding[];
  /** null if no advantages were recorded. */
  fit: Fit | null;
  /** How many rows had the input of a check: the denominator of its rate. */
  observed: Record<SignalInput, number>;
  /** How many rows lacked it; for groups, how many have one row. */
  unobserved: Record<SignalInput, number>;
}

/** Audits the rows that a trainer judged together: those of one step of a stream. */
export function auditSignal(rows: readonly SignalRow<unknown>[]): SignalAudit {
  const findings: SignalFinding[] = [];
  const notice: Notice = (check, own, message, token = null, severity = SIGNAL_CHECKS[check].severity) =>
    findings.push({
      check,
      severity,
      rows: own,
      token,
      turn: token === null ? null : turnOfToken(rows[own[0]!]!, token),
      message,
    });
  const groups = groupsOf(rows);
  const fit = fitAdvantages(rows);
  for (const row of rows.keys()) auditRow(rows, row, groups, fit, notice);
  for (const group of groups.values()) auditGroup(rows, group, fit, notice);
  auditSizes(rows, groups, fit, notice);
  auditUids(rows, fit, notice);
  for (const { row, token, recorded, expected, estimator } of fit?.others ?? [])
    notice(
      'advantage_differs',
      [row],
      `advantage ${brief(recorded)} was recorded; ${estimator}, which fits ${fit!.fitted} of ${fit!.groups} groups, gives ${brief(expected)}`,
      token,
    );
  const has = (list: 'mask' | 'rewards' | 'advantages') => rows.filter((row) => row[list] !== null).length;
  const several = [...groups.values()].filter(({ judged }) => judged.length > 1).length;
  const observed = { masks: has('mask'), rewards: has('rewards'), advantages: has('advantages'), groups: several };
  const left = (count: number) => rows.length - count;
  return {
    findings,
    fit,
    observed,
    unobserved: {
      masks: left(observed.masks),
      rewards: left(observed.rewards),
      advantages: left(observed.advantages),
      groups: groups.size - several,
    },
  };
}

type Notice = (
  check: SignalCheck,
  rows: number[],
  message: string,
  token?: number | null,
  severity?: SignalFinding['severity'],
) => void;

interface SignalGroup {
  rows: number[];
  /** The rows whose rewards form the baseline: the last output of each session, else all. */
  judged: number[];
}

function groupsOf(rows: readonly SignalRow<unknown>[]): Map<string, SignalGroup> {
  const last = new Map<string, number>();
  for (const [at, { session }] of rows.entries()) {
    if (session === null) continue;
    const before = last.get(session.name);
    if (before === undefined || rows[before]!.session!.output < session.output) last.set(session.name, at);
  }
  const groups = new Map<string, SignalGroup>();
  for (const [at, { group, session }] of rows.entries()) {
    const own = groups.get(group) ?? { rows: [], judged: [] };
    groups.set(group, own);
    own.rows.push(at);
    if (session === null || last.get(session.name) === at) own.judged.push(at);
  }
  return groups;
}

const isUntrained = ({ mask }: SignalRow<unknown>): boolean => mask?.every((bit) => bit === 0) === true;

function auditRow(
  rows: readonly SignalRow<unknown>[],
  at: number,
  groups: ReadonlyMap<string, SignalGroup>,
  fit: Fit | null,
  notice: Notice,
): void {
  const row = rows[at]!;
  const { mask, rewards, score } = row;
  auditSum(row, at, notice);
  if (mask === null) return;
  const total = totalOf(row);
  if (isUntrained(row)) {
    const group = groups.get(row.group)!;
    const place = rewards?.findLastIndex((value) => (value ?? 0) !== 0) ?? -1;
    // verl puts a reward on `valid length - 1`, which for an empty response is the last padding token.
    if (place !== -1 && row.isEmpty)
      notice(
        'reward_padding',
        [at],
        `the response is empty, and its reward ${brief(total)} is on a padding token: nothing learns from it, but its group counts it`,
        place,
      );
    else if (total !== 0 && Number.isFinite(total) && group.judged.length < 2 && score !== null)
      notice(
        'reward_untrained',
        [at],
        `nothing of the rollout is trained: its reward ${brief(total)} reaches no token`,
      );
    return;
  }
  if (rewards === null || rewards.length !== mask.length) return;
  auditPlace(rows, at, groups, notice);
  auditFlow(row, at, fit, notice);
}

/** A session's outputs are judged by their sum, wherever in its last output that is placed. */
function isOneOfSeveral(
  rows: readonly SignalRow<unknown>[],
  { session }: SignalRow<unknown>,
  group: SignalGroup,
): boolean {
  return session !== null && group.rows.filter((other) => rows[other]!.session?.name === session.name).length > 1;
}

function auditPlace(
  rows: readonly SignalRow<unknown>[],
  at: number,
  groups: ReadonlyMap<string, SignalGroup>,
  notice: Notice,
): void {
  const row = rows[at]!;
  const { mask, rewards } = row;
  if (isOneOfSeveral(rows, row, groups.get(row.group)!)) return;
  const token = rewards!.findIndex(
    (value, t) => mask![t] === 0 && value !== null && value !== 0 && !Number.isNaN(value),
  );
  if (token === -1) return;
  const sum = rewards!.reduce((all: number, value, t) => all + (mask![t] === 0 ? (value ?? 0) : 0), 0);
  notice(
    'reward_masked',
    [at],
    `reward ${brief(sum)} is on token ${token}, which is masked: GRPO, RLOO and OPO still count it, GAE, REINFORCE++ and ReMax lose it`,
    token,
  );
}

/**
 * Whether a reward reached what was trained before an observation. Returns or advantages show it; without them it is
 * unknown.
 */
function auditFlow(row: SignalRow<unknown>, at: number, fit: Fit | null, notice: Notice): void {
  const { mask, rewards, returns, advantages } = row;
  const border = borderOf(row);
  if (border === null) return;
  const { last, before } = border;
  const isLost = (list: ByToken): boolean => (list[before] ?? 0) === 0 && (list[last] ?? 0) !== 0;
  if (returns?.length === mask!.length) {
    const isOwn = rewards!.slice(0, before + 1).some((value) => (value ?? 0) !== 0);
    if (!isOwn && isLost(returns))
      notice(
        'reward_blocked',
        [at],
        `the reward ${brief(rewards![last]!)} on token ${last} reached no token before the observation: the return of token ${before} is 0`,
        before,
      );
    return;
  }
  const names = fit?.byGroup.get(row.group) ?? new Set(fit?.best ?? []);
  const resets = [...names].filter((name) => name.includes('reset at observations'));
  if (advantages !== null) {
    if (resets.length > 0 && resets.length === names.size)
      notice(
        'reward_blocked',
        [at],
        `the recorded advantages are those of ${resets[0]}: the reward on token ${last} reached no token before the observation`,
        before,
      );
    return;
  }
}

/**
 * The last trained token with a reward, and the last trained token before the preceding observation; null if there is
 * none.
 */
function borderOf({ mask, rewards }: SignalRow<unknown>): { last: number; before: number } | null {
  if (mask === null || rewards?.length !== mask.length) return null;
  const last = rewards.findLastIndex((value, t) => mask[t] === 1 && (value ?? 0) !== 0);
  const border = last === -1 ? -1 : mask.lastIndexOf(0, last);
  const before = border === -1 ? -1 : mask.lastIndexOf(1, border);
  return before === -1 ? null : { last, before };
}

/**
 * A KL penalty is in the rewards, never in the scores. Several rewards without scores may include one, so they are not
 * checked.
 */
function auditSum({ tokenScores, rewards, score }: SignalRow<unknown>, at: number, notice: Notice): void {
  const list = tokenScores ?? rewards;
  if (list === null || score === null || !Number.isFinite(score)) return;
  if (tokenScores === null && list.filter((value) => (value ?? 0) !== 0).length > 1) return;
  const sum = list.reduce((all: number, value) => all + (value ?? 0), 0);
  if (!Number.isFinite(sum) || Math.abs(sum - score) <= 1e-3 * Math.max(1, Math.abs(score))) return;
  notice('reward_sum', [at], `the rewards by token sum to ${brief(sum)}, the score is ${brief(score)}`);
}

function auditGroup(rows: readonly SignalRow<unknown>[], group: SignalGroup, fit: Fit | null, notice: Notice): void {
  const { judged } = group;
  auditSessions(rows, group, notice);
  auditCopies(rows, group, notice);
  if (judged.length < 2) return;
  const totals = judged.map((at) => totalOf(rows[at]!));
  const scored = judged.filter((_, i) => !Number.isNaN(totals[i]) || isNaNRecorded(rows[judged[i]!]!));
  const broken = scored.filter((at) => !Number.isFinite(totalOf(rows[at]!)));
  if (broken.length > 0) {
    notice(
      'group_nan',
      [...broken, ...judged.filter((at) => !broken.includes(at))],
      `${brief(totalOf(rows[broken[0]!]!))} is the reward of ${broken.length} of ${judged.length}: it spreads to the whole group, and with whitening to the whole batch`,
    );
    return;
  }
  const known = totals.filter(Number.isFinite);
  if (known.length < 2) return;
  if (known.every((total) => total === known[0])) {
    if (known.length === judged.length)
      notice(
        'no_signal',
        [...judged],
        `all ${judged.length} rewards are ${brief(known[0]!)}: the group teaches nothing`,
      );
    return;
  }
  auditBaseline(rows, group, fit, notice);
}

const isNaNRecorded = ({ rewards, score }: SignalRow<unknown>): boolean =>
  Number.isNaN(score) || (rewards?.some((value) => Number.isNaN(value)) ?? false);

/** A row that is rejected whole keeps its reward and its group, and so shifts the baseline of its siblings. */
function auditBaseline(
  rows: readonly SignalRow<unknown>[],
  { judged }: SignalGroup,
  fit: Fit | null,
  notice: Notice,
): void {
  const rejected = judged.filter((at) => isUntrained(rows[at]!) && Number.isFinite(totalOf(rows[at]!)));
  const trained = judged.filter((at) => rows[at]!.mask !== null && !isUntrained(rows[at]!));
  if (rejected.length === 0 || trained.length === 0) return;
  if (fit !== null && isJudgedAlone(rows, rejected, trained)) return;
  const mean = (own: readonly number[]): number => own.reduce((sum, at) => sum + totalOf(rows[at]!), 0) / own.length;
  notice(
    'baseline_untrained',
    [...rejected, ...trained],
    `${rejected.length} of ${judged.length} ${rejected.length === 1 ? 'is' : 'are'} not trained and ${rejected.length === 1 ? 'counts' : 'count'} for the baseline: the mean is ${brief(mean([...rejected, ...trained]))}, without ${brief(mean(trained))}`,
  );
}

/** The recorded advantages match those of the trained rows alone, and not those of the whole group. */
function isJudgedAlone(
  rows: readonly SignalRow<unknown>[],
  rejected: readonly number[],
  trained: readonly number[],
): boolean {
  const fits = (own: readonly number[]): boolean => {
    const fit = fitAdvantages(own.map((at) => rows[at]!));
    return fit !== null && fit.best.length > 0;
  };
  return fits(trained) && !fits([...rejected, ...trained]);
}

/**
 * verl judges a session by its last output and copies that advantage to the others; it is 0 if nothing of that output
 * is trained.
 */
function auditSessions(
  rows: readonly SignalRow<unknown>[],
  { rows: members, judged }: SignalGroup,
  notice: Notice,
): void {
  for (const last of judged) {
    const row = rows[last]!;
    if (row.session === null || !isUntrained(row)) continue;
    const others = members.filter((at) => at !== last && rows[at]!.session?.name === row.session!.name);
    const lost = others.filter((at) => rows[at]!.mask !== null && !isUntrained(rows[at]!));
    if (lost.length > 0)
      notice(
        'session_zeroed',
        [last, ...lost],
        `nothing of the session's last output is trained, so verl gives advantage 0 to its ${lost.length === 1 ? 'other output' : `${lost.length} other outputs`} too`,
      );
  }
}

/** The same tokens with the same sampling probabilities are one rollout that was written twice. */
function auditCopies(rows: readonly SignalRow<unknown>[], { rows: members }: SignalGroup, notice: Notice): void {
  const seen = new Map<string, number>();
  for (const at of members) {
    const { requestId, sampled, ids } = rows[at]!;
    const isTelling = sampled !== null && ids !== null && sampled.filter((value) => (value ?? 0) !== 0).length >= 4;
    const key = requestId ?? (isTelling ? `${ids.join()} ${sampled.join()}` : null);
    if (key === null) continue;
    const before = seen.get(key);
    if (before === undefined) seen.set(key, at);
    else
      notice(
        'duplicate',
        [at, before],
        requestId === null
          ? 'the same tokens with the same log probabilities are in the group twice'
          : `request ${requestId} is in the group twice`,
      );
  }
}

/**
 * A rollout alone in its group is compared with 0. If most rollouts have siblings, each one without is named. If all
 * are alone, groups were intended if a within-group estimator made the advantages or is named, or if most prompts occur
 * several times under different names.
 */
function auditSizes(
  rows: readonly SignalRow<unknown>[],
  groups: ReadonlyMap<string, SignalGroup>,
  fit: Fit | null,
  notice: Notice,
): void {
  const alone = [...groups.values()].filter(({ judged }) => judged.length === 1);
  if (alone.length === 0) return;
  const own = alone.flatMap(({ judged }) => judged);
  if (alone.length * 2 < groups.size) {
    for (const row of own)
      notice('group_alone', [row], 'alone in its group: GRPO judges it against 0, the others give it its reward');
    return;
  }
  if (own.length < 2) return;
  const named = own.flatMap((row) => rows[row]?.estimator ?? []).find((name) => IN_GROUPS.test(name));
  const fits = fit !== null && fit.best.length > 0 && fit.best.every((name) => IN_GROUPS.test(name));
  const estimator = named ?? (fits ? fit.best[0] : undefined);
  const byPrompt = new Map<string, number>();
  for (const row of own) byPrompt.set(promptName(rows, row), (byPrompt.get(promptName(rows, row)) ?? 0) + 1);
  const shared = own.filter((row) => (byPrompt.get(promptName(rows, row)) ?? 0) > 1).length;
  // A prompt shared by all may be several prompts that differ in their images.
  const isShared = byPrompt.size > 1 && shared * 2 > own.length;
  if (estimator === undefined && !isShared) return;
  const why = isShared
    ? `the ${own.length} rollouts are of ${byPrompt.size} prompts, and each has a group to itself`
    : `${estimator} compares the rollouts of a prompt, and each of the ${own.length} has a group to itself`;
  notice('group_alone', own, `${why}: the baseline is 0, or the whole reward is taken off`, null, 'error');
}

/** If each row has its own uid, rows are grouped by prompt here; a trainer that groups by uid compares none of them. */
function auditUids(rows: readonly SignalRow<unknown>[], fit: Fit | null, notice: Notice): void {
  if (
    rows.length < 2 ||
    rows.some(({ uid, session, isGroupRecorded }) => uid === null || session !== null || isGroupRecorded)
  )
    return;
  if (new Set(rows.map(({ uid }) => uid)).size < rows.length) return;
  const byPrompt = new Map<string, number>();
  for (const {
    key: { prompt },
  } of rows)
    byPrompt.set(prompt, (byPrompt.get(prompt) ?? 0) + 1);
  const shared = rows.filter(({ key }) => (byPrompt.get(key.prompt) ?? 0) > 1).length;
  if (byPrompt.size < 2 || shared * 2 <= rows.length || (fit !== null && fit.best.length > 0)) return;
  const alone = fitAdvantages(rows.map((row) => ({ ...row, group: `uid ${row.uid}` })));
  const isCertain = alone !== null && alone.best.length > 0 && alone.best.every((name) => IN_GROUPS.test(name));
  const what = `the ${rows.length} rollouts are of ${byPrompt.size} prompts, and each has a uid to itself`;
  const then = isCertain
    ? 'the recorded advantages compare none of them'
    : 'a trainer that groups by uid, as verl does, compares none of them';
  notice('group_alone', [...rows.keys()], `${what}: ${then}`, null, isCertain ? 'error' : 'warning');
}

const promptName = (rows: readonly SignalRow<unknown>[], row: number): string => rows[row]?.key.prompt ?? '';

/** verl's estimators that compare the rollouts of one prompt. */
const IN_GROUPS = /^(?:(?:dr_)?grpo|rloo|opo|gpg|reinforce_plus_plus_baseline)/i;

/** Four digits are enough for the messages. */
const brief = (value: number): string =>
  Number.isFinite(value) ? String(Number(value.toPrecision(4))) : Number.isNaN(value) ? 'NaN' : String(value);
