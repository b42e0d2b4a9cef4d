import type { Place } from '../../../core/dump/dump.ts';
import { parseJson } from '../../../core/json/parse.ts';
import { printJson } from '../../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../../core/json/value.ts';
import { itemAt } from '../../../core/lists/at.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { editCall, type PlannedCall } from '../../../replay/index.ts';
import { worldCalls } from '../rows/world-calls.ts';
import type { JobOf, RunnerContext } from './context.ts';
import { editText } from './external-program.ts';
import { plannedCalls } from './planned.ts';

/** Opens the call's arguments in an editor, as last edited. Nothing runs yet. */
export async function openCallEditor(
  runner: RunnerContext,
  { place, call, args, inside }: JobOf<'edit'>,
): Promise<void> {
  const drafted = await callDraft(runner, place, call, args);
  if (drafted === null) return;
  const { draft, before, title } = drafted;
  const { handOver, env, say, report } = runner.options;
  if (inside) {
    report({ type: 'editor-open', subject: { kind: 'call', place, call, args: before }, title, text: draft.text });
    return;
  }
  const text = handOver(() => editText(draft.text, draft.ending, env));
  const edited = text === draft.text ? before : draft.read(text);
  if (edited === undefined) say('nothing was changed', 'info');
  else keepEdited(runner, place, call, edited);
}

/** Opens the text of a turn in an editor, to continue from the edited text. */
export async function openTurnEditor(
  runner: RunnerContext,
  { place, turn, text: before, inside }: JobOf<'fork-edit'>,
): Promise<void> {
  const text = before ?? (await runner.options.whole(place))?.rollout?.turns[turn]?.text;
  if (text === undefined) return;
  const { handOver, env, say, report } = runner.options;
  if (inside) {
    report({ type: 'editor-open', subject: { kind: 'turn', place, turn }, title: `turn t${turn}`, text });
    return;
  }
  const edited = handOver(() => editText(text, 'md', env));
  if (edited === text) say('nothing was changed', 'info');
  else report({ type: 'fork-edited', place, turn, text: edited });
}

/** Takes the text of the screen's own editor, which stays open if the text cannot be parsed. */
export async function takeEdited(runner: RunnerContext, { subject, text }: JobOf<'edited'>): Promise<void> {
  const { report } = runner.options;
  if (subject.kind === 'turn') {
    report({ type: 'fork-edited', place: subject.place, turn: subject.turn, text });
  } else {
    const drafted = await callDraft(runner, subject.place, subject.call, subject.args);
    if (drafted === null) return;
    let args: JsonValue;
    try {
      args = drafted.draft.read(text);
    } catch (error) {
      report({ type: 'editor-problem', problem: sanitiseLine(errorMessage(error)) });
      return;
    }
    keepEdited(runner, subject.place, subject.call, args);
  }
  report({ type: 'editor-close' });
}

interface Drafted {
  draft: Draft;
  /** The name of the edited text, for people, sanitised. */
  title: string;
  /** The arguments as previously edited; undefined: never. */
  before: JsonValue | undefined;
}

const draftKey = (locator: string, call: number): string => `${locator} ${call}`;

async function callDraft(
  runner: RunnerContext,
  place: Place,
  call: number,
  args: JsonValue | undefined,
): Promise<Drafted | null> {
  const planned = await plannedCalls(runner, { place });
  if (planned === null) return null;
  const { row, plans } = planned;
  const before = args ?? runner.drafts.get(draftKey(row.locator, call));
  const recorded = plans.find((one) => one.call === call);
  const titleOf = (name: string | null, turn: number, what: string) =>
    `${sanitiseLine(name ?? 'call')} t${turn}, ${sanitiseLine(what)}`;
  const own = row.rollout === null || (recorded?.tool ?? null) !== null ? undefined : shellCall(row.rollout, call);
  if (own !== undefined) {
    const text = typeof before === 'string' ? before : own.command;
    return { draft: { text, ending: 'sh', read: (typed) => typed }, title: titleOf(own.name, own.turn, 'sh'), before };
  }
  if (recorded === undefined) return null;
  const plan = before === undefined ? recorded : editCall(recorded, before);
  const language = plan.code === null ? 'arguments as JSON' : plan.code.language;
  return { draft: draftOf(plan, plan.arguments), title: titleOf(plan.name, plan.turn, language), before };
}

/** A call of an agent's shell: its command is edited, whatever its arguments look like. */
function shellCall(rollout: Rollout, call: number): { command: string; name: string; turn: number } | undefined {
  const found = worldCalls(rollout).find((one) => one.call === call);
  return found?.action.kind === 'shell'
    ? { command: found.action.command, name: found.name, turn: found.turn }
    : undefined;
}

function keepEdited(runner: RunnerContext, place: Place, call: number, args: JsonValue): void {
  runner.drafts.set(draftKey(place.file.locator(place.record), call), args);
  runner.options.report({ type: 'replay-edited', place, call, args });
}

const ENDING: Record<string, string> = {
  python: 'py',
  javascript: 'js',
  typescript: 'ts',
  bash: 'sh',
  cpp: 'cpp',
  go: 'go',
};

interface Draft {
  text: string;
  ending: string;
  /** @throws Error that says what is wrong with it */
  read(text: string): JsonValue;
}

/** Only the code if the arguments contain it verbatim, else the arguments as JSON. */
function draftOf({ code }: PlannedCall, args: JsonValue | null): Draft {
  const ending = ENDING[code?.language ?? ''] ?? 'txt';
  if (typeof args === 'string') return { text: args, ending, read: (text) => text };
  if (code !== null && isJsonObject(args ?? undefined)) {
    const object = args as { [key: string]: JsonValue };
    const keys = Object.keys(object).filter((key) => object[key] === code.code);
    if (keys.length === 1) return { text: code.code, ending, read: (text) => ({ ...object, [itemAt(keys, 0)]: text }) };
  }
  return { text: `${printJson(args, 2)}\n`, ending: 'json', read: (text) => parseJson(text) };
}
