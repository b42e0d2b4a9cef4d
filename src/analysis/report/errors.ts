import { formatCount, plural } from '../../core/text/numbers.ts';
import type { CallTrouble, ToolRow } from '../errors/error-table.ts';
import type { Trouble, Troubles } from '../errors/troubles.ts';
import { ownColumn } from './columns.ts';
import type { Report, ReportColumn, RolloutPlace } from './report.ts';

const stepsText = ([first, last]: readonly [number, number]): string =>
  first === last ? String(first) : `${first}..${last}`;

const COUNT: ReportColumn<Trouble> = ownColumn('count', 'count', 'how many');

const COLUMNS: readonly ReportColumn<Trouble>[] = [
  {
    key: 'tool',
    title: 'tool',
    type: 'text',
    meaning: 'tool that was called; "ended" for the end of a rollout',
    identifies: true,
    grows: true,
    width: 18,
    value: ({ tool }) => tool ?? 'ended',
  },
  ownColumn('kind', 'text', 'kind of error; empty and cut results, and one answer to all calls, are not errors', {
    identifies: true,
    width: 15,
  }),
  ownColumn('exception', 'text', 'class of the exception in the result', { width: 16 }),
  ownColumn('fault', 'text', 'who caused it: model, tool, world (infrastructure) or ours', { width: 5 }),
  COUNT,
  { key: 'calls', title: 'of', type: 'count', meaning: 'calls of the tool, or rollouts', value: ({ of }) => of },
  {
    key: 'share',
    title: 'share',
    type: 'share',
    meaning: 'count among these calls, or rollouts',
    value: ({ count, of }) => (of === null || of === 0 ? null : count / of),
  },
];

const STEP: ReportColumn<Trouble> = {
  key: 'step',
  title: 'step',
  type: 'step',
  meaning: 'training step',
  identifies: true,
  value: ({ steps }) => steps?.[0] ?? null,
};

const STEPS: readonly ReportColumn<Trouble>[] = [
  {
    key: 'steps',
    title: 'steps',
    type: 'text',
    meaning: 'first and last step',
    width: 9,
    value: ({ steps }) => (steps === null ? null : stepsText(steps)),
  },
  { key: 'by_step', title: 'by step', type: 'curve', meaning: 'count in each step', value: ({ bySteps }) => bySteps },
];

const FIRST: ReportColumn<Trouble> = ownColumn('first', 'rollout', 'first place where it happened');

const QUIET: readonly string[] = ['empty', 'cut'] satisfies CallTrouble[];

/** A sentence for each tool and the text that it gives as its answer to everything. */
function notesOf(constant: readonly Trouble[]): string[] {
  const said = constant.map(({ tool, answer = '' }) => {
    const shown = answer.length > 60 ? `${answer.slice(0, 60)}…` : answer;
    return `${tool} gives one answer to different calls: ${JSON.stringify(shown)}`;
  });
  return [...new Set(said)];
}

/** Failed calls by tool and kind. @param byStep the rows are of one step each */
export function errorsReport({ rows, calls, unread }: Troubles, byStep: boolean): Report<Trouble> {
  const count = (isQuiet: boolean): number =>
    rows.reduce(
      (sum, row) => sum + (row.answer === undefined && QUIET.includes(row.kind) === isQuiet ? row.count : 0),
      0,
    );
  const quiet = count(true);
  const constant = rows.filter(({ answer }) => answer !== undefined);
  return {
    title: `${plural(count(false), 'call')} failed${quiet === 0 ? '' : `, ${formatCount(quiet)} came back empty or cut`}`,
    columns: byStep ? [...COLUMNS.slice(0, 1), STEP, ...COLUMNS.slice(1), FIRST] : [...COLUMNS, ...STEPS, FIRST],
    rows,
    ...(byStep ? {} : { details: () => ({ step: null }) }),
    notes: notesOf(constant),
    leftOut: unread === 0 ? [] : [`${plural(unread, 'rollout')} not read: too long`],
    empty: calls === 0 ? 'no call of a tool is recorded' : 'no call failed',
  };
}

/** Failed calls, then how the rollouts ended. */
export function failuresReport(troubles: Troubles, rollouts: number): Report<Trouble> {
  const report = errorsReport(troubles, false);
  return {
    ...report,
    title: `${report.title}; how ${plural(rollouts, 'rollout')} ended`,
    rows: [...troubles.rows, ...troubles.endings],
    empty: 'no rollouts',
  };
}

type Tool = ToolRow<RolloutPlace>;

const faultColumn = (fault: keyof Tool['faults'], title: string, meaning: string): ReportColumn<Tool> => ({
  key: `faults.${fault}`,
  title,
  type: 'count',
  meaning,
  value: ({ faults }) => faults[fault],
});

/** A row for each tool, whether its calls failed or not. */
export function toolsReport(tools: readonly Tool[]): Report<Tool> {
  return {
    title: plural(tools.length, 'tool'),
    columns: [
      ownColumn('tool', 'text', 'tool that was called', { identifies: true }),
      ownColumn('rollouts', 'count', 'rollouts that called it'),
      ownColumn('calls', 'count', 'calls'),
      ownColumn('failed', 'count', 'calls that failed'),
      faultColumn('model', 'by model', 'failures that the model caused'),
      faultColumn('tool', 'by tool', 'failures that the tool caused'),
      faultColumn('world', 'by world', 'failures that infrastructure caused'),
      faultColumn('ours', 'by us', 'failures that this program caused'),
      faultColumn('unknown', 'unknown', 'failures without a known cause'),
      ownColumn('empty', 'count', 'results without text'),
      ownColumn('cut', 'count', 'results that were cut'),
      {
        key: 'kinds.most',
        title: 'most',
        type: 'text',
        meaning: 'most frequent kind of failure',
        value: ({ kinds }) => Object.keys(kinds)[0] ?? null,
      },
      ownColumn('first', 'rollout', 'first failure'),
    ],
    rows: tools,
    details: ({ faults, kinds }) => ({ faults: { ...faults }, kinds: { ...kinds } }),
    empty: 'no call of a tool is recorded',
  };
}
