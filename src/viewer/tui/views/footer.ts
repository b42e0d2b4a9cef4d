import { ERROR_CHECKS } from '../../../core/rollout/checks.ts';
import { truncate } from '../../../core/text/fit.ts';
import { formatCount, formatPercent } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Edges, Piece } from '../../present/line.ts';
import { piecesWidth } from '../../present/line.ts';
import { maskShare, maskShort } from '../../present/mask-share.ts';
import { keyLabel } from '../keys/keymap.ts';
import { questionLines } from '../questions/question-lines.ts';
import type { KeyLabels } from '../rows/data.ts';
import { listWindow } from '../rows/list-window.ts';
import { searchPosition } from '../rows/search.ts';
import { viewport } from '../rows/viewport.ts';
import type { FindProgress } from '../state/find.ts';
import { filterText } from '../state/list.ts';
import { type KeyPane, pageInSight, paneOf } from '../state/panes.ts';
import type { State, StatusMessage } from '../state/state.ts';
import { editorFooter } from './editor.ts';
import { foundText } from './list-head.ts';
import { menuPieces } from './menu.ts';
import type { Scene } from './scene.ts';

/** Hints of each pane: commands whose keys are shown side by side, and a word for them. */
const HINTS: Record<KeyPane, readonly (readonly [ids: readonly string[], word: string])[]> = {
  list: [
    [['line.down', 'line.up'], 'sample'],
    [['open'], 'read'],
    [['filter'], 'filter'],
    [['sort'], 'sort'],
    [['step.previous', 'step.next'], 'step'],
    [['group'], 'group'],
    [['mark.row'], 'mark'],
    [['help'], 'help'],
    [['quit'], 'quit'],
  ],
  transcript: [
    [['turn.previous', 'turn.next'], 'turn'],
    [['sample.next', 'sample.previous'], 'sample'],
    [['error.next'], 'error'],
    [['step.previous', 'step.next'], 'step'],
    [['search'], 'search'],
    [['replay'], 'run again'],
    [['fork'], 'fork'],
    [['fold'], 'fold'],
    [['view.next'], 'view'],
    [['help'], 'help'],
    [['quit'], 'quit'],
  ],
  page: [
    [['line.down', 'line.up'], 'row'],
    [['column.previous', 'column.next'], 'column'],
    [['open'], 'open'],
    [['page.sort'], 'sort'],
    [['page.switch'], 'on/off'],
    [['back'], 'back'],
    [['help'], 'help'],
    [['quit'], 'quit'],
  ],
};

/** As many as fit; the one for the help always stays. */
function hintPieces(state: State, names: KeyLabels, hasErrors: boolean, room: number): Piece[] {
  const pane = paneOf(state);
  const hints = HINTS[pane].flatMap(([ids, word]) => {
    const keys = ids.flatMap((id) => names.keysOf(id, pane).slice(0, 1));
    if (keys.length === 0 || (word === 'error' && !hasErrors)) return [];
    const pieces: Piece[] = [
      ['accent', ` ${keys.map(keyLabel).join('/')}`],
      ['quiet', ` ${word} `],
    ];
    return [{ pieces, isHelp: word === 'help' }];
  });
  const help = hints.find(({ isHelp }) => isHelp);
  const stop: Piece[] = state.replay.isBusy
    ? [
        ['accent', ` ${names.label('cancel')}`],
        ['plain', ' stops what runs '],
      ]
    : [];
  let left = room - piecesWidth([...stop, ...(help?.pieces ?? [])]);
  const shown = hints.flatMap(({ pieces, isHelp }) => {
    if (isHelp) return pieces;
    left -= piecesWidth(pieces);
    return left >= 0 ? pieces : [];
  });
  return [...stop, ...shown];
}

/** The state of the screen, the position in the rollout, and how much of it is trained; `brief` omits the latter two. */
function positionPieces({ state, data }: Scene, wide: boolean, brief = false): Piece[] {
  const { cursor } = state.list;
  const pieces: Piece[] = [];
  const page = pageInSight(state);
  if (page !== null) {
    const { length } = data.page(state)!;
    return length === 0 ? pieces : [['quiet', `${formatCount(page.row + 1)}/${formatCount(length)} `]];
  }
  if (cursor === null) return pieces;
  const { filter, sort } = state.list.choice;
  if (state.focus === 'list') {
    const { here } = listWindow(state, data);
    const away = filter === null ? data.dump.files.filter(({ isAway }) => isAway).length : 0;
    const notHere = away === 0 ? '' : `, ${formatCount(away)} away`;
    pieces.push(['quiet', `${formatCount(here + 1)}/${formatCount(data.rows(state).length)}${notHere}   `]);
  }
  const filterProgress = data.filterProgress(state);
  if (sort !== null && filterProgress?.isWhole === false) {
    const share = filterProgress.total === 0 ? 0 : filterProgress.looked / filterProgress.total;
    const how = filterProgress.waitsForFacts ? `reading ${formatPercent(share)}` : `sorting ${formatPercent(share)}`;
    pieces.push(['accent', `${how} `], ['quiet', 'Esc cancels   ']);
  }
  // A list that is not visible shows its filter and order here.
  if (data.geometry(state).listWidth === 0) {
    if (filter !== null)
      pieces.push(
        ['accent', '&'],
        ['strong', `${truncate(sanitiseLine(filterText(filter)), 24)} `],
        ['quiet', `${foundText(state, data)}   `],
      );
    if (sort !== null)
      pieces.push(['accent', `${truncate(sanitiseLine(sort.key), 16)}${sort.descending ? '▼' : '▲'}   `]);
  }
  if (state.mouse) pieces.push(['quiet', `mouse on, ${data.keys.label('mouse')} off   `]);
  const view = viewport(state, data);
  const rollout = data.record(cursor).rollout;
  if (view === null || rollout === null) return pieces;
  const hit = searchPosition(state, data);
  if (hit !== null) pieces.push(['match', ` ${hit} `], ['plain', '  ']);
  if (brief) return pieces;
  if (view.turn !== null) {
    const isByTurn = state.display.view === 'chat' || state.display.view === 'raw';
    pieces.push(
      ['plain', isByTurn ? `t${view.turn}` : state.display.view],
      ['quiet', isByTurn ? `/t${view.layout.lastTurn}   ` : ` · ${view.turn + 1}/${view.layout.lastTurn + 1}   `],
    );
  }
  const share = wide && rollout.lossMask !== null ? `mask ${maskShare(rollout.lossMask)}` : maskShort(rollout.lossMask);
  // Usually the text determines all of its turns, so mention it only if there is room.
  const { reading } = rollout;
  if (reading !== undefined && (wide || reading !== 'exact'))
    pieces.push([reading === 'exact' ? 'quiet' : 'unknown', `roles ${reading}`], ['quiet', ' · ']);
  pieces.push(['quiet', share], ['plain', ' ']);
  return pieces;
}

const messagePieces = ({ text, kind }: StatusMessage): Piece[] => [
  ['plain', ' '],
  [kind === 'error' ? 'error' : 'plain', text],
];

const alarmPieces = ({ text, before }: NonNullable<State['alarm']>): Piece[] => [
  ['plain', ' '],
  ['warning', text],
  ['quiet', before === 0 ? '' : `  and ${formatCount(before)} before it`],
];

/** Progress of a search over many records. */
const findPieces = ({ what, done, total }: FindProgress, cancel: string): Piece[] => [
  ['plain', ` looking for ${what} … ${formatCount(done)} of ${formatCount(total)} rollouts`],
  ['quiet', `  ${cancel} ends it`],
];

/** The line at the foot of the screen, or those of a question. */
export function footOf(scene: Scene, width: number): Edges[] {
  const { state, data } = scene;
  const pending = state.keys.typed;
  const menu = menuPieces(state, data, width);
  if (menu !== null) return [{ left: menu, right: [] }];
  const { question } = state.replay;
  if (question !== null) {
    const { what, keys } = questionLines(question, width, state.rows);
    const { editor, message } = state;
    const instead = editor !== null ? editorFooter(editor) : message !== null ? messagePieces(message) : null;
    const below = instead === null ? keys : keys.map((_, i) => (i === 0 ? instead : []));
    return [...what, ...below].map((left) => ({ left, right: [] }));
  }
  let right = positionPieces(scene, width >= 120);
  const room = width - piecesWidth(right) - 2;
  const hasErrors = data.dump.files.some((file) => file.index.hasAny(ERROR_CHECKS));
  let left = hintPieces(state, data.keys, hasErrors, room);
  if (state.message !== null) left = messagePieces(state.message);
  if (state.find !== null) left = findPieces(state.find, data.keys.label('cancel'));
  if (state.alarm !== null) left = alarmPieces(state.alarm);
  if (pending !== '')
    left = [
      ['plain', ' '],
      ['accent', keyLabel(pending)],
    ];
  // A message matters more than the position, which returns with the next key.
  const isSaid = state.message !== null || state.alarm !== null || state.find !== null;
  if (isSaid && pending === '' && piecesWidth(left) + 1 + piecesWidth(right) > width)
    right = positionPieces(scene, false, true);
  return [{ left, right }];
}
