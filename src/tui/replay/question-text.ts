import type { Piece } from '../../present/line.ts';
import { formatCount } from '../../present/numbers.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { CallQuestion, ForkQuestion, Question, Where } from './state.ts';

/** Two lines: what would be done and where, and the keys that there are. */
export const questionLines = (question: Question): [Piece[], Piece[]] =>
  question.kind === 'fork'
    ? forkLines(question)
    : question.confirm === null
      ? callLines(question)
      : confirmLines(question);

function callLines(question: CallQuestion): [Piece[], Piece[]] {
  const { name, call, calls, rollouts, repeat, where, edited, turn } = question;
  const what: Piece[] = [
    ['accent', ' ! '],
    ['strong', sanitiseLine(name)],
    ['quiet', ` t${turn}${calls > 1 ? `, call ${call + 1} of ${calls}` : ''}`],
  ];
  if (edited !== undefined) what.push(['warning', ' edited']);
  what.push(...wherePieces(where, edited !== undefined));
  const canRun = where !== null && (where.problem === null || edited !== undefined);
  return [
    what,
    [
      ...keys(canRun ? [['Enter', 'run']] : []),
      ...keys([
        ['e', 'edit'],
        ['a', calls === 1 ? 'all' : `all ${calls}`],
        ['f', `list ${formatCount(rollouts)}`],
        ['k', `×${repeat}`],
        ...(calls > 1 ? [['Tab', 'next'] as const] : []),
        ['Esc', 'close'],
      ]),
    ],
  ];
}

function confirmLines({ confirm, calls, rollouts, where }: CallQuestion): [Piece[], Piece[]] {
  const what =
    confirm === 'all' ? `all ${calls} calls of this rollout` : `the calls of ${formatCount(rollouts)} rollouts`;
  return [
    [
      ['accent', ' ! '],
      ['strong', `run ${what}`],
      ...(where === null
        ? ([['quiet', '  finding a sandbox …']] as const)
        : where.name === ''
          ? ([['warning', `  cannot run: ${sanitiseLine(where.problem ?? '')}`]] as const)
          : ([
              ['plain', ' on '],
              ['strong', sanitiseLine(where.name)],
              ['quiet', where.asks ?? ''],
            ] as const)),
    ],
    keys([...(where === null || where.name === '' ? [] : [['y', 'run'] as const]), ['Esc', 'close']]),
  ];
}

function forkLines({ turn, edited, model, where }: ForkQuestion): [Piece[], Piece[]] {
  const what: Piece[] = [
    ['accent', ' a '],
    ['strong', `go on from t${turn}`],
    ['warning', edited === null ? '' : ' edited'],
    ['plain', ' with '],
    ['strong', sanitiseLine(model.name)],
    ['plain', ' on '],
    ['strong', sanitiseLine(model.url)],
  ];
  if (where === null) what.push(['quiet', '  finding a sandbox for its tools …']);
  else if (where.problem !== null) what.push(['warning', `  no: ${sanitiseLine(where.problem)}`]);
  else what.push(['quiet', where.name === '' ? '; no tools' : `; ${sanitiseLine(`${where.why} on ${where.name}`)}`]);
  return [
    what,
    [
      ...keys(
        where === null || where.problem !== null
          ? []
          : [
              ['Enter', 'one branch'],
              ['2-9', 'branches'],
            ],
      ),
      ...keys([
        ['e', 'edit the turn'],
        ['Esc', 'close'],
      ]),
    ],
  ];
}

function wherePieces(where: Where | null, isEdited: boolean): Piece[] {
  if (where === null) return [['quiet', '  finding a sandbox …']];
  const { name, why, problem } = where;
  if (problem !== null && !isEdited) return [['warning', `  cannot run: ${sanitiseLine(problem)}`]];
  return [
    ['plain', ' on '],
    ['strong', sanitiseLine(name)],
    ['quiet', ` (${sanitiseLine(why)})`],
  ];
}

const keys = (all: readonly (readonly [key: string, word: string])[]): Piece[] =>
  all.flatMap(([key, word]): Piece[] => [
    ['accent', ` ${key}`],
    ['quiet', ` ${word} `],
  ]);
