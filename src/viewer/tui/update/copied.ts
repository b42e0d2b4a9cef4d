import { filesAt, patchOf } from '../../../analysis/files/rollout-files.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import { type Rollout, type ToolCall, type Turn, toolCallsOf } from '../../../core/rollout/rollout.ts';
import { sanitise } from '../../../core/text/sanitise.ts';
import { shellInput, shellWord } from '../../../core/text/shell-quote.ts';
import { formatJson } from '../../present/json.ts';
import { readableText } from '../../present/readable.ts';
import type { Data } from '../rows/data.ts';
import { filesOf } from '../rows/followed-files.ts';
import { markedRows } from '../rows/marked-rows.ts';
import { oneRow } from '../rows/rows.ts';
import { viewport } from '../rows/viewport.ts';
import { MAX_COPY } from '../screen/osc52.ts';
import type { CopyKind } from '../state/action.ts';
import { assertNever } from '../state/assert-never.ts';
import { isByTurn } from '../state/display.ts';
import type { Rows } from '../state/rows.ts';
import type { State } from '../state/state.ts';

interface Copied {
  /** null: it is too long, which was determined without reading it. */
  text: string | null;
  /** Its name in the confirmation: `turn t2`, `the prompt`. */
  words: string;
}

/** Text for the clipboard; a string gives the reason for its absence. */
export function copyOf(state: State, data: Data, what: CopyKind): Copied | string {
  const { cursor } = state.list;
  if (cursor === null) return 'no rollout is open';
  const marked = markedRows(state, data);
  switch (what) {
    case 'json':
      return marked === null ? recordJson(data.record(cursor)) : copiedRecords(marked, data);
    case 'link':
      return marked === null ? turnLink(state, data, cursor) : copiedLocators(marked);
    case 'prompt':
      return ofRollout(data, cursor, promptText);
    case 'patch':
      return filesPatch(data.record(cursor));
    case 'turn':
      return ofTurn(state, data, cursor, ({ index, text }) => ({ text, words: `turn t${index}` }));
    case 'call':
      return ofTurn(state, data, cursor, callCommand);
    default:
      return assertNever(what);
  }
}

function filesPatch(record: DumpRecord): Copied | string {
  const files = filesOf(record);
  if (files === null) return 'this line is not a rollout';
  const { patch, missing } = patchOf(filesAt(files, null), files.workdir?.path ?? null);
  if (patch === '') return 'no difference of a file is certain';
  const without =
    missing.length === 0 ? '' : `, without ${missing.length} that ${missing.length === 1 ? 'is' : 'are'} not certain`;
  return { text: patch, words: `the changes of files as a patch${without}` };
}

/** The text of a long record is read when somebody asks for it. */
const recordJson = (record: DumpRecord): Copied => ({
  text: record.bytes > MAX_COPY ? null : record.raw,
  words: 'the record as JSON',
});

/** The turn under the cursor, in a view of turns. */
const turnHere = (state: State, data: Data): number | null =>
  isByTurn(state.display.view) ? (viewport(state, data)?.turn ?? null) : null;

function turnLink(state: State, data: Data, cursor: Place): Copied {
  const { locator } = data.record(cursor);
  const turn = turnHere(state, data);
  const text = turn === null ? locator : `${locator}#t${turn}`;
  return { text: shellWord(text), words: `the link ${text.slice(text.lastIndexOf('/') + 1)}` };
}

function ofRollout(data: Data, cursor: Place, copy: (rollout: Rollout) => Copied | string): Copied | string {
  const { rollout } = data.record(cursor);
  return rollout === null
    ? `this line is not a rollout; ${data.keys.label('yank.json')} takes it as it is`
    : copy(rollout);
}

const ofTurn = (
  state: State,
  data: Data,
  cursor: Place,
  copy: (turn: Turn, rollout: Rollout) => Copied | string,
): Copied | string =>
  ofRollout(data, cursor, (rollout) => {
    const turn = rollout.turns[turnHere(state, data) ?? -1];
    return turn === undefined ? `no turn here; ${data.keys.label('view.next')} goes to the chat` : copy(turn, rollout);
  });

function promptText({ turns, responseTurn }: Rollout): Copied | string {
  const texts = turns.slice(0, responseTurn).map(({ role, text }) => `${role}\n${text.trimEnd()}\n`);
  return texts.length === 0 ? 'this rollout has no prompt' : { text: texts.join('\n'), words: 'the prompt' };
}

function callCommand(turn: Turn, rollout: Rollout): Copied | string {
  const call = turn.toolCalls[0] ?? toolCallsOf(rollout).find((one) => one.resultTurn === turn.index);
  if (call === undefined) return 'no tool call in this turn';
  return { text: shellCommand(call), words: `call ${call.index} as a command` };
}

const copiedCount = ({ length }: Rows, what: string): string => `${length} ${what}${length === 1 ? '' : 's'}`;

const placesOf = (rows: Rows): Place[] =>
  Array.from({ length: rows.length }, (_, index) => rows.at(index)).filter((place) => place !== null);

function copiedLocators(marked: Rows): Copied {
  const locators = placesOf(marked).map(({ file, record }) => shellWord(file.locator(record)));
  return { text: locators.join('\n'), words: copiedCount(marked, 'locator') };
}

/** One record per line. Anything too long for a clipboard is not read. */
function copiedRecords(marked: Rows, data: Data): Copied {
  const places = placesOf(marked);
  const bytes = places.reduce((sum, { file, record }) => sum + file.index.length(record), 0);
  const text = bytes > MAX_COPY ? null : places.map((place) => data.record(place).raw).join('\n');
  return { text, words: `${copiedCount(marked, 'record')} as JSON` };
}

/** The text for an editor or a command: the marked rows as displayed, or the open record, without control sequences. */
export function exported(state: State, data: Data): { text: string; extension: string } | null {
  if (state.list.cursor === null) return null;
  const records = placesOf(markedRows(state, data) ?? oneRow(state.list.cursor)).map((place) => data.record(place));
  const isJson = state.display.view === 'json' || state.display.view === 'fields';
  return isJson
    ? { text: records.map(({ raw }) => `${sanitise(raw)}\n`).join(''), extension: 'json' }
    : { text: records.map((record) => readableText(record)).join('\n'), extension: 'txt' };
}

/** A call as text to paste into a shell: code is run by its interpreter, any other call is printed as JSON. */
export function shellCommand(call: ToolCall): string {
  const given = isJsonObject(call.arguments ?? undefined) ? (call.arguments as Record<string, unknown>) : {};
  const named = /^(?:bash|sh|shell|terminal)/i.test(call.name ?? '');
  if (typeof given.code === 'string') return shellInput(named ? 'bash -s' : 'python3 -', given.code);
  if (typeof given.command === 'string') return shellInput('bash -s', given.command);
  if (call.error !== null) return shellInput('cat', call.raw);
  return shellInput('cat', formatJson({ name: call.name, arguments: call.arguments }, 2));
}
