import { formatCount, plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Piece } from '../../present/line.ts';
import type { FoundForkWorld, WhatRuns, WorldQuestion } from '../state/replay.ts';
import { type Hint, nameFromData, type QuestionParts } from './hints.ts';

/** The calls that would run, their image, and how it was found. */
export function worldParts(question: WorldQuestion): QuestionParts {
  const { found, confirm } = question;
  const what: Piece[] = [
    ['accent', ' ! '],
    ...(confirm === null ? callPieces(question) : confirmPieces(confirm, question)),
  ];
  if (found === null) return { what: [...what, ['quiet', '  looking for its image …']], hints: [['Esc', 'close']] };
  const { image, how, settings, problem, asks } = found;
  if (problem !== null) what.push(['warning', `  cannot run: ${sanitiseLine(problem)}`]);
  else if (image === null) what.push(['warning', ': it needs the files of an image, and the record names none']);
  else {
    what.push(['plain', ' in '], ['strong', nameFromData(image)], ['quiet', ` (${sanitiseLine(how)})`]);
    if (confirm !== null && asks !== null) what.push(['warning', `: ${sanitiseLine(asks)}`]);
    if (settings !== '') what.push(['quiet', `, ${sanitiseLine(settings)}`]);
  }
  return { what, hints: hintsOf(question, image !== null && problem === null) };
}

/** The container's tools of a fork, and the image that they run in. */
export function forkWorldPieces({ tools, image, how, asks, problem }: FoundForkWorld, isAsked: boolean): Piece[] {
  if (problem !== null) return [['warning', `; no: ${sanitiseLine(problem)}`]];
  const names: Piece = ['quiet', `; ${nameFromData(tools)}`];
  if (image === null) return [names, ['warning', ' not here: no image is named']];
  return [
    names,
    ['plain', ' in '],
    ['strong', nameFromData(image)],
    ['quiet', ` (${sanitiseLine(how)})`],
    ...(isAsked && asks !== null ? [['warning', `: ${sanitiseLine(asks)}`] as const] : []),
  ];
}

function callPieces({ name, turn, call, calls, edited, found }: WorldQuestion): Piece[] {
  const pieces: Piece[] = [
    ['strong', nameFromData(name)],
    ['quiet', ` t${turn}${calls > 1 ? `, call ${call + 1} of ${calls}` : ''}`],
  ];
  if (edited !== undefined) pieces.push(['warning', ' edited']);
  const before = found?.before ?? null;
  if (before !== null && before > 0) pieces.push(['plain', `, after ${plural(before, 'call')} before it`]);
  else if (call > 0 && before === 0) pieces.push(['quiet', ', from the kept state']);
  return pieces;
}

function confirmPieces(confirm: WhatRuns, question: WorldQuestion): Piece[] {
  const { call, calls, rollouts, marked, command } = question;
  if (confirm === 'call') return [['strong', 'run '], ...callPieces(question)];
  const words: Record<Exclude<WhatRuns, 'call'>, string> = {
    all: calls === 1 ? 'run the call of this rollout' : `run all ${calls} calls of this rollout`,
    list: `run the calls of ${formatCount(rollouts)} ${marked !== null ? 'marked ' : ''}rollouts`,
    before: `open a shell in the state before call ${call + 1}`,
    after: `open a shell in the state after call ${call + 1}`,
    bisect: `find the call that changes: ${sanitiseLine(command)}`,
  };
  return [['strong', words[confirm]]];
}

function hintsOf({ confirm, calls, marked }: WorldQuestion, canRun: boolean): Hint[] {
  if (confirm !== null) return [...(canRun ? [['y', 'run'] as const] : [['w', 'image'] as const]), ['Esc', 'close']];
  return [
    ...(canRun
      ? ([
          ['Enter', 'run'],
          ['a', calls === 1 ? 'all' : `all ${calls}`],
          ['i/I', 'shell'],
          ['e/E', 'edit'],
          ...(calls > 1 ? [['b', 'bisect'] as const] : []),
        ] as const)
      : []),
    ['w', 'image'],
    ...(canRun ? [['f', marked !== null ? 'marked' : 'list'] as const] : []),
    ['c', 'copy'],
    ...(calls > 1 ? [['Tab', 'next'] as const] : []),
    ['Esc', 'close'],
  ];
}
