import { answerTree } from '../../../analysis/compare/tree.ts';
import { type ComparedTurn, comparingTurns } from '../../../analysis/compare/turns.ts';
import type { ComparedFile } from '../../../analysis/files/compared-files.ts';
import { treeReport } from '../../../analysis/report/tree.ts';
import { finished } from '../../../core/async/finished.ts';
import type { Place } from '../../../core/dump/dump.ts';
import { LONG_RECORD } from '../../../core/dump/long-record.ts';
import { itemAt, lastItem } from '../../../core/lists/at.ts';
import { compactionOf, keptBy } from '../../../core/rollout/contexts.ts';
import type { ToolCall, Turn } from '../../../core/rollout/rollout.ts';
import { take } from '../../../core/text/fit.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { formatCount, plural } from '../../../core/text/numbers.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { comparedFileText } from '../../present/compared-file.ts';
import type { Piece } from '../../present/line.ts';
import { callPieces } from '../../present/transcript/call.ts';
import type { Store } from '../rows/data.ts';
import { comparingFilesOf } from '../rows/followed-files.ts';
import type { Page } from '../rows/page.ts';
import { placeName } from '../rows/place-name.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

const nameWithScore = (place: Place): string =>
  sanitiseLine(`${placeName(place)} score ${scoreText(place.file.score(place.record))}`);

/** Characters shown of a turn that differs. */
const MOST_SHOWN = 20_000;
const MOST_FILE_LINES = 500;
/** Turns further down are not shown side by side. */
const MOST_ROWS = 200_000;

/** The answers of a rollout's group as a tree of common prefixes. */
export function treePage({ place }: SubjectOf<'tree'>, sort: PageSort | null, data: Store): Page {
  const { file } = place;
  const known = data.groups.groups(file);
  const all = known?.membersOf(place.record) ?? [];
  let bytes = 0;
  const members = all.filter((record) => {
    bytes += file.index.length(record);
    // Members of larger groups are not all read while a key waits.
    return bytes <= LONG_RECORD;
  });
  const branches = answerTree(
    members.map((record) => {
      const { rollout } = data.record({ file, record });
      const said = finished(readTurns(rollout?.turns.slice(rollout.responseTurn) ?? []));
      return { text: said.map(({ text }) => text).join('\n'), score: rollout?.score ?? null };
    }),
  ).filter(({ n }) => n > 0);
  const placeAt = (member: number): Place => ({ file, record: members[member] ?? place.record });
  const report = treeReport(nameWithScore(place), branches, placeAt);
  return reportPage(known === null ? { ...report, empty: 'looking for the group …' } : report, {
    sort,
    note: members.length < all.length ? `the first ${members.length} of ${all.length}` : '',
    open: ({ members: [first = 0] }) => ({ type: 'page-read', place: placeAt(first), turn: null }),
  });
}

/** Two rollouts side by side, by turn; words that only one of them has are in reverse video. */
export function comparePage({ a, b }: SubjectOf<'compare'>, data: Store, width: number): Page {
  const [first, second] = [data.record(a), data.record(b)];
  const sides = [
    { name: nameWithScore(a), place: a, turns: first.rollout?.turns ?? [] },
    { name: nameWithScore(b), place: b, turns: second.rollout?.turns ?? [] },
  ] as const;
  const shown = sideBySide(sides, width, data, () => comparingFilesOf(first, second));
  if (shown === null) return stillWorking('what the two do not share');
  return {
    ...shown,
    title: `${nameWithScore(a)}  and  ${nameWithScore(b)}`,
    note: '',
    empty: 'one of the two is not a rollout',
  };
}

/** The turns that a compaction kept, dropped and added: the history before it beside the one after. */
export function compactionPage({ place, context }: SubjectOf<'compaction'>, data: Store, width: number): Page {
  const { rollout, locator } = data.record(place);
  const change = rollout === null ? null : compactionOf(rollout, context);
  const counts = rollout === null ? null : keptBy(rollout, context);
  const sides = [
    { name: 'before', place, turns: change?.before ?? [] },
    { name: 'after', place, turns: change?.after ?? [] },
  ] as const;
  const shown = sideBySide(sides, width, data);
  if (shown === null) return stillWorking('what was kept');
  return {
    ...shown,
    title: sanitiseLine(`kept by a compaction of ${locator}`),
    note:
      counts === null
        ? ''
        : `kept ${counts.kept.length}, dropped ${counts.dropped.length}, added ${counts.added.length}`,
    empty: 'the record does not say which history this one continues',
  };
}

interface Side {
  name: string;
  place: Place;
  turns: readonly Turn[];
}

interface Row {
  left: readonly Piece[];
  right: readonly Piece[];
  turns: readonly [number | null, number | null];
}

/** Null while it is being computed: for long rollouts that takes longer than a key may wait. */
function sideBySide(
  [a, b]: readonly [Side, Side],
  width: number,
  data: Store,
  files: () => Generator<void, readonly ComparedFile[]> = noFiles,
): Omit<Page, 'title' | 'note' | 'empty'> | null {
  const room = Math.max(10, Math.floor((width - 8) / 2));
  const isLong = [a, b].some(({ place }) => data.dump.isLong(place));
  const key = `beside ${[a, b].map(({ name, place }) => name + place.file.locator(place.record)).join(' ')} ${room}`;
  const steps = (): Generator<void, Row[]> => comparedRows(a, b, room, files);
  const rows = isLong ? data.workedOut.ofPausing(data.record(a.place), key, steps) : finished(steps());
  return (
    rows && {
      columns: [
        { title: a.name, width: room, isText: true, isFixed: true },
        { title: b.name, width: room, isText: true },
      ],
      length: rows.length,
      sort: null,
      row: (index) => {
        const { left, right, turns } = itemAt(rows, index);
        return {
          cells: [left, right],
          open: (column) => ({
            type: 'page-read',
            place: (column === 0 ? a : b).place,
            turn: turns[column === 0 ? 0 : 1],
          }),
        };
      },
    }
  );
}

// biome-ignore lint/correctness/useYield: there are none to wait for
function* noFiles(): Generator<void, readonly ComparedFile[]> {
  return [];
}

function* comparedRows(
  a: Side,
  b: Side,
  room: number,
  files: () => Generator<void, readonly ComparedFile[]>,
): Generator<void, Row[]> {
  const rows: Row[] = [];
  const [before, after] = [yield* readTurns(a.turns), yield* readTurns(b.turns)];
  for (const { a: one, b: two, isSame } of comparingTurns({ turns: before }, { turns: after })) {
    if (rows.length > MOST_ROWS) break;
    const turns = [one?.turn ?? null, two?.turn ?? null] as const;
    const head = (turn: ComparedTurn | null): Piece[] =>
      turn === null
        ? [['quiet', '–']]
        : [
            ['heading', sanitiseLine(`t${turn.turn} ${turn.role}`)],
            ['quiet', isSame ? ' the same' : ''],
          ];
    rows.push({ left: head(one), right: head(two), turns });
    yield;
    if (isSame) continue;
    const [left, right] = [turnLines(one, room), turnLines(two, room)];
    for (let i = 0; i < Math.max(left.length, right.length); i++)
      rows.push({ left: left[i] ?? [], right: right[i] ?? [], turns });
  }
  rows.push(...fileRows(yield* files()));
  if (rows.length > MOST_ROWS) {
    const more: Piece[] = [['warning', `more than ${formatCount(MOST_ROWS)} rows: what follows is not compared`]];
    rows.push({ left: more, right: [], turns: [null, null] });
  }
  return rows;
}

/** The files in which the two differ, each with its difference. */
function fileRows(files: readonly ComparedFile[]): Row[] {
  const row = (left: readonly Piece[], right: readonly Piece[] = []): Row => ({ left, right, turns: [null, null] });
  if (files.length === 0) return [];
  const rows = [row([['heading', 'files']])];
  for (const file of files) {
    rows.push(row([['plain', sanitiseLine(file.path)]], [['quiet', comparedFileText(file)]]));
    const lines = (file.diff ?? '').split('\n').slice(3, MOST_FILE_LINES);
    const [removed, added] = ['-', '+'].map((sign) => lines.filter((line) => line.startsWith(sign)));
    for (let i = 0; i < Math.max(removed?.length ?? 0, added?.length ?? 0); i++)
      rows.push(row([['match', sanitiseLine(removed?.[i] ?? '')]], [['match', sanitiseLine(added?.[i] ?? '')]]));
  }
  return rows;
}

const calledIn = ({ toolCalls }: Turn, call: number | undefined): ToolCall | undefined =>
  toolCalls.find(({ index }) => index === call) ?? toolCalls[call ?? -1];

/** UTF-16 units indented between two pauses. */
const SHARE = 1 << 18;

/** A text with these blanks before each of its lines. */
export function* indenting(text: string, blanks: string, share = SHARE): Generator<void, string> {
  const parts: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const end = text.indexOf('\n', at + share) + 1 || text.length + 1;
    const part = text.slice(at, end);
    // The break at its end begins the next part.
    const isLast = end > text.length;
    parts.push(isLast ? part.replace(/^/gm, blanks) : `${part.slice(0, -1).replace(/^/gm, blanks)}\n`);
    at = end;
    yield;
  }
  return parts.join('');
}

/** Turns with their calls as the transcript shows them. */
function* readTurns(turns: readonly Turn[]): Generator<void, Turn[]> {
  const read: Turn[] = [];
  for (const turn of turns) {
    let text = '';
    for (const { kind, start, end, call } of turn.parts) {
      const own = kind === 'call' ? calledIn(turn, call) : undefined;
      if (own === undefined || own.error !== null) text += turn.text.slice(start, end);
      else {
        const pieces = yield* callPieces(own);
        const lines: string[] = [];
        for (const piece of pieces) lines.push(yield* indenting(piece.text, ' '.repeat(piece.indent)));
        text += `${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}`;
      }
    }
    read.push(turn.parts.length === 0 ? turn : { ...turn, text });
    yield;
  }
  return read;
}

/** Equal lines around a difference that are shown; more between them are folded. */
const CONTEXT = 2;

/** Lines that both sides share, without the inner ones. */
function foldedText(text: string, isFirst: boolean, isLast: boolean): string {
  const lines = text.split('\n');
  const [head, tail] = [isFirst ? 0 : CONTEXT + 1, isLast ? 0 : CONTEXT + 1];
  const hidden = lines.length - head - tail;
  if (hidden < 4) return text;
  return [...lines.slice(0, head), `… ${plural(hidden, 'equal line')}`, ...lines.slice(lines.length - tail)].join('\n');
}

/** The words of a turn in lines of at most `width` cells. */
function turnLines(turn: ComparedTurn | null, width: number): Piece[][] {
  const lines: Piece[][] = [[]];
  let left = width;
  let shown = 0;
  let hidden = 0;
  const pieces = turn?.pieces ?? [];
  for (const [at, { isOwn, text: whole }] of pieces.entries()) {
    const all = isOwn ? whole : foldedText(whole, at === 0, at === pieces.length - 1);
    const text = all.slice(0, Math.max(0, MOST_SHOWN - shown));
    shown += text.length;
    hidden += all.length - text.length;
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) {
        lines.push([]);
        left = width;
      }
      for (const word of sanitiseLine(part).match(/\s*\S+|\s+$/g) ?? []) {
        let rest = word;
        if (cellWidth(rest) > left && left < width) {
          lines.push([]);
          left = width;
          rest = rest.trimStart();
        }
        while (rest !== '') {
          const cut = take(rest, left) || rest;
          lastItem(lines).push([isOwn ? 'match' : 'plain', cut]);
          left -= cellWidth(cut);
          rest = rest.slice(cut.length);
          if (rest === '') break;
          lines.push([]);
          left = width;
        }
      }
    }
  }
  if (hidden > 0) lines.push([['quiet', `… ${plural(hidden, 'character')} more`]]);
  return lines;
}
