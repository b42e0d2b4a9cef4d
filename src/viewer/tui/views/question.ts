import { lastItem, numberInAt } from '../../../core/lists/at.ts';
import { truncate } from '../../../core/text/fit.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { rewardRuns, rewardText } from '../../../replay/reward-choice.ts';
import type { Piece } from '../../present/line.ts';
import type { CallQuestion, ForkQuestion, Question, RescoreQuestion, Where } from '../state/replay.ts';
import { spokenSettings } from '../update/fork-settings.ts';
import { cellsOf, type Hint, keys, type QuestionLines } from './hints.ts';
import { forkWorldPieces, worldLines } from './world-question.ts';

/** Two lines: what would be done and where, and the available keys. */
export const questionLines = (question: Question, width: number): QuestionLines =>
  question.kind === 'rescore'
    ? rescoreLines(question, width)
    : question.kind === 'fork'
      ? forkLines(question, width)
      : question.kind === 'world'
        ? worldLines(question, width)
        : question.confirm === null
          ? callLines(question, width)
          : confirmLines(question, width);

function callLines(question: CallQuestion, width: number): QuestionLines {
  const { name, call, calls, rollouts, marked, known, repeat, session, where, edited, turn } = question;
  const what: Piece[] = [
    ['accent', ' ! '],
    ['strong', sanitiseLine(name)],
    ['quiet', ` t${turn}${calls > 1 ? `, call ${call + 1} of ${calls}` : ''}`],
  ];
  if (edited !== undefined) what.push(['warning', ' edited']);
  if (where !== null && where.before.length > 0) what.push(['plain', `, after ${callsText(where.before)}`]);
  what.push(...wherePieces(where, edited !== undefined));
  const canRun = where !== null && (where.problem === null || edited !== undefined);
  const isKnown = known !== null && known > 0;
  const hints = (list: string): Hint[] => [
    ...(canRun ? [['Enter', 'run'] as const] : []),
    ['e/E', 'edit'],
    ...(canRun ? [['i', 'ask'] as const] : []),
    ['a', calls === 1 ? 'all' : `all ${calls}`],
    ['f', `${marked !== null ? 'marked' : 'list'} ${list}`],
    ...(isKnown && known < rollouts ? [['F', 'again'] as const] : []),
    ['k', `×${repeat}`],
    ...(calls > 1 && where?.stateful !== true ? [['s', session ? 'alone' : 'session'] as const] : []),
    ...(calls > 1 ? [['Tab', 'next'] as const] : []),
    ['Esc', 'close'],
  ];
  const [done, all] = [formatCount(known ?? 0), formatCount(rollouts)];
  if (!isKnown) return [what, keys(hints(all), width)];
  const long = hints(`${done} of ${all} done`);
  return [what, keys(cellsOf(long) + long.length <= width ? long : hints(`${done}/${all}`), width)];
}

/** `call 1`, `calls 1 and 2`, `calls 1 to 4`, `5 calls`: numbers as the line says them, from 1. */
function callsText(before: readonly number[]): string {
  if (before.length === 1) return `call ${numberInAt(before, 0) + 1}`;
  if (before.length === 2) return `calls ${numberInAt(before, 0) + 1} and ${numberInAt(before, 1) + 1}`;
  const isRun = lastItem(before) - numberInAt(before, 0) === before.length - 1;
  return isRun ? `calls ${numberInAt(before, 0) + 1} to ${lastItem(before) + 1}` : `${before.length} calls`;
}

function confirmLines({ confirm, calls, rollouts, marked, where }: CallQuestion, width: number): QuestionLines {
  const what =
    confirm === 'all'
      ? `all ${calls} calls of this rollout`
      : `the calls of ${formatCount(rollouts)} ${marked !== null ? 'marked ' : ''}rollouts`;
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
    keys([...(where === null || where.name === '' ? [] : [['y', 'run'] as const]), ['Esc', 'close']], width),
  ];
}

/** Cells of that line apart from the sampling settings. */
const REST = 64;

/** An agent brings its tools and its sampling. */
function agentLines(
  { turn, edited, model, settings, wish }: ForkQuestion,
  command: string,
  width: number,
): QuestionLines {
  const what: Piece[] = [
    ['accent', ' a '],
    ['strong', `continue from t${turn}`],
    ['warning', edited === null ? '' : ' edited'],
    ['plain', ' with the agent '],
    ['strong', sanitiseLine(command)],
    ['plain', wish === null ? ' here, with all your rights' : ` in ${sanitiseLine(wish.image)}`],
    ['quiet', `; then ${sanitiseLine(model.url)}`],
  ];
  const hints: Hint[] = [
    ['Enter', settings.n === 1 ? 'one branch' : `${settings.n} branches`],
    ['2-9', 'branches'],
    ['t', 'terminal'],
    ['a', 'agent'],
    ['e/E', 'edit'],
    ['w', 'image'],
    ['Esc', 'close'],
  ];
  return [what, keys(hints, width)];
}

function forkLines(question: ForkQuestion, width: number): QuestionLines {
  if (question.agent !== null) return agentLines(question, question.agent.command, width);
  const { turn, edited, model, settings, reward, where, inWorld, confirm } = question;
  const spoken = spokenSettings(settings);
  const what: Piece[] = [
    ['accent', ' a '],
    ['strong', `continue from t${turn}`],
    ['warning', edited === null ? '' : ' edited'],
    ['plain', ' with '],
    ['strong', sanitiseLine(model.name)],
    ['plain', ' on '],
    ['strong', sanitiseLine(model.url)],
  ];
  if (where === null) what.push(['quiet', '  finding a sandbox for its tools …']);
  else if (where.problem !== null) what.push(['warning', `  no: ${sanitiseLine(where.problem)}`]);
  else if (where.name !== '' || inWorld === null)
    what.push(['quiet', where.name === '' ? '; no tools' : `; ${sanitiseLine(`${where.why} on ${where.name}`)}`]);
  if (where !== null && inWorld !== null) what.push(...forkWorldPieces(inWorld, confirm !== null));
  const judge = rewardRuns(reward);
  if (judge !== null) what.push(['quiet', sanitiseLine(`; scored with ${judge.what} on ${judge.where}`)]);
  const branches = settings.n === 1 ? 'one branch' : `${settings.n} branches`;
  const canRun = where !== null && where.problem === null && (inWorld?.problem ?? null) === null;
  if (confirm !== null)
    return [
      what,
      keys(
        [
          ['y', confirm === 1 ? 'one branch' : `${confirm} branches`],
          ['Esc', 'close'],
        ],
        width,
      ),
    ];
  return [
    what,
    keys(
      [
        ...(canRun
          ? ([
              ['Enter', branches],
              ['2-9', 'branches'],
            ] as const)
          : []),
        ['s', spoken === '' ? 'sampling, limits' : truncate(sanitiseLine(spoken), Math.max(16, width - REST))],
        ['e/E', 'edit'],
        ['a', 'agent'],
        ...(inWorld === null ? [] : [['w', 'image'] as const]),
        ['Esc', 'close'],
      ],
      width,
    ),
  ];
}

function rescoreLines({ rollouts, scope, choice }: RescoreQuestion, width: number): QuestionLines {
  const { what, where } = rewardRuns(choice) ?? { what: rewardText(choice), where: 'this program' };
  const pieces: Piece[] = [
    ['accent', ' r '],
    [
      'plain',
      `score ${scope === 'open' ? 'this rollout' : `${formatCount(rollouts)} ${scope === 'marked' ? 'marked ' : ''}rollouts`} again with `,
    ],
    ['strong', sanitiseLine(what)],
    ['plain', ' on '],
    ['strong', sanitiseLine(where)],
  ];
  const hints: Hint[] = [
    ['Enter', 'score'],
    ['e', 'another function'],
    ['Esc', 'close'],
  ];
  return [pieces, keys(hints, width)];
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
