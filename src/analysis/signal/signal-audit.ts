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
      rows: own.map(({ at }) => at),
      token,
      turn: token === null ? null : turnOfToken(own[0], token),
      message,
    });
  const audited = rows.map((row, at): AuditedRow => ({ ...row, at }));
  const groups = groupsOf(audited);
  const fit = fitAdvantages(audited);
  for (const row of audited) {
    const group = groups.get(row.group);
    if (group !== undefined) auditRow(row, group, fit, notice);
  }
  for (const group of groups.values()) auditGroup(group, fit, notice);
  auditSizes(groups, fit, notice);
  auditUids(audited, fit, notice);
  if (fit !== null)
    for (const { row, token, recorded, expected, estimator } of fit.others)
      notice(
        'advantage_differs',
        [row],
        `advantage ${brief(recorded)} was recorded; ${estimator}, which fits ${fit.fitted} of ${fit.groups} groups, gives ${brief(expected)}`,
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

/** A row with its index in the audited list. */
interface AuditedRow extends SignalRow<unknown> {
  at: number;
}

type Notice = (
  check: SignalCheck,
  rows: readonly [AuditedRow, ...AuditedRow[]],
  message: string,
  token?: number | null,
  severity?: SignalFinding['severity'],
) => void;

interface SignalGroup {
  rows: AuditedRow[];
  /** The rows whose rewards form the baseline: the last output of each session, else all. */
  judged: AuditedRow[];
}

function groupsOf(rows: readonly AuditedRow[]): Map<string, SignalGroup> {
  const last = new Map<string, { at: number; output: number }>();
  for (const { at, session } of rows) {
    if (session === null) continue;
    const before = last.get(session.name);
    if (before === undefined || before.output < session.output) last.set(session.name, { at, output: session.output });
  }
  const groups = new Map<string, SignalGroup>();
  for (const row of rows) {
    const own = groups.get(row.group) ?? { rows: [], judged: [] };
    groups.set(row.group, own);
    own.rows.push(row);
    if (row.session === null || last.get(row.session.name)?.at === row.at) own.judged.push(row);
  }
  return groups;
}

const isUntrained = ({ mask }: SignalRow<unknown>): boolean => mask?.every((bit) => bit === 0) === true;

function auditRow(row: AuditedRow, group: SignalGroup, fit: Fit<AuditedRow> | null, notice: Notice): void {
  const { mask, rewards, score } = row;
  auditSum(row, notice);
  if (mask === null) return;
  const total = totalOf(row);
  if (isUntrained(row)) {
    const place = rewards?.findLastIndex((value) => (value ?? 0) !== 0) ?? -1;
    // verl puts a reward on `valid length - 1`, which for an empty response is the last padding token.
    if (place !== -1 && row.isEmpty)
      notice(
        'reward_padding',
        [row],
        `the response is empty, and its reward ${brief(total)} is on a padding token: nothing learns from it, but its group counts it`,
        place,
      );
    else if (total !== 0 && Number.isFinite(total) && group.judged.length < 2 && score !== null)
      notice(
        'reward_untrained',
        [row],
        `nothing of the rollout is trained: its reward ${brief(total)} reaches no token`,
      );
    return;
  }
  if (rewards === null || rewards.length !== mask.length) return;
  if (!isOneOfSeveral(row, group)) auditPlace(row, mask, rewards, notice);
  auditFlow(row, mask, rewards, fit, notice);
}

/** A session's outputs are judged by their sum, wherever in its last output that is placed. */
function isOneOfSeveral({ session }: AuditedRow, group: SignalGroup): boolean {
  return session !== null && group.rows.filter((other) => other.session?.name === session.name).length > 1;
}

function auditPlace(row: AuditedRow, mask: readonly number[], rewards: ByToken, notice: Notice): void {
  const token = rewards.findIndex((value, t) => mask[t] === 0 && value !== null && value !== 0 && !Number.isNaN(value));
  if (token === -1) return;
  const sum = rewards.reduce((all: number, value, t) => all + (mask[t] === 0 ? (value ?? 0) : 0), 0);
  notice(
    'reward_masked',
    [row],
    `reward ${brief(sum)} is on token ${token}, which is masked: GRPO, RLOO and OPO still count it, GAE, REINFORCE++ and ReMax lose it`,
    token,
  );
}

/**
 * Whether a reward reached what was trained before an observation. Returns or advantages show it; without them it is
 * unknown.
 */
function auditFlow(
  row: AuditedRow,
  mask: readonly number[],
  rewards: ByToken,
  fit: Fit<AuditedRow> | null,
  notice: Notice,
): void {
  const { returns, advantages } = row;
  const border = borderOf(row);
  if (border === null) return;
  const { last, before } = border;
  const isLost = (list: ByToken): boolean => (list[before] ?? 0) === 0 && (list[last] ?? 0) !== 0;
  if (returns?.length === mask.length) {
    const isOwn = rewards.slice(0, before + 1).some((value) => (value ?? 0) !== 0);
    if (!isOwn && isLost(returns))
      notice(
        'reward_blocked',
        [row],
        `the reward ${brief(rewards[last] ?? Number.NaN)} on token ${last} reached no token before the observation: the return of token ${before} is 0`,
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
        [row],
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
function auditSum(row: AuditedRow, notice: Notice): void {
  const { tokenScores, rewards, score } = row;
  const list = tokenScores ?? rewards;
  if (list === null || score === null || !Number.isFinite(score)) return;
  if (tokenScores === null && list.filter((value) => (value ?? 0) !== 0).length > 1) return;
  const sum = list.reduce((all: number, value) => all + (value ?? 0), 0);
  if (!Number.isFinite(sum) || Math.abs(sum - score) <= 1e-3 * Math.max(1, Math.abs(score))) return;
  notice('reward_sum', [row], `the rewards by token sum to ${brief(sum)}, the score is ${brief(score)}`);
}

function auditGroup(group: SignalGroup, fit: Fit<AuditedRow> | null, notice: Notice): void {
  const { judged } = group;
  auditSessions(group, notice);
  auditCopies(group, notice);
  const [head, ...others] = judged;
  if (head === undefined || others.length === 0) return;
  const totals = judged.map(totalOf);
  const scored = judged.filter((row, i) => !Number.isNaN(totals[i]) || isNaNRecorded(row));
  const broken = scored.filter((row) => !Number.isFinite(totalOf(row)));
  const [worst, ...rest] = broken;
  if (worst !== undefined) {
    notice(
      'group_nan',
      [worst, ...rest, ...judged.filter((row) => !broken.includes(row))],
      `${brief(totalOf(worst))} is the reward of ${broken.length} of ${judged.length}: it spreads to the whole group, and with whitening to the whole batch`,
    );
    return;
  }
  const known = totals.filter(Number.isFinite);
  const [total, ...more] = known;
  if (total === undefined || more.length === 0) return;
  if (more.every((one) => one === total)) {
    if (known.length < judged.length || judged.some((row) => isTaught(row, total))) return;
    const isSeen = judged.every(({ advantages }) => advantages !== null);
    notice(
      'no_signal',
      [head, ...others],
      `all ${judged.length} rewards are ${brief(total)}: ${isSeen ? 'the group teaches nothing' : 'with a baseline of the group it teaches nothing'}`,
    );
    return;
  }
  auditBaseline(group, fit, notice);
}

/**
 * Recorded advantages say that it was trained all the same, as with a critic or a baseline of the batch. Equal rewards of 32 bits
 * leave up to some units in the last place of their mean, which GRPO divides by 1e-6.
 */
function isTaught({ advantages, mask }: AuditedRow, total: number): boolean {
  const rounding = 1e-3 + Math.abs(total) / 4;
  return advantages?.some((value, t) => mask?.[t] !== 0 && Math.abs(value ?? 0) > rounding) ?? false;
}

const isNaNRecorded = ({ rewards, score }: SignalRow<unknown>): boolean =>
  Number.isNaN(score) || (rewards?.some((value) => Number.isNaN(value)) ?? false);

/** A row that is rejected whole keeps its reward and its group, and so shifts the baseline of its siblings. */
function auditBaseline({ judged }: SignalGroup, fit: Fit<AuditedRow> | null, notice: Notice): void {
  const rejected = judged.filter((row) => isUntrained(row) && Number.isFinite(totalOf(row)));
  const trained = judged.filter((row) => row.mask !== null && !isUntrained(row));
  const [head, ...others] = rejected;
  if (head === undefined || trained.length === 0) return;
  if (fit !== null && isJudgedAlone(rejected, trained)) return;
  const mean = (own: readonly AuditedRow[]): number => own.reduce((sum, row) => sum + totalOf(row), 0) / own.length;
  notice(
    'baseline_untrained',
    [head, ...others, ...trained],
    `${rejected.length} of ${judged.length} ${rejected.length === 1 ? 'is' : 'are'} not trained and ${rejected.length === 1 ? 'counts' : 'count'} for the baseline: the mean is ${brief(mean([...rejected, ...trained]))}, without ${brief(mean(trained))}`,
  );
}

/** The recorded advantages match those of the trained rows alone, and not those of the whole group. */
function isJudgedAlone(rejected: readonly AuditedRow[], trained: readonly AuditedRow[]): boolean {
  const fits = (own: readonly AuditedRow[]): boolean => {
    const fit = fitAdvantages(own);
    return fit !== null && fit.best.length > 0;
  };
  return fits(trained) && !fits([...rejected, ...trained]);
}

/**
 * verl judges a session by its last output and copies that advantage to the others; it is 0 if nothing of that output
 * is trained.
 */
function auditSessions({ rows, judged }: SignalGroup, notice: Notice): void {
  for (const last of judged) {
    const { session } = last;
    if (session === null || !isUntrained(last)) continue;
    const others = rows.filter((row) => row !== last && row.session?.name === session.name);
    const lost = others.filter((row) => row.mask !== null && !isUntrained(row));
    if (lost.length > 0)
      notice(
        'session_zeroed',
        [last, ...lost],
        `nothing of the session's last output is trained, so verl gives advantage 0 to its ${lost.length === 1 ? 'other output' : `${lost.length} other outputs`} too`,
      );
  }
}

/** The same tokens with the same sampling probabilities are one rollout that was written twice. */
function auditCopies({ rows }: SignalGroup, notice: Notice): void {
  const seen = new Map<string, AuditedRow>();
  for (const row of rows) {
    const { requestId, sampled, ids } = row;
    const isTelling = sampled !== null && ids !== null && sampled.filter((value) => (value ?? 0) !== 0).length >= 4;
    const key = requestId ?? (isTelling ? `${ids.join()} ${sampled.join()}` : null);
    if (key === null) continue;
    const before = seen.get(key);
    if (before === undefined) seen.set(key, row);
    else
      notice(
        'duplicate',
        [row, before],
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
function auditSizes(groups: ReadonlyMap<string, SignalGroup>, fit: Fit<AuditedRow> | null, notice: Notice): void {
  const alone = [...groups.values()].filter(({ judged }) => judged.length === 1);
  if (alone.length === 0) return;
  const own = alone.flatMap(({ judged }) => judged);
  if (alone.length * 2 < groups.size) {
    for (const row of own)
      notice('group_alone', [row], 'alone in its group: GRPO judges it against 0, the others give it its reward');
    return;
  }
  const [head, ...others] = own;
  if (head === undefined || others.length === 0) return;
  const named = own.flatMap(({ estimator }) => estimator ?? []).find((name) => IN_GROUPS.test(name));
  const fits = fit !== null && fit.best.length > 0 && fit.best.every((name) => IN_GROUPS.test(name));
  const estimator = named ?? (fits ? fit.best[0] : undefined);
  const byPrompt = new Map<string, number>();
  for (const { key } of own) byPrompt.set(key.prompt, (byPrompt.get(key.prompt) ?? 0) + 1);
  const shared = own.filter(({ key }) => (byPrompt.get(key.prompt) ?? 0) > 1).length;
  // A prompt shared by all may be several prompts that differ in their images.
  const isShared = byPrompt.size > 1 && shared * 2 > own.length;
  if (estimator === undefined && !isShared) return;
  const why = isShared
    ? `the ${own.length} rollouts are of ${byPrompt.size} prompts, and each has a group to itself`
    : `${estimator} compares the rollouts of a prompt, and each of the ${own.length} has a group to itself`;
  notice(
    'group_alone',
    [head, ...others],
    `${why}: the baseline is 0, or the whole reward is taken off`,
    null,
    'error',
  );
}

/** If each row has its own uid, rows are grouped by prompt here; a trainer that groups by uid compares none of them. */
function auditUids(rows: readonly AuditedRow[], fit: Fit<AuditedRow> | null, notice: Notice): void {
  const [head, ...others] = rows;
  if (head === undefined || others.length === 0) return;
  if (rows.some(({ uid, session, isGroupRecorded }) => uid === null || session !== null || isGroupRecorded)) return;
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
  notice('group_alone', [head, ...others], `${what}: ${then}`, null, isCertain ? 'error' : 'warning');
}

/** verl's estimators that compare the rollouts of one prompt. */
const IN_GROUPS = /^(?:(?:dr_)?grpo|rloo|opo|gpg|reinforce_plus_plus_baseline)/i;

/** Four digits are enough for the messages. */
const brief = (value: number): string =>
  Number.isFinite(value) ? String(Number(value.toPrecision(4))) : Number.isNaN(value) ? 'NaN' : String(value);
