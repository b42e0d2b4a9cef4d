import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { wrappedLines } from '../../../core/text/wrap.ts';
import type { Data, Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSource } from '../rows/page-source.ts';
import type { PageState } from '../state/page.ts';
import { pageInSight } from '../state/panes.ts';
import type { State } from '../state/state.ts';
import { chartPage, chartsPage, histogramPage } from './charts.ts';
import { compactionPage, comparePage, treePage } from './compare.ts';
import { contextsPage, historyPage } from './contexts.ts';
import { errorsPage } from './errors.ts';
import { fileDiffPage, filePage, filesPage } from './files.ts';
import { groupPage } from './group.ts';
import { groupsPage } from './groups.ts';
import { hitsPage } from './hits.ts';
import { matrixPage } from './matrix.ts';
import { movedPage, movementPage } from './movement.ts';
import { runsPage } from './runs.ts';
import { setPage, setsPage } from './sets.ts';
import { signalPage } from './signal.ts';
import { stepTimesPage, timesPage } from './times.ts';
import { triagePage } from './triage.ts';
import { underWayPage } from './under-way.ts';
import { stillWorking } from './waiting-page.ts';

/** A record that the page shows is long and still being read. */
function isReading(subject: PageState['subject'], data: Data): boolean {
  switch (subject.kind) {
    case 'contexts':
    case 'compaction':
    case 'history':
    case 'files':
    case 'file':
    case 'file-diff':
    case 'times':
      return data.record(subject.place).isPending === true;
    case 'compare':
      return [subject.a, subject.b].some((place) => data.record(place).isPending === true);
    default:
      return false;
  }
}

/** A new kind of page needs a case here. */
function build({ subject, sort }: PageState, state: State, data: Store): Page {
  if (isReading(subject, data)) return stillWorking('what a long record holds');
  switch (subject.kind) {
    case 'contexts':
      return contextsPage(subject, sort, data);
    case 'compaction':
      return compactionPage(subject, data, state.columns);
    case 'history':
      return historyPage(subject, sort, data);
    case 'files':
      return filesPage(subject, data);
    case 'file':
      return filePage(subject, data);
    case 'file-diff':
      return fileDiffPage(subject, data);
    case 'times':
      return timesPage(subject, sort, data);
    case 'signal':
      return signalPage(subject, sort, data);
    case 'under-way':
      data.underWay.watch();
      return underWayPage(data.underWay, sort);
    case 'step-times':
      return stepTimesPage(subject, sort, state.columns);
    case 'tree':
      return treePage(subject, sort, data);
    case 'compare':
      return comparePage(subject, data, state.columns);
    case 'group':
      return groupPage(subject, sort, data);
    case 'groups':
      return ofAll(state, data, (facts) => groupsPage(subject, sort, facts, data));
    case 'matrix':
      return ofAll(state, data, (facts) => matrixPage(sort, facts, data));
    case 'charts':
      return ofAll(state, data, (facts) => chartsPage(sort, facts, data));
    case 'chart':
      return ofAll(state, data, (facts) =>
        chartPage(subject.name, sort, facts, data, { width: state.columns, height: data.geometry(state).bodyHeight }),
      );
    case 'histogram':
      return ofAll(state, data, (facts) => histogramPage(subject.name, sort, facts, data, state.columns));
    case 'movement':
      return ofAll(state, data, (facts) => movementPage(subject, sort, facts, data));
    case 'moved':
      return ofAll(state, data, (facts) => movedPage(subject.name, sort, facts, data));
    case 'hits':
      return hitsPage(subject, sort, state, data);
    case 'errors':
      return ofAll(state, data, (facts) => errorsPage(sort, facts, data));
    case 'runs':
      return ofAll(state, data, (facts) => runsPage(subject, sort, facts, state, data));
    case 'sets':
      return setsPage(state.sets, sort, data);
    case 'set':
      return setPage(subject, state.sets, sort, data);
    case 'triage':
      return ofAll(state, data, (facts) => triagePage(subject, sort, facts, data));
  }
}

/** A page of all rollouts, once their facts are known. */
function ofAll(state: State, data: Store, page: (facts: FactRows) => Page): Page {
  const facts = data.facts.of(state);
  return facts === null ? { ...READING, note: data.facts.note } : page(facts);
}

const READING: Omit<Page, 'note'> = {
  title: 'reading all rollouts',
  columns: [],
  length: 0,
  row: () => ({ cells: [] }),
  empty: 'it is shown once all are read, which continues behind the list; Esc goes back',
  sort: null,
};

/** The page with its lines above the table wrapped, so that nothing of them is cut off. */
function fitted(page: Page, columns: number, height: number): Page {
  if (page.head === undefined) return page;
  const lines = page.head.flatMap((line) => wrappedLines(line, columns - 1));
  return { ...page, head: lines.slice(0, Math.max(page.head.length, Math.floor(height / 2))) };
}

/** Most pages that one action needs: the current one, and its successors. */
const MOST_AT_ONCE = 4;

/**
 * The page on screen, and those that the current action asks for. A page is rebuilt when something it shows has changed: the dump, the
 * subject, the order, the filter, the size.
 */
export class Pages implements PageSource {
  /** The newest last. */
  #built: readonly { shown: ShownPage; page: Page }[] = [];

  changed(): void {
    this.#built = [];
  }

  settle(): void {
    this.#built = this.#built.slice(-1);
  }

  of(state: State, store: Store): Page | null {
    const known = this.peek(state, store);
    if (known !== undefined) return known;
    const inSight = pageInSight(state);
    if (inSight === null) return null;
    const page = fitted(build(inSight, state, store), state.columns, store.geometry(state).bodyHeight);
    this.#built = [...this.#built.slice(1 - MOST_AT_ONCE), { shown: shownPage(inSight, state, store), page }];
    return page;
  }

  peek(state: State, data: Data): Page | null | undefined {
    const inSight = pageInSight(state);
    if (inSight === null) return null;
    const wanted = shownPage(inSight, state, data);
    return this.#built.findLast(({ shown }) => isSamePage(shown, wanted))?.page;
  }
}

/** Everything a page is built from, besides the dump. */
const shownPage = ({ subject, sort }: PageState, state: State, data: Data) => ({
  subject,
  sort,
  filter: state.list.choice.filter,
  sets: state.sets.known,
  columns: state.columns,
  height: data.geometry(state).bodyHeight,
});
type ShownPage = ReturnType<typeof shownPage>;

const isSamePage = (a: ShownPage, b: ShownPage): boolean =>
  a.columns === b.columns &&
  a.height === b.height &&
  a.filter === b.filter &&
  a.sets === b.sets &&
  a.sort?.column === b.sort?.column &&
  a.sort?.descending === b.sort?.descending &&
  isEqualDeep(a.subject, b.subject);

/** Deep equality; files are compared by identity. */
function isEqualDeep(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const plain = [Object.prototype, Array.prototype];
  if (!plain.includes(Object.getPrototypeOf(a)) || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return (
    left.length === right.size && left.every(([name, value]) => right.has(name) && isEqualDeep(value, right.get(name)))
  );
}
