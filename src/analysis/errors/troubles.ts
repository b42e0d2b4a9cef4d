import { LONG_RECORD } from '../../core/dump/long-record.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import type { RolloutPlace } from '../report/report.ts';
import type { Rest } from '../rest.ts';
import { type CallTrouble, type ErrorRow, ErrorTable, type ToolRow } from './error-table.ts';

/** Something that went wrong with the calls of a tool, or a way in which rollouts ended. */
export interface Trouble {
  /** null: the end of a rollout. */
  tool: string | null;
  kind: string;
  fault: string | null;
  exception: string | null;
  count: number;
  /** All calls of the tool in these steps, or all rollouts; null if not all were read. */
  of: number | null;
  /** The first and the last step; null if they are unknown. */
  steps: readonly [number, number] | null;
  /** How many there were in each step of the run; empty for a row of one step. */
  bySteps: readonly number[];
  first: RolloutPlace;
  /** A filter for these rollouts; null if no filter can name them. */
  filter: string | null;
  /** The text of a tool that gives one answer to every call. */
  answer?: string;
}

export interface Troubles {
  rows: readonly Trouble[];
  tools: readonly ToolRow<RolloutPlace>[];
  /** How the rollouts ended. */
  endings: readonly Trouble[];
  calls: number;
  /** Rollouts whose calls were not examined because they are too long. */
  unread: number;
}

interface TroubleOptions {
  /** One row per step, else one for all steps together. */
  byStep?: boolean;
  /** If more rollouts have calls, only those with an error are read, and shares are unknown. */
  most?: number;
  /** Rollouts that take too long to read between two keys are counted, and not read. */
  skipsLong?: boolean;
  rest?: Rest;
}

/** A turn of a row of facts. */
interface RowTurn {
  row: number;
  turn: number;
}

/** All calls as they were counted, which is what takes long. */
interface TroubleCount {
  rows: ErrorRow<RowTurn>[];
  tools: ToolRow<RowTurn>[];
  /** By tool, in all steps. */
  callsOf: ReadonlyMap<string, number>;
  calls: number;
  unread: number;
}

/** Failed tool calls, and how rollouts ended. Only rollouts with calls are read. */
export async function troublesOf(
  facts: FactRows,
  { byStep = false, most = Number.POSITIVE_INFINITY, skipsLong = false, rest }: TroubleOptions = {},
): Promise<Troubles> {
  const steps = facts.numbers('step');
  const all = [...new Set(steps)].filter((step) => !Number.isNaN(step)).sort((a, b) => a - b);
  const calls = facts.numbers('tool_calls');
  const isWhole = calls.reduce((sum, count) => sum + Number(count > 0), 0) <= most;
  const counted = await facts.remember(`errors ${isWhole} ${skipsLong}`, () =>
    countedCalls(facts, isWhole, skipsLong, rest),
  );
  const placed = (found: RowTurn): RolloutPlace => ({ ...facts.place(found.row), turn: found.turn });
  const found = counted.rows.map((row) => ({ ...row, first: placed(row.first) }));
  const rows = byStep
    ? found.map((row) => troubleOf([row], row.calls, []))
    : mergedRows(found).map((own) =>
        troubleOf(own, isWhole ? (counted.callsOf.get(own[0]?.tool ?? '') ?? 0) : null, all),
      );
  if (!byStep) rows.sort((a, b) => b.count - a.count);
  const tools = counted.tools.map((tool) => ({ ...tool, first: tool.first === null ? null : placed(tool.first) }));
  return { rows, tools, endings: endingsOf(facts, steps, all), calls: counted.calls, unread: counted.unread };
}

async function countedCalls(
  facts: FactRows,
  isWhole: boolean,
  skipsLong: boolean,
  rest: Rest | undefined,
): Promise<TroubleCount> {
  const steps = facts.numbers('step');
  const table = new ErrorTable<RowTurn>();
  const [calls, errors] = [facts.numbers('tool_calls'), facts.numbers('tool_errors')];
  let unread = 0;
  for (let row = 0; row < facts.length; row++) {
    const hasError = (errors[row] ?? 0) > 0 || facts.has(row, 'tool_error') || facts.has(row, 'tool_cut');
    if (!hasError && !(isWhole && (calls[row] ?? 0) > 0)) continue;
    const { file, record } = facts.place(row);
    if (skipsLong && file.index.length(record) > LONG_RECORD) {
      unread++;
      continue;
    }
    const { rollout } = file.read(record);
    const step = steps[row] ?? Number.NaN;
    if (rollout !== null) table.add(rollout, Number.isNaN(step) ? null : step, (turn) => ({ row, turn }));
    await rest?.(row, facts.length);
  }
  const rows = table.rows();
  const callsOf = new Map(rows.map(({ tool }) => [tool, table.callsOf(tool)]));
  return { rows, tools: table.tools(), callsOf, calls: table.calls, unread };
}

/** The rows of a tool and a kind in all steps. */
function mergedRows(rows: readonly ErrorRow<RolloutPlace>[]): ErrorRow<RolloutPlace>[][] {
  const merged = new Map<string, ErrorRow<RolloutPlace>[]>();
  for (const row of rows) {
    const key = [row.tool, row.kind, row.fault, row.exception, row.answer].join('\0');
    merged.set(key, [...(merged.get(key) ?? []), row]);
  }
  return [...merged.values()];
}

function troubleOf(rows: readonly ErrorRow<RolloutPlace>[], of: number | null, all: readonly number[]): Trouble {
  const [row] = rows;
  if (row === undefined) throw new RangeError('a trouble has a row');
  const { tool, kind, fault, exception, first } = row;
  const counts = new Map(rows.map(({ step, count }) => [step, count]));
  const count = rows.reduce((sum, one) => sum + one.count, 0);
  const { answer } = row;
  const trouble = {
    tool,
    kind,
    fault,
    exception,
    count,
    of,
    first,
    ...overSteps(counts, all),
    filter: troubleFilter(kind),
  };
  return answer === undefined ? trouble : { ...trouble, answer };
}

function overSteps(
  counts: ReadonlyMap<number | null, number>,
  all: readonly number[],
): Pick<Trouble, 'steps' | 'bySteps'> {
  const known = [...counts.keys()].filter((step) => step !== null).sort((a, b) => a - b);
  const [first, last] = [known[0], known.at(-1)];
  return {
    steps: first === undefined || last === undefined ? null : [first, last],
    bySteps: all.map((step) => counts.get(step) ?? 0),
  };
}

/** Empty and constant results are not findings, so no filter can select them. */
const troubleFilter = (kind: CallTrouble): string | null =>
  kind === 'empty' || kind === 'one_answer' ? null : kind === 'cut' ? 'finding:tool_cut' : `error.kind == "${kind}"`;

function endingsOf(facts: FactRows, steps: Float64Array, all: readonly number[]): Trouble[] {
  const words = facts.words('ended');
  const known = words.reduce((sum, word) => sum + Number(word !== null), 0);
  const rowsOf = new Map<string, number[]>();
  for (const [row, word] of words.entries()) {
    if (word === null) continue;
    const rows = rowsOf.get(word);
    if (rows === undefined) rowsOf.set(word, [row]);
    else rows.push(row);
  }
  return [...rowsOf]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([word, rows]): Trouble => {
      const counts = new Map<number | null, number>();
      for (const row of rows) {
        const step = steps[row] ?? Number.NaN;
        const key = Number.isNaN(step) ? null : step;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return {
        tool: null,
        kind: word,
        fault: null,
        exception: null,
        count: rows.length,
        of: known,
        ...overSteps(counts, all),
        first: facts.place(rows[0] ?? 0),
        filter: `ended == "${word}"`,
      };
    });
}
