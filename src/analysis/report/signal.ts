import type { Printable } from '../../core/json/print.ts';
import { CLIP } from '../../core/rollout/token-measures.ts';
import { formatCount, formatPercent, plural } from '../../core/text/numbers.ts';
import type { Lesson } from '../signal/lesson.ts';
import { SIGNAL_CHECKS, type SignalAudit, type SignalFinding } from '../signal/signal-audit.ts';
import { column } from './columns.ts';
import { locatorText, type Report, type RolloutPlace } from './report.ts';

/** A training step as a trainer judged it. */
export interface SignalOfStep {
  name: string;
  audit: SignalAudit;
  lesson: Lesson;
  /** Records that are not trained on, or unreadable. */
  leftOut: number;
  /** The place of a judged row. */
  placeOf(row: number): RolloutPlace;
}

/** The origin of a step's gradient, with a row for each place where learning signal was lost. */
export function signalReport(
  step: SignalOfStep,
  findings: readonly SignalFinding[] = step.audit.findings,
): Report<SignalFinding> {
  const { name, audit, placeOf } = step;
  const hidden = audit.findings.length - findings.length;
  return {
    title: `learning signal of ${name}`,
    columns: [
      {
        key: 'severity',
        title: '!',
        type: 'text',
        meaning: '! error, · warning',
        identifies: true,
        width: 1,
        value: ({ severity }) => (severity === 'error' ? '!' : '·'),
      },
      column('says', 'finding', 'text', 'what was found', ({ check }) => SIGNAL_CHECKS[check].word, { width: 34 }),
      {
        key: 'locator',
        title: 'rollout',
        type: 'rollout',
        meaning: 'where to look',
        value: ({ rows: [first = 0], turn }) => ({ ...placeOf(first), turn }),
      },
      column('message', 'why', 'text', 'the numbers behind it', ({ message }) => message, { width: 40, grows: true }),
    ],
    rows: findings,
    notes: lessonNotes(step),
    leftOut: hidden === 0 ? [] : [`${plural(hidden, 'finding')} more (--limit)`],
    empty: audit.observed.rewards === 0 ? 'nothing found; rewards by token are not recorded' : 'nothing found',
  };
}

/** The first of each check; at most `limit`. */
export function fewOfEach(findings: readonly SignalFinding[], limit: number): SignalFinding[] {
  const counts = new Map<string, number>();
  return findings.filter(({ check }) => {
    const count = (counts.get(check) ?? 0) + 1;
    counts.set(check, count);
    return count <= limit;
  });
}

function lessonNotes({ audit, lesson, leftOut, placeOf }: SignalOfStep): string[] {
  const notes = [
    `${plural(lesson.rollouts, 'rollout')} in ${plural(audit.observed.groups, 'group')} of several${leftOut === 0 ? '' : `; ${plural(leftOut, 'record')} left out: not trained on, or unreadable`}`,
    `trained: ${trainedText(lesson)}`,
    `advantages: ${advantagesText(lesson, audit)}`,
  ];
  if (lesson.lossBy !== null) notes.push(`loss: ${lossText(lesson.lossBy)}`);
  if (audit.fit !== null) notes.push(`estimator: ${estimatorText(audit.fit)}`);
  if (lesson.ratio !== null) {
    const { mean, max, outside, kl } = lesson.ratio;
    notes.push(
      `ratio: mean ${brief(mean)}, largest ${brief(max)}, ${formatPercent(outside)} outside ${1 - CLIP} to ${1 + CLIP}, KL ${brief(kl)} (k3, by token)`,
    );
  }
  const [most] = lesson.heaviest;
  if (most !== undefined) {
    const sum = lesson.heaviest.reduce((all, { share }) => all + share, 0);
    notes.push(
      `weight: ${formatPercent(sum)} in ${plural(lesson.heaviest.length, 'rollout')}, most in ${locatorText(placeOf(most.row))} (${formatPercent(most.share)}, advantage ${brief(most.advantage)} over ${formatCount(most.trained)} ${lesson.unit})`,
    );
  }
  return notes;
}

const sharesText = (by: Iterable<[string, number]>): string =>
  [...by]
    .sort((a, b) => b[1] - a[1])
    .map(([name, share]) => `${name} ${formatPercent(share)}`)
    .join(', ');

function trainedText({ trainedBy, unit }: Lesson): string {
  const total = [...trainedBy.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return 'unknown';
  return `${formatCount(total)} ${unit}: ${sharesText([...trainedBy].map(([role, count]) => [role, count / total]))}`;
}

/** Shares of the weight in the loss; also by history, if there are several kinds. */
const lossText = ({ roles, contexts }: NonNullable<Lesson['lossBy']>): string =>
  `${sharesText(roles)}${contexts.size > 1 ? `; by history ${sharesText(contexts)}` : ''}`;

function advantagesText({ advantages, known, zero, rollouts }: Lesson, { observed }: SignalAudit): string {
  if (advantages === null) return 'unknown: none are recorded, and no group of several has a score each';
  const from =
    advantages === 'recorded' ? `recorded in ${observed.advantages}` : "recomputed from the scores by GRPO's formula";
  const missing = rollouts === known ? '' : ` (${rollouts - known} unknown)`;
  return `${formatCount(zero)} of ${formatCount(known)}${missing} are zero; ${from}`;
}

function estimatorText({ best, groups, fitted }: NonNullable<SignalAudit['fit']>): string {
  if (groups === 0) return 'unknown: no group with recorded advantages has different scores';
  if (best.length === 0)
    return `unknown: none of verl's reproduces the recorded advantages (${plural(groups, 'group')})`;
  return `${best.join(' or ')} fits ${fitted} of ${plural(groups, 'group')}`;
}

const brief = (value: number): string => String(Number(value.toPrecision(4)));

/** The whole step as one object. */
export function signalJson(
  { audit, lesson, leftOut, placeOf }: SignalOfStep,
  { stream, step }: { stream: string; step: number | null },
): { [key: string]: Printable } {
  const { fit, observed } = audit;
  const locator = (row: number): string => locatorText(placeOf(row));
  return {
    stream,
    step,
    rollouts: lesson.rollouts,
    left_out: leftOut,
    trained: { unit: lesson.unit, by_role: Object.fromEntries(lesson.trainedBy) },
    loss: {
      by_role: lesson.lossBy === null ? null : Object.fromEntries(lesson.lossBy.roles),
      by_context: lesson.lossBy === null ? null : Object.fromEntries(lesson.lossBy.contexts),
    },
    advantages: { from: lesson.advantages, known: lesson.known, zero: lesson.zero },
    estimator: fit === null ? null : { names: fit.best, groups: fit.groups, fitted: fit.fitted },
    ratio: lesson.ratio === null ? null : { ...lesson.ratio },
    heaviest: lesson.heaviest.map(({ row, ...weight }) => ({ locator: locator(row), ...weight })),
    observed: { ...observed },
    findings: audit.findings.map(({ check, severity, rows, token, turn, message }) => ({
      check,
      says: SIGNAL_CHECKS[check].word,
      severity,
      locator: locatorText({ ...placeOf(rows[0] ?? 0), turn }),
      token,
      turn,
      message,
      rollouts: rows.map(locator),
    })),
  };
}
