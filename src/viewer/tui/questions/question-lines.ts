import { lastItem, numberInAt } from '../../../core/lists/at.ts';
import { truncate } from '../../../core/text/fit.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { rewardRuns, rewardText } from '../../../replay/reward-choice.ts';
import { type Piece, wrapPieces } from '../../present/line.ts';
import type { CallQuestion, ForkQuestion, Question, RescoreQuestion, Where } from '../state/replay.ts';
import { spokenSettings } from './fork-settings.ts';
import { cellsOf, type Hint, hintLines, nameFromData, type QuestionParts } from './hints.ts';
import { forkWorldPieces, worldParts } from './world-lines.ts';

/** Lines for what would be done and where, and lines for the available keys. */
export interface QuestionLines {
  what: readonly Piece[][];
  keys: readonly Piece[][];
}

/** A question that was cut could hide where something runs: it wraps. @param rows of the screen; a question takes up to half of them */
export function questionLines(question: Question, width: number, rows: number): QuestionLines {
  const { what, hints } = questionParts(question, width);
  const keys = hintLines(hints, width);
  return { what: wrapPieces(what, width, Math.max(1, Math.floor(rows / 2) - keys.length)), keys };
}

/** @param width decides between long and short words */
const questionParts = (question: Question, width: number): QuestionParts =>
  question.kind === 'rescore'
    ? rescoreParts(question)
    : question.kind === 'fork'
      ? forkParts(question, width)
      : question.kind === 'world'
        ? worldParts(question)
        : question.confirm === null
          ? callParts(question, width)
          : confirmParts(question);

function callParts(question: CallQuestion, width: number): QuestionParts {
  const { name, call, calls, rollouts, marked, known, repeat, session, where, edited, turn } = question;
  const what: Piece[] = [
    ['accent', ' ! '],
    ['strong', nameFromData(name)],
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
  if (!isKnown) return { what, hints: hints(all) };
  const long = hints(`${done} of ${all} done`);
  return { what, hints: cellsOf(long) + long.length <= width ? long : hints(`${done}/${all}`) };
}

/** `call 1`, `calls 1 and 2`, `calls 1 to 4`, `5 calls`: numbers as the line says them, from 1. */
function callsText(before: readonly number[]): string {
  if (before.length === 1) return `call ${numberInAt(before, 0) + 1}`;
  if (before.length === 2) return `calls ${numberInAt(before, 0) + 1} and ${numberInAt(before, 1) + 1}`;
  const isRun = lastItem(before) - numberInAt(before, 0) === before.length - 1;
  return isRun ? `calls ${numberInAt(before, 0) + 1} to ${lastItem(before) + 1}` : `${before.length} calls`;
}

function confirmParts({ confirm, calls, rollouts, marked, where }: CallQuestion): QuestionParts {
  const what =
    confirm === 'all'
      ? `all ${calls} calls of this rollout`
      : `the calls of ${formatCount(rollouts)} ${marked !== null ? 'marked ' : ''}rollouts`;
  return {
    what: [
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
    hints: [...(where === null || where.name === '' ? [] : [['y', 'run'] as const]), ['Esc', 'close']],
  };
}

/** Cells of that line apart from the sampling settings. */
const REST = 64;

/** An agent brings its tools and its sampling. */
function agentParts({ turn, edited, model, settings, wish }: ForkQuestion, command: string): QuestionParts {
  // The place where it runs comes first: a command may be long.
  const where: Piece[] =
    wish === null
      ? [['warning', 'here, with all your rights']]
      : [
          ['strong', `in ${sanitiseLine(wish.image)}`],
          wish.network ? ['plain', ', with the network'] : ['warning', ', without the network, which it needs'],
        ];
  const what: Piece[] = [
    ['accent', ' a '],
    ...where,
    ['plain', ': '],
    ['strong', `continue from t${turn}`],
    ['warning', edited === null ? '' : ' edited'],
    ['plain', ' with the agent '],
    ['strong', sanitiseLine(command)],
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
  return { what, hints };
}

function forkParts(question: ForkQuestion, width: number): QuestionParts {
  if (question.agent !== null) return agentParts(question, question.agent.command);
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
    return {
      what,
      hints: [
        ['y', confirm === 1 ? 'one branch' : `${confirm} branches`],
        ['Esc', 'close'],
      ],
    };
  return {
    what,
    hints: [
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
  };
}

function rescoreParts({ rollouts, scope, choice }: RescoreQuestion): QuestionParts {
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
  return { what: pieces, hints };
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
