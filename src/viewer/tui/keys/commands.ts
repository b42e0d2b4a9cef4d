import type { Action, ScrollUnit } from '../state/action.ts';
import type { LandmarkName } from '../state/find.ts';
import type { Category, Command } from './command.ts';
import {
  firstReason,
  linesWrapped,
  noBranches,
  noCallHere,
  noCalls,
  noExec,
  noField,
  noFold,
  noHidden,
  noMarks,
  noNewerPlace,
  noOlderPlace,
  noOtherRow,
  noOtherStep,
  noPage,
  noRecord,
  noRollout,
  noSearch,
  noSort,
  noTokens,
  noTurns,
  nothingRun,
  nothingToOpen,
  nothingToRedo,
  nothingToUndo,
  notMarked,
  type Reason,
} from './reasons.ts';

/** @param action constant, or built from the number typed before the key */
const one = (
  category: Category,
  id: string,
  keys: readonly string[],
  title: string,
  action: Action | ((count: number | null) => Action),
  disabled?: Reason,
): Command => ({
  id,
  category,
  keys,
  title,
  action: typeof action === 'function' ? action : () => action,
  ...(disabled === undefined ? {} : { disabled }),
});

type Pair<Value> = readonly [Value, Value];

/** A command and its opposite: `turn.next` and `turn.previous`, 'next turn' and 'previous turn'. */
function both(
  category: Category,
  [id, oppositeId]: Pair<string>,
  [keys, oppositeKeys]: Pair<readonly string[]>,
  [title, oppositeTitle]: Pair<string>,
  action: (by: number) => Action,
  disabled?: Reason,
  oppositeDisabled = disabled,
): Command[] {
  return [
    one(category, id, keys, title, (count) => action(count ?? 1), disabled),
    one(category, oppositeId, oppositeKeys, oppositeTitle, (count) => action(-(count ?? 1)), oppositeDisabled),
  ];
}

/** Marks commands that also work on pages. */
const onPage = (...commands: readonly Command[]): Command[] =>
  commands.map((command) => ({ ...command, onPage: true }));

/** The command with synonyms for the help search. */
const alias = (words: string, command: Command): Command => ({ ...command, words });

const next = (id: string): Pair<string> => [`${id}.next`, `${id}.previous`];
const nextTitle = (what: string): Pair<string> => [`next ${what}`, `previous ${what}`];

const landmark = (
  name: LandmarkName,
  keys: Pair<readonly string[]>,
  what: string,
  reason: Reason = noRecord,
): Command[] =>
  both('Find', next(name), keys, nextTitle(what), (by) => ({ type: 'landmark', landmark: name, by }), reason);

const scroll = (unit: ScrollUnit, keys: Pair<readonly string[]>, what: string): Command[] =>
  both('Move', [`${unit}.down`, `${unit}.up`], keys, [`down ${what}`, `up ${what}`], (by) => ({
    type: 'scroll',
    by,
    unit,
  }));

/** The one table of commands, in the order of the help. Turns, samples and steps are three nested axes: h/l within J/K within H/L. */
export const COMMANDS: readonly Command[] = [
  ...both(
    'Move',
    next('turn'),
    [
      ['l', 'right'],
      ['h', 'left'],
    ],
    nextTitle('turn'),
    (by) => ({ type: 'turn', by }),
    noTurns,
  ),
  one('Move', 'turn.first', ['0'], 'first turn', { type: 'turn-edge', edge: 'first' }, noTurns),
  one('Move', 'turn.last', ['$'], 'last turn', { type: 'turn-edge', edge: 'last' }, noTurns),
  ...onPage(
    ...scroll(
      'line',
      [
        ['j', 'down', 'ctrl+e'],
        ['k', 'up', 'ctrl+y'],
      ],
      'a line',
    ),
    ...scroll('half', [['ctrl+d'], ['ctrl+u']], 'half a page'),
    ...scroll(
      'page',
      [
        ['space', 'pagedown', 'ctrl+f'],
        ['b', 'pageup', 'ctrl+b'],
      ],
      'a page',
    ),
    one('Move', 'top', ['g g', 'home'], 'go to top (or line N)', (line) => ({ type: 'top', line })),
    one('Move', 'bottom', ['G', 'end'], 'go to bottom (or line N)', (line) => ({ type: 'bottom', line })),
  ),
  ...both(
    'Move',
    ['column.next', 'column.previous'],
    [
      ['l', 'right'],
      ['h', 'left'],
    ],
    nextTitle('column'),
    (by) => ({ type: 'page-column', by }),
  ).map((command): Command => ({ ...command, when: 'page' })),

  ...both(
    'Rollouts',
    next('sample'),
    [['J'], ['K']],
    nextTitle('sample'),
    (by) => ({ type: 'sample', by }),
    noOtherRow,
  ),
  ...both(
    'Rollouts',
    next('step'),
    [['L'], ['H']],
    nextTitle('step, same prompt'),
    (by) => ({ type: 'step', by }),
    noOtherStep,
  ),
  ...onPage(
    one(
      'Rollouts',
      'open',
      ['enter'],
      'open the rollout; in it, fold or unfold the turn',
      { type: 'open' },
      nothingToOpen,
    ),
    one('Rollouts', 'back', ['esc', 'backspace'], 'back one level', { type: 'back' }),
  ),
  one('Rollouts', 'focus.next', ['tab', 'shift+tab'], 'other pane', { type: 'focus-next' }),

  alias(
    'where query grep',
    one('List', 'filter', ['&'], 'filter the list; empty clears, ! inverts', {
      type: 'prompt-open',
      prompt: 'filter',
    }),
  ),
  one('List', 'sort', ['s'], 'sort the list: best, worst, by a column', { type: 'list-menu', menu: 'sort' }),
  one('List', 'sort.reverse', ['S'], 'reverse the sort', { type: 'sort-reverse' }, noSort),
  {
    ...one('List', 'page.sort', ['s'], 'sort the page by the column; again: reversed', { type: 'page-sort' }),
    when: 'page',
  },
  { ...one('List', 'page.switch', ['x'], 'toggle row', { type: 'page-switch' }), when: 'page' },
  {
    ...one('List', 'page.numbers', ['v'], 'statistics behind the page, and back', { type: 'page-numbers' }),
    when: 'page',
  },
  alias(
    'fields show hide',
    one('List', 'columns', ['c'], 'choose the columns', { type: 'list-menu', menu: 'columns' }),
  ),
  one('List', 'group', ['p'], 'only the group of this prompt; again: the whole list', { type: 'group' }, noRecord),
  ...both(
    'List',
    next('group'),
    [['}'], ['{']],
    nextTitle('rollout of the same prompt'),
    (by) => ({ type: 'group-member', by }),
    noRecord,
  ),
  one('List', 'mark', ['m'], 'mark the turn with a letter', { type: 'list-menu', menu: 'mark' }, noRecord),
  { ...one('List', 'mark.row', ['space'], 'toggle mark, move down', { type: 'mark-row' }, noRecord), when: 'list' },
  one('List', 'mark.go', ["'"], 'go to a mark', { type: 'list-menu', menu: 'go' }, noMarks),
  ...both('List', next('mark'), [['] m'], ['[ m']], nextTitle('mark'), (by) => ({ type: 'mark-next', by }), notMarked),
  alias(
    'annotate tag good bad',
    one(
      'List',
      'label',
      ['i'],
      'label this rollout (or all marked rows)',
      { type: 'list-menu', menu: 'label' },
      noRecord,
    ),
  ),
  one('List', 'undo', ['u'], 'undo filter, sort, columns or marks', { type: 'undo' }, nothingToUndo),
  one('List', 'redo', ['U'], 'redo', { type: 'redo' }, nothingToRedo),

  ...landmark('error', [['e'], ['E']], 'error, also in another sample'),
  ...landmark('warning', [['w'], ['W']], 'warning, also in another sample'),
  ...landmark('call', [['t'], ['T']], 'tool call, also in another sample'),
  ...landmark('reward', [['] r'], ['[ r']], 'turn with a recorded reward'),
  ...both(
    'Find',
    next('surprise'),
    [['] s'], ['[ s']],
    nextTitle('token that was unlikely'),
    (by) => ({ type: 'surprise', by }),
    noTokens,
  ),
  ...landmark('drift', [['] d'], ['[ d']], 'result that differs when run again', firstReason(noRecord, nothingRun)),
  one(
    'Find',
    'jump.back',
    ['<'],
    'back to the place before the last jump',
    (n) => ({ type: 'jump', by: -(n ?? 1) }),
    noOlderPlace,
  ),
  one('Find', 'jump.forward', ['>'], 'forward again', (n) => ({ type: 'jump', by: n ?? 1 }), noNewerPlace),

  alias(
    'live tail watch',
    one('Rollouts', 'follow', ['F'], 'follow the newest step; moving pauses it', { type: 'follow' }),
  ),

  alias(
    'logprob entropy',
    one('View', 'tokens', ['g t'], 'tokens, starting at turn borders', { type: 'view', view: 'tokens' }, noRecord),
  ),
  one('View', 'mapping', ['g k'], 'field mapping of the record', { type: 'view', view: 'mapping' }, noRecord),
  alias(
    'raw json mask',
    one(
      'View',
      'view.next',
      ['v'],
      'chat, raw text, JSON, fields, details, tokens, mapping',
      (n) => ({ type: 'view-next', by: n ?? 1 }),
      noRecord,
    ),
  ),
  one('View', 'fold', ['x'], 'fold or unfold the turn', { type: 'fold' }, firstReason(noTurns, noFold)),
  one('View', 'fold.all', ['X'], 'unfold all turns, then fold all', { type: 'fold-all' }, noTurns),
  one('View', 'wrap', ['z'], 'toggle line wrapping', { type: 'wrap' }),
  alias(
    'full screen maximise details',
    one('View', 'zoom', ['_'], 'wider pane: no details, then full width', { type: 'zoom' }),
  ),
  ...both(
    'View',
    ['right', 'left'],
    [[')'], ['(']],
    ['scroll right', 'scroll left'],
    (by) => ({ type: 'sideways', by }),
    linesWrapped,
  ),
  one('View', 'field.hide', ['-'], 'hide the field', { type: 'field-hide' }, noField),
  one('View', 'field.show', ['+'], 'show hidden fields', { type: 'field-show-all' }, noHidden),

  ...onPage(
    alias(
      'collection curated dataset export train sft dpo',
      one('Rollouts', 'sets', ['g S'], 'sets of rollouts, and what changed in them', { type: 'sets-open' }),
    ),
    alias(
      'pass@k grpo',
      one('Groups', 'groups', ['g o'], 'all groups: mean, spread, pass@k, signal', (k) => ({
        type: 'page-open',
        subject: { kind: 'groups', k: k ?? 1 },
      })),
    ),
    alias(
      'curve plot graph histogram distribution metric',
      one('Runs', 'charts', ['g v'], 'every number by step as a curve, its values as bars', {
        type: 'page-open',
        subject: { kind: 'charts' },
      }),
    ),
    alias(
      'heat map forgotten learned',
      one('Groups', 'matrix', ['g x'], 'prompts by steps: learned when, forgotten when', {
        type: 'page-open',
        subject: { kind: 'matrix' },
      }),
    ),
    alias(
      'hack hacking incident drift jump change alarm correlation',
      one('Runs', 'movement', ['g e'], 'what changed, and what correlates with reward', {
        type: 'page-open',
        subject: { kind: 'movement' },
      }),
    ),
    alias(
      'errors tools crash timeout',
      one('Runs', 'failures', ['g f'], 'failed calls by tool, and how rollouts ended', {
        type: 'page-open',
        subject: { kind: 'errors' },
      }),
    ),
    alias(
      'hack queue todo read first worst',
      one('Runs', 'triage', ['g i'], 'what to read first, and why', (n) => ({
        type: 'page-open',
        subject: { kind: 'triage', n: n ?? 50, seed: 1 },
      })),
    ),
    alias(
      'diff versus side by side',
      one(
        'Groups',
        'compare',
        ['g d'],
        'diff with another rollout, or the two marked rows',
        { type: 'page-compare', place: null },
        noRecord,
      ),
    ),
    one('Groups', 'tree', ['g b'], 'answers to this prompt as a tree', { type: 'page-tree' }, noRecord),
    ...both(
      'Rollouts',
      next('page'),
      [['] p'], ['[ p']],
      nextTitle('rollout of the page'),
      (by) => ({ type: 'page-next', by }),
      noPage,
    ),
    one(
      'Groups',
      'page.group',
      ['P'],
      'the group of this prompt, with its advantages',
      { type: 'page-group' },
      noRecord,
    ),
  ),

  one('Runs', 'page.under.way', ['g n'], 'rollouts that are not finished', {
    type: 'page-open',
    subject: { kind: 'under-way' },
  }),
  alias(
    'advantage dead groups',
    one(
      'Signal',
      'page.signal',
      ['g s'],
      'learning signal of this step, and where it was lost',
      { type: 'page-here', page: 'signal' },
      noRecord,
    ),
  ),
  one(
    'View',
    'page.contexts',
    ['g c'],
    'message histories of this rollout as a tree',
    { type: 'page-here', page: 'contexts' },
    noRecord,
  ),
  one(
    'View',
    'page.history',
    ['g h'],
    'what the model saw before this turn',
    { type: 'page-here', page: 'history' },
    noTurns,
  ),
  alias(
    'files diff patch changed workspace disk',
    one('View', 'page.files', ['g F'], 'files that calls changed, from this turn on', { type: 'page-files' }, noRecord),
  ),
  alias(
    'latency slow profile',
    one(
      'Time',
      'page.times',
      ['g w'],
      'where the time of this rollout went',
      { type: 'page-here', page: 'times' },
      noRecord,
    ),
  ),
  alias(
    'latency slow profile',
    one(
      'Time',
      'page.step.times',
      ['g W'],
      'where the time of this step went, slowest first',
      { type: 'page-here', page: 'step-times' },
      noRecord,
    ),
  ),

  alias(
    'find grep',
    one('Search', 'search', ['/'], 'search this rollout', { type: 'prompt-open', prompt: 'search' }, noRecord),
  ),
  ...onPage(
    alias(
      'find grep everywhere',
      one('Search', 'search.all', ['g /'], 'search all rollouts of the list', {
        type: 'prompt-open',
        prompt: 'hits',
      }),
    ),
  ),
  ...both(
    'Search',
    next('search'),
    [['n'], ['N']],
    ['next hit, then the next sample', 'previous hit'],
    (by) => ({ type: 'search-next', by }),
    noSearch,
  ),
  ...both(
    'Search',
    ['search.word', 'search.word.back'],
    [['*'], ['#']],
    nextTitle('place of this tool'),
    (by) => ({ type: 'search-word', by }),
    noCallHere,
  ),

  one(
    'Take away',
    'yank.turn',
    ['y t'],
    'copy the turn',
    { type: 'copy-text', what: 'turn' },
    firstReason(noRollout, noTurns),
  ),
  one(
    'Take away',
    'yank.call',
    ['y c'],
    'copy the call as a shell command',
    { type: 'copy-text', what: 'call' },
    firstReason(noRollout, noCallHere),
  ),
  alias(
    'diff git apply files',
    one(
      'Take away',
      'yank.patch',
      ['y d'],
      'copy the changes of files as a patch',
      { type: 'copy-text', what: 'patch' },
      noRollout,
    ),
  ),
  one('Take away', 'yank.prompt', ['y p'], 'copy the prompt', { type: 'copy-text', what: 'prompt' }, noRollout),
  alias(
    'export save',
    one(
      'Take away',
      'yank.json',
      ['y j'],
      'copy the record, or the marked ones, as JSON',
      { type: 'copy-text', what: 'json' },
      noRecord,
    ),
  ),
  alias(
    'share url path send',
    one(
      'Take away',
      'yank.link',
      ['y l'],
      'copy the locator of the turn or the marked rows',
      { type: 'copy-text', what: 'link' },
      noRecord,
    ),
  ),
  alias(
    'export share html send browser page save',
    one(
      'Take away',
      'page.write',
      ['y h'],
      'write an HTML page of it, or of the marked rows',
      { type: 'write-page', path: null },
      noRecord,
    ),
  ),
  alias(
    'export save open editor',
    one('Take away', 'edit', ['V'], 'open a copy in $EDITOR or $PAGER', { type: 'edit' }, noRecord),
  ),
  alias(
    'export save share html send',
    one('Take away', 'pipe', ['|'], 'pipe to a shell command', { type: 'prompt-open', prompt: 'pipe' }, noRecord),
  ),

  alias(
    'rerun execute sandbox debug shell container world state bisect broke test',
    one(
      'Run again',
      'replay',
      ['!'],
      'run the call of this turn again, edited if you like',
      { type: 'replay-ask', all: false },
      firstReason(noExec, noRollout, noCalls),
    ),
  ),
  one(
    'Run again',
    'replay.all',
    ['g !'],
    'run all tool calls of this rollout again',
    { type: 'replay-ask', all: true },
    firstReason(noExec, noRollout, noCalls),
  ),
  alias(
    'branch resume sample continue',
    one(
      'Run again',
      'fork',
      ['a'],
      'fork: continue from this turn with a live model',
      { type: 'fork-ask' },
      firstReason(noExec, noRollout, noTurns),
    ),
  ),
  one('Run again', 'branches', ['A'], 'go to the branches', { type: 'branches' }, noBranches),
  alias(
    'reward grade',
    one(
      'Run again',
      'rescore',
      ['r'],
      'score this rollout, or the marked ones, again',
      { type: 'rescore', all: false },
      noRollout,
    ),
  ),
  alias(
    'reward grade',
    one('Run again', 'rescore.all', ['g r'], 'score the whole list again', { type: 'rescore', all: true }, noRecord),
  ),

  ...onPage(
    alias(
      'export html notify alarm',
      one('Program', 'command', [':'], 'type a command, a number or a locator', {
        type: 'prompt-open',
        prompt: 'command',
      }),
    ),
    alias(
      'keys questions theme colour color NO_COLOR',
      one('Program', 'help', ['?', 'f1', 'ctrl+p'], 'help: find a command', { type: 'prompt-open', prompt: 'help' }),
    ),
    one('Program', 'mouse', ['f2', 'g m'], 'mouse on, off', { type: 'mouse-mode' }),
    one('Program', 'reload', ['R'], 'reload from disk', { type: 'reload' }),
    one('Program', 'repaint', ['ctrl+l'], 'redraw the screen', { type: 'repaint' }),
    one('Program', 'suspend', ['ctrl+z'], 'suspend (fg resumes)', { type: 'suspend' }),
    one('Program', 'cancel', ['ctrl+c'], 'cancel what is running; twice: quit', () => ({
      type: 'cancel',
      at: performance.now(),
    })),
    one('Program', 'quit', ['q', 'Q'], 'quit', { type: 'quit' }),
  ),
];

export const commandOf = (id: string): Command | undefined => COMMANDS.find((command) => command.id === id);
