import { itemAt } from '../../../core/lists/at.ts';
import { surprisingTokens } from '../../../core/rollout/token-table.ts';
import { goToTurn, viewport } from '../rows/viewport.ts';
import { isByTurn, type KeptViews, VIEWS } from '../state/display.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import { key, type SomeHandlers, saying } from './result.ts';

const WORDS = {
  chat: 'chat',
  raw: 'raw text, as it was written',
  json: 'JSON, x folds',
  fields: 'fields, - hides one',
  details: 'details: what is known, and where it comes from',
  tokens: 'tokens, turn borders first',
  mapping: 'field mapping: which key became which field',
} as const;

/** The farthest that lines scroll to the right. */
const MAX_LEFT = 100_000;

/** The position in this view, along with those in the record's other views. */
function keptViews(state: State): KeptViews {
  const { view, kept } = state.display;
  const place = state.list.cursor;
  const before = kept !== null && samePlace(kept.place, place) ? kept : { views: {}, turn: null };
  const views = { ...before.views, [view]: state.transcript };
  return { place, views, turn: isByTurn(view) ? state.transcript.turn : before.turn };
}

export const displayHandlers = {
  'view-next': (state, { by }, data) => {
    const at = (VIEWS.indexOf(state.display.view) + by + VIEWS.length * 8) % VIEWS.length;
    const view = itemAt(VIEWS, at);
    const kept = keptViews(state);
    const display = { ...state.display, view, left: 0, kept };
    const next: State = { ...state, focus: 'transcript', display, transcript: kept.views[view] ?? opened };
    // The turn being read stays the same across views.
    const moves = isByTurn(view) && kept.turn !== null && next.transcript.turn !== kept.turn;
    const port = moves ? viewport(next, data) : null;
    return saying(port === null ? next : goToTurn(next, port, kept.turn!), WORDS[view]);
  },

  view: (state, { view }) => ({
    ...state,
    focus: 'transcript',
    display: { ...state.display, view, left: 0 },
    transcript: opened,
  }),

  surprise: (state, { by }, data) => {
    const { cursor } = state.list;
    const rollout = cursor === null ? null : data.record(cursor).rollout;
    const odd = rollout === null ? null : surprisingTokens(rollout);
    if (odd === null) return saying(state, 'no token ids were recorded here');
    const isOpen = state.display.view === 'tokens';
    const at = isOpen ? (state.transcript.turn ?? -1) : -1;
    const found = by > 0 ? odd.filter((index) => index > at)[by - 1] : odd.filter((index) => index < at).at(by);
    if (found === undefined) return saying(state, `no ${by > 0 ? 'later' : 'earlier'} token of less than 5 %`);
    const next: State = isOpen
      ? state
      : {
          ...state,
          focus: 'transcript',
          display: { ...state.display, view: 'tokens', left: 0, kept: keptViews(state) },
          transcript: opened,
        };
    const view = viewport(next, data);
    return view === null ? next : saying(goToTurn(next, view, found), `token ${found}`);
  },

  wrap: (state, _action, data) => {
    const view = viewport(state, data);
    const top = view?.layout.anchor(view.top) ?? null;
    const wrap = !state.display.wrap;
    const next: State = { ...state, display: { ...state.display, wrap, left: 0 } };
    const words = wrap
      ? 'lines are wrapped'
      : `lines are not wrapped; ${key(state, data, 'right')} and ${key(state, data, 'left')} scroll sideways`;
    return saying({ ...next, transcript: { ...state.transcript, top, turn: view?.turn ?? null } }, words);
  },

  sideways: (state, { by }, data) => {
    if (state.display.wrap) return saying(state, `${key(state, data, 'wrap')} turns wrapping off first`);
    const half = Math.max(8, data.geometry(state).transcriptWidth >> 1);
    const left = Math.max(0, Math.min(MAX_LEFT, state.display.left + by * half));
    return { ...state, display: { ...state.display, left } };
  },

  'field-hide': (state, _action, data) => {
    const view = viewport(state, data);
    const record = state.list.cursor === null ? null : data.record(state.list.cursor);
    if (state.display.view !== 'fields' || view === null || record?.rollout == null) {
      return saying(state, `fields are hidden in the view of fields; ${key(state, data, 'view.next')} goes there`);
    }
    const block = view.layout.at(view.layout.rowOfTurn(view.turn ?? 0)).block;
    if (!block.id.startsWith('field.')) return saying(state, 'no field here');
    const name = block.id.slice('field.'.length).replaceAll('\u0001', '.');
    const hidden = [...state.display.hidden, name];
    return saying(
      { ...state, display: { ...state.display, hidden } },
      `${block.label?.trim() ?? name} is hidden, ${key(state, data, 'field.show')} shows it`,
    );
  },

  'field-show-all': (state) =>
    state.display.hidden.length === 0
      ? saying(state, 'no field is hidden')
      : { ...state, display: { ...state.display, hidden: [] } },
} satisfies SomeHandlers;
