import type { Place } from '../../dump/dump.ts';
import type { JsonValue } from '../../json/value.ts';
import { editCall, type PlannedCall, planCalls } from '../../replay/index.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { RunnerJob } from '../state/replay-actions.ts';
import { type Draft, draftOf, editDraft, turnDraft } from './draft.ts';
import type { Runner } from './runner.ts';

type Job<Kind extends RunnerJob['kind']> = Extract<RunnerJob, { kind: Kind }>;

/** The call's arguments in an editor, as they were edited last. Nothing runs yet. */
export function openCallEditor(runner: Runner, { place, call, args, inside }: Job<'edit'>): void {
  const drafted = callDraft(runner, place, call, args);
  if (drafted === null) return;
  const { plan, draft, before } = drafted;
  const { lend, env, say, tell } = runner.options;
  if (inside) {
    const language = plan.code === null ? 'arguments as JSON' : plan.code.language;
    const title = `${sanitiseLine(plan.name ?? 'call')} t${plan.turn}, ${sanitiseLine(language)}`;
    tell({ type: 'editor-open', subject: { kind: 'call', place, call, args: before }, title, text: draft.text });
    return;
  }
  const edited = editDraft(draft, lend, env) ?? before;
  if (edited === undefined) say('nothing was changed', 'info');
  else keepEdited(runner, plan, place, edited);
}

/** The text of a turn in an editor, to go on from it as it is then. */
export function openTurnEditor(runner: Runner, { place, turn, text: before, inside }: Job<'fork-edit'>): void {
  const text = before ?? runner.row(place).rollout?.turns[turn]?.text;
  if (text === undefined) return;
  const { lend, env, say, tell } = runner.options;
  if (inside) {
    tell({ type: 'editor-open', subject: { kind: 'turn', place, turn }, title: `turn t${turn}`, text });
    return;
  }
  const edited = editDraft(turnDraft(text), lend, env);
  if (edited === null) say('nothing was changed', 'info');
  else tell({ type: 'fork-edited', place, turn, text: edited });
}

/** What was written in the screen's own editor; it stays open over a text that cannot be read. */
export function takeEdited(runner: Runner, { subject, text }: Job<'edited'>): void {
  const { tell } = runner.options;
  if (subject.kind === 'turn') {
    tell({ type: 'fork-edited', place: subject.place, turn: subject.turn, text });
  } else {
    const drafted = callDraft(runner, subject.place, subject.call, subject.args);
    if (drafted === null) return;
    let args: JsonValue;
    try {
      args = drafted.draft.read(text);
    } catch (error) {
      tell({ type: 'editor-problem', problem: sanitiseLine((error as Error).message) });
      return;
    }
    keepEdited(runner, drafted.plan, subject.place, args);
  }
  tell({ type: 'editor-close' });
}

interface Drafted {
  plan: PlannedCall;
  draft: Draft;
  /** The arguments as they were edited before; undefined: never. */
  before: JsonValue | undefined;
}

function callDraft(runner: Runner, place: Place, call: number, args: JsonValue | undefined): Drafted | null {
  const recorded = planCalls(runner.row(place), { tools: runner.tools, call })[0];
  if (recorded === undefined) return null;
  const before = args ?? runner.shelf.draft(recorded.locator, call);
  const plan = before === undefined ? recorded : editCall(recorded, before);
  return { plan, draft: draftOf(plan, plan.arguments), before };
}

function keepEdited(runner: Runner, { locator, call }: PlannedCall, place: Place, args: JsonValue): void {
  runner.shelf.keepDraft(locator, call, args);
  runner.options.tell({ type: 'replay-edited', place, call, args });
}
