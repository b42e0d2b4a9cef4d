import { type PageState, pageInSight } from '../state/page.ts';
import type { State } from '../state/state.ts';
import type { Data } from './data.ts';
import type { Page } from './page.ts';
import { contextsPage, historyPage } from './page-contexts.ts';
import { groupPage } from './page-group.ts';
import { stepTimesPage, timesPage } from './page-times.ts';
import { underWayPage } from './page-under-way.ts';

/** A new kind of page is a case here. */
function build({ subject, sort }: PageState, data: Data): Page {
  switch (subject.kind) {
    case 'contexts':
      return contextsPage(subject, data);
    case 'history':
      return historyPage(subject, data);
    case 'times':
      return timesPage(subject, sort, data);
    case 'under-way':
      return underWayPage(data.underWay.states, sort);
    case 'step-times':
      return stepTimesPage(subject, sort);
    case 'group':
      return groupPage(subject, sort, data);
  }
}

/** The page in sight. It is built again when what it shows has changed: the dump, the subject, the order. */
export class Pages {
  #built: { subject: PageState['subject']; sort: PageState['sort']; page: Page } | null = null;

  /** More is known than before. */
  changed(): void {
    this.#built = null;
  }

  of(state: State, data: Data): Page | null {
    const shown = pageInSight(state);
    if (shown === null) return null;
    const { subject, sort } = shown;
    if (this.#built?.subject !== subject || this.#built.sort !== sort)
      this.#built = { subject, sort, page: build(shown, data) };
    return this.#built.page;
  }
}
