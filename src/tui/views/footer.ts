import type { Piece } from '../../present/line.ts';
import { piecesWidth, renderEdges, renderPieces } from '../../present/line.ts';
import { maskShare, maskShort } from '../../present/mask-share.ts';
import { formatCount } from '../../present/numbers.ts';
import { type Keymap, keyLabel } from '../keymap/keymap.ts';
import { listWindow } from '../list-window.ts';
import { questionLines } from '../replay/question-text.ts';
import { viewport } from '../scroll.ts';
import { searchPosition } from '../search/search.ts';
import type { Message, State } from '../state.ts';
import type { Scene, View } from './view.ts';

/** What is hinted where: commands whose keys stand side by side, and the word for them. */
const HINTS: Record<'list' | 'transcript', readonly (readonly [ids: readonly string[], word: string])[]> = {
  list: [
    [['line.down', 'line.up'], 'sample'],
    [['open'], 'read'],
    [['step.previous', 'step.next'], 'step'],
    [['help'], 'help'],
    [['quit'], 'quit'],
  ],
  transcript: [
    [['turn.previous', 'turn.next'], 'turn'],
    [['sample.next', 'sample.previous'], 'sample'],
    [['step.previous', 'step.next'], 'step'],
    [['fold'], 'fold'],
    [['replay'], 'run again'],
    [['view.next'], 'view'],
    [['search'], 'search'],
    [['help'], 'help'],
    [['quit'], 'quit'],
  ],
};

function hintPieces(keymap: Keymap, focus: 'list' | 'transcript', room: number): Piece[] {
  const pieces: Piece[] = [];
  for (const [ids, word] of HINTS[focus]) {
    const keys = ids.map((id) => keymap.keysOf(id)[0]).filter((key) => key !== undefined);
    if (keys.length === 0) continue;
    const hint: Piece[] = [
      ['plain', pieces.length === 0 ? ' ' : '  '],
      ['accent', keys.map(keyLabel).join('/')],
      ['quiet', ` ${word}`],
    ];
    if (piecesWidth(pieces) + piecesWidth(hint) > room) break;
    pieces.push(...hint);
  }
  return pieces;
}

/** Where in the rollout, and how much of it is trained. */
function positionPieces({ state, world }: Scene, wide: boolean): Piece[] {
  const { cursor } = state.list;
  const pieces: Piece[] = [];
  if (cursor === null) return pieces;
  if (state.focus === 'list') {
    const { here } = listWindow(state, world);
    pieces.push(['quiet', `${formatCount(here + 1)}/${formatCount(world.rows(state).length)}   `]);
  }
  const view = viewport(state, world);
  const rollout = world.record(cursor).rollout;
  if (view === null || rollout === null) return pieces;
  const hit = searchPosition(state, world);
  if (hit !== null) pieces.push(['match', ` ${hit} `], ['plain', '  ']);
  if (view.turn !== null) {
    pieces.push(
      ['plain', state.display.view === 'chat' || state.display.view === 'raw' ? `t${view.turn}` : state.display.view],
      ['quiet', ` · ${view.turn + 1}/${view.layout.lastTurn + 1}   `],
    );
  }
  const share = wide && rollout.lossMask !== null ? `trained ${maskShare(rollout.lossMask)}` : maskShort(rollout);
  pieces.push(['quiet', share], ['plain', ' ']);
  return pieces;
}

const messagePieces = ({ text, kind }: Message): Piece[] => [
  ['plain', ' '],
  [kind === 'error' ? 'error' : 'plain', text],
];

const alarmPieces = ({ text, before }: NonNullable<State['alarm']>): Piece[] => [
  ['plain', ' '],
  ['warning', text],
  ['quiet', before === 0 ? '' : `  and ${formatCount(before)} before it`],
];

export const footerView =
  (keymap: Keymap): View =>
  (scene, width) => {
    const { state, theme, pending } = scene;
    const { question } = state.replay;
    if (question !== null) {
      const [what, keys] = questionLines(question);
      const below = state.message === null ? keys : messagePieces(state.message);
      return [what, below].map((pieces) => renderPieces(theme, pieces, width));
    }
    const right = positionPieces(scene, width >= 120);
    const room = width - piecesWidth(right) - 2;
    let left = hintPieces(keymap, state.focus, room);
    if (state.message !== null) left = messagePieces(state.message);
    if (state.alarm !== null) left = alarmPieces(state.alarm);
    if (pending !== '')
      left = [
        ['plain', ' '],
        ['accent', keyLabel(pending)],
      ];
    return [renderEdges(theme, left, right, width)];
  };
