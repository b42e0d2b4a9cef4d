import { LONG_RECORD } from '../../core/dump/long-record.ts';
import { ErrorTable } from '../errors/error-table.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import type { Movement } from '../movement/movement.ts';
import { WORDLESS } from '../movement/said.ts';

/** Rollouts that are read to find the name of the tool. */
const READ = 40;

/** The tool that most results of an incident come from; null if no tool dominates. */
export function failingTool(facts: Pick<FactRows, 'numbers' | 'place'>, own: readonly Movement[]): string | null {
  const errors = facts.numbers('tool_errors');
  const rows = [...new Set(own.flatMap(({ said, examples }) => [...examples.after, ...(said?.rows ?? [])]))];
  // Results that are no errors are matched to their tool by the new words in them, whatever else failed beside them.
  const areErrors = own.some(({ said }) => said === undefined);
  const failed = areErrors ? rows.filter((row) => (errors[row] ?? 0) > 0) : [];
  const table = new ErrorTable<null>();
  const said = own.find((movement) => movement.said?.by === 'tools')?.said;
  const counts = new Map<string, number>();
  for (const row of (failed.length > 0 ? failed : rows).slice(0, READ)) {
    const { file, record } = facts.place(row);
    if (file.index.length(record) > LONG_RECORD) continue;
    const { rollout } = file.read(record);
    if (rollout === null) continue;
    if (failed.length > 0) table.add(rollout, null, () => null);
    else if (said !== undefined)
      for (const { toolCalls } of rollout.turns)
        for (const { name, resultTurn } of toolCalls) {
          const text = resultTurn === null ? '' : (rollout.turns[resultTurn]?.text ?? '');
          if (name !== null && resultTurn !== null && saysIt(text, said.phrase))
            counts.set(name, (counts.get(name) ?? 0) + 1);
        }
  }
  for (const { tool, failed: count } of table.tools()) if (count > 0) counts.set(tool, (counts.get(tool) ?? 0) + count);
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most !== undefined && most[0] !== '?' && most[1] > all / 2 ? most[0] : null;
}

const saysIt = (text: string, phrase: string): boolean =>
  phrase === WORDLESS ? !/[\p{L}\p{N}]/u.test(text) : text.toLowerCase().includes(phrase.split(' ')[0] ?? '');
