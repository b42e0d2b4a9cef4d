import { basename } from 'node:path';
import { compareRuns, type RunPair } from '../../../analysis/compare/runs.ts';
import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { runsReport } from '../../../analysis/report/runs.ts';
import type { Place } from '../../../core/dump/dump.ts';
import { formatPercent } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import type { State } from '../state/state.ts';
import { promptText } from './prompt-text.ts';
import { reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

/** The open run and another one, joined by prompt. Enter opens a rollout of each, side by side. */
export function runsPage(
  { path }: SubjectOf<'runs'>,
  sort: PageSort | null,
  facts: FactRows,
  state: State,
  data: Store,
): Page {
  const other = data.otherRuns.of(path, state);
  const name = basename(path);
  if (other.problem !== null) return { ...stillWorking(''), title: sanitiseLine(`${name}: ${other.problem}`) };
  if (other.facts === null)
    return { ...stillWorking(sanitiseLine(`prompts of ${name}`)), note: `${formatPercent(other.share)} known` };
  const second = other.facts;
  const pairs = data.workedOut.of(second, `runs ${facts.length}`, (rest) => compareRuns(facts, second, { rest }));
  if (pairs === null) return stillWorking('prompts that both have', data.workedOut.note);
  return reportPage(runsReport(['this run', name], [facts, second], pairs), {
    sort,
    note: data.facts.note,
    promptOf: (place) => promptText(place, data),
    open: (pair) => {
      const [a, b] = runPlaces(pair, facts, second);
      if (a === null) return null;
      if (b === null) return { type: 'page-read', place: a, turn: null };
      return { type: 'page-open', subject: { kind: 'compare', a, b } };
    },
  });
}

/** A rollout of each run that shows the change: the worst of the losing one, the best of the winning one. */
function runPlaces({ a, b, outcome }: RunPair, first: FactRows, second: FactRows): [Place | null, Place | null] {
  const [rowA, rowB] =
    outcome === 'won' ? [a?.worst, b?.best] : outcome === 'lost' ? [a?.best, b?.worst] : [a?.row, b?.row];
  return [rowA === undefined ? null : first.place(rowA), rowB === undefined ? null : second.place(rowB)];
}
