import { type FileState, fileDiff } from '../../../analysis/files/file-states.ts';
import { blameOf, type FileSummary, filesAt, type RolloutFiles } from '../../../analysis/files/rollout-files.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { fileChanges, filesOf } from '../rows/followed-files.ts';
import type { Page, PageRow } from '../rows/page.ts';
import type { PageSubject, SubjectOf } from '../state/page.ts';

const NOTHING = 'no recorded call changes a file';

/** Every change of a file, in order; or a row for each file, with all that happened to it. */
export function filesPage(subject: SubjectOf<'files'>, data: Data): Page {
  const record = data.record(subject.place);
  const files = filesOf(record);
  return subject.byFile ? byFile(subject, record, files, data) : byChange(subject, record, files, data);
}

function byChange(subject: SubjectOf<'files'>, { locator }: DumpRecord, files: RolloutFiles | null, data: Data): Page {
  const { place } = subject;
  const changes = files === null ? [] : fileChanges(files);
  return {
    title: sanitiseLine(`what calls changed in ${locator}`),
    note: plural(changes.length, 'change'),
    head: [
      sanitiseLine(
        `${data.keys.label('open', 'page')} reads the file as it was then; ${data.keys.label('page.switch', 'page')} shows the difference; ${data.keys.label('page.numbers', 'page')} lists files`,
      ),
    ],
    columns: [
      { title: 'turn', width: 6, isFixed: true },
      { title: 'file', width: 40, isText: true, grows: true },
      { title: '+', width: 5 },
      { title: '−', width: 5 },
      { title: 'status', width: 8, isText: true },
      { title: 'how it is known', width: 34, isText: true },
    ],
    length: changes.length,
    empty: NOTHING,
    sort: null,
    other: { type: 'page-change', subject: { ...subject, byFile: true } },
    row: (index) => {
      const one = changes[index];
      if (one === undefined) return { cells: [] };
      const { turn, path, status, deleted, why } = one.change;
      const diff = one.change.diff ?? recordedEdit(files, one);
      return {
        cells: [`t${turn}`, sanitiseLine(path), ...diffCounts(diff), deleted ? 'deleted' : status, sanitiseLine(why)],
        open: () => ({ type: 'page-open', subject: { kind: 'file', place, path, change: index } }),
        toggle: { type: 'page-open', subject: { kind: 'file-diff', place, path, change: index } },
      };
    },
  };
}

function byFile(subject: SubjectOf<'files'>, { locator }: DumpRecord, files: RolloutFiles | null, data: Data): Page {
  const { place } = subject;
  const list = files === null ? [] : filesAt(files, null);
  const changes = files === null ? [] : fileChanges(files);
  return {
    title: sanitiseLine(`the files of ${locator}`),
    note: plural(list.length, 'file'),
    head: [
      sanitiseLine(
        `${data.keys.label('open', 'page')} reads the file; ${data.keys.label('page.switch', 'page')} shows its whole difference; ${data.keys.label('page.numbers', 'page')} the difference of all; ${data.keys.label('yank.patch')} takes it as a patch`,
      ),
    ],
    columns: [
      { title: 'file', width: 40, isText: true, isFixed: true, grows: true },
      { title: '+', width: 5 },
      { title: '−', width: 5 },
      { title: 'status', width: 8, isText: true },
      { title: 'changed in', width: 34, isText: true },
    ],
    length: list.length,
    empty: 'no recorded call names a file',
    sort: null,
    other: { type: 'page-change', subject: { kind: 'file-diff', place, path: null, change: null } },
    row: (index) => {
      const one = list[index];
      if (one === undefined) return { cells: [] };
      const { path, added, removed, last } = one;
      const turns = [...new Set(one.changes.map(({ turn }) => `t${turn}`))].join(' ');
      const at = changes.findLastIndex(({ change }) => change.path === path);
      return {
        cells: [
          sanitiseLine(path),
          added === null ? '?' : `+${added}`,
          removed === null ? '?' : `−${removed}`,
          last.change.deleted ? 'deleted' : last.change.status,
          turns === '' ? 'read' : turns,
        ],
        open: () => ({ type: 'page-open', subject: { kind: 'file', place, path, change: at === -1 ? null : at } }),
        toggle: { type: 'page-open', subject: { kind: 'file-diff', place, path, change: null } },
      };
    },
  };
}

/** The edit in the arguments of a call, where the whole file is not known; null if they hold none. */
function recordedEdit(files: RolloutFiles | null, { change }: FileState): string | null {
  const action = files?.actions.find(({ call }) => call === change.call)?.action;
  const { path } = change;
  if (action?.kind === 'edit') return action.edits.map((edit) => fileDiff(path, edit.old, edit.new)).join('');
  if (action?.kind === 'editor' && action.new !== null && ['str_replace', 'insert'].includes(action.command))
    return fileDiff(path, action.old ?? '', action.new);
  if (action?.kind !== 'blocks') return null;
  return action.blocks.map(({ search, replace }) => fileDiff(path, search, replace)).join('');
}

function diffCounts(diff: string | null): [string, string] {
  if (diff === null) return ['?', '?'];
  const count = (sign: RegExp) => diff.match(sign)?.length ?? 0;
  return [`+${count(/^\+(?!\+\+ )/gm)}`, `−${count(/^-(?!-- )/gm)}`];
}

/** The known lines of a file after a change, each with the turn that wrote it. Enter goes to that turn. */
export function filePage({ place, path, change }: SubjectOf<'file'>, data: Data): Page {
  const record = data.record(place);
  const files = filesOf(record);
  const changes = files === null ? [] : fileChanges(files);
  const last = files?.states.findLast((state) => state.change.path === path);
  const state = (change === null ? last : changes[change]) ?? last;
  const lines = state === undefined ? [] : blameOf(state.file);
  const next = changes.findIndex((one, i) => i > (change ?? -1) && one.change.path === path);
  const before = change === null ? -1 : changes.findLastIndex((one, i) => i < change && one.change.path === path);
  const turnOf = (call: number | null) => files?.actions.find((action) => action.call === call)?.turn;
  const at = (index: number): PageSubject => ({ kind: 'file', place, path, change: index });
  const status = state === undefined ? 'unknown' : state.change.deleted ? 'deleted' : state.change.status;
  return {
    title: sanitiseLine(`${path} after t${state?.change.turn ?? '?'} of ${record.locator}`),
    note: status,
    head: [
      sanitiseLine(
        `${data.keys.label('open', 'page')} goes to the turn that wrote the line; ${data.keys.label('page.switch', 'page')} ${next === -1 ? 'the first change' : 'the next change'} of this file; ${data.keys.label('page.numbers', 'page')} the difference`,
      ),
    ],
    columns: [
      { title: 'by', width: 5, isFixed: true },
      { title: 'line', width: 6, isFixed: true },
      { title: '', width: 60, isText: true, grows: true },
    ],
    length: lines.length,
    empty: status === 'deleted' ? 'it does not exist' : status === 'certain' ? 'it is empty' : 'no line of it is known',
    sort: null,
    ...(change === null ? {} : { other: { type: 'page-change', subject: { kind: 'file-diff', place, path, change } } }),
    row: (index): PageRow => {
      const line = lines[index];
      if (line === undefined) return { cells: [] };
      const turn = turnOf(line.by);
      const target = next === -1 ? (before === -1 ? null : changes.findIndex((one) => one.change.path === path)) : next;
      return {
        cells: [
          turn === undefined ? '–' : `t${turn}`,
          String(line.line),
          sanitiseLine(line.text.replaceAll('\t', '    ')),
        ],
        ...(turn === undefined ? {} : { open: () => ({ type: 'page-read', place, turn }) }),
        ...(target === null ? {} : { toggle: { type: 'page-change', subject: at(target) } }),
      };
    },
  };
}

/** A difference: of one change, of one file over the whole rollout, or of all files. */
export function fileDiffPage({ place, path, change }: SubjectOf<'file-diff'>, data: Data): Page {
  const record = data.record(place);
  const files = filesOf(record);
  const one = files === null || change === null ? undefined : fileChanges(files)[change];
  const whole =
    files === null || change !== null ? [] : filesAt(files, null).filter((file) => path === null || file.path === path);
  const missing = whole.filter((file) => file.changes.length > 0 && wholeDiff(file) === null);
  const text =
    one === undefined
      ? whole.map((file) => wholeDiff(file) ?? '').join('')
      : (one.change.diff ?? recordedEdit(files, one));
  const lines = (text ?? '').split('\n').slice(0, -1);
  const subject: PageSubject =
    path === null || change === null ? { kind: 'files', place, byFile: false } : { kind: 'file', place, path, change };
  return {
    title: sanitiseLine(
      one === undefined
        ? `all changes of ${path ?? 'files'} in ${record.locator}`
        : `what t${one.change.turn} of ${record.locator} changed in ${one.change.path}`,
    ),
    note: lines.length === 0 ? '' : plural(lines.length, 'line'),
    head: [
      ...missing.map((file) => sanitiseLine(`${file.path}: its difference is not certain`)).slice(0, 3),
      ...(one !== undefined && one.change.diff === null && text !== null
        ? ['the edit as the call asks for it; its place in the file is not certain']
        : []),
    ],
    columns: [{ title: '', width: 60, isText: true, isFixed: true, grows: true }],
    length: lines.length,
    empty:
      one !== undefined && text === null ? sanitiseLine(`not certain: ${one.change.why}`) : 'no difference is certain',
    sort: null,
    other: { type: 'page-change', subject },
    row: (index) => {
      const line = sanitiseLine((lines[index] ?? '').replaceAll('\t', '    '));
      return {
        cells: [
          line.startsWith('+') ? [['accent', line] as const] : line.startsWith('-') ? [['error', line] as const] : line,
        ],
      };
    },
  };
}

const wholeDiff = ({ path, base, last }: FileSummary): string | null =>
  base === undefined || last.file.status !== 'certain' ? null : fileDiff(path, base, last.file.text);
