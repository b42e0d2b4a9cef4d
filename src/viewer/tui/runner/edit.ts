import type { Place } from '../../../core/dump/dump.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { editCall, type PlannedCall, planCalls } from '../../../replay/index.ts';
import type { JobOf, RunnerContext } from './context.ts';
import { type Draft, draftOf } from './draft.ts';
import { editText } from './external-program.ts';

/** Opens the call's arguments in an editor, as last edited. Nothing runs yet. */
export function openCallEditor(runner: RunnerContext, { place, call, args, inside }: JobOf<'edit'>): void {
  const drafted = callDraft(runner, place, call, args);
  if (drafted === null) return;
  const { plan, draft, before } = drafted;
  const { handOver, env, say, report } = runner.options;
  if (inside) {
    const language = plan.code === null ? 'arguments as JSON' : plan.code.language;
    const title = `${sanitiseLine(plan.name ?? 'call')} t${plan.turn}, ${sanitiseLine(language)}`;
    report({ type: 'editor-open', subject: { kind: 'call', place, call, args: before }, title, text: draft.text });
    return;
  }
  const text = handOver(() => editText(draft.text, draft.ending, env));
  const edited = text === draft.text ? before : draft.read(text);
  if (edited === undefined) say('nothing was changed', 'info');
  else keepEdited(runner, plan, place, edited);
}

/** Opens the text of a turn in an editor, to continue from the edited text. */
export function openTurnEditor(runner: RunnerContext, { place, turn, text: before, inside }: JobOf<'fork-edit'>): void {
  const text = before ?? runner.row(place).rollout?.turns[turn]?.text;
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
export function takeEdited(runner: RunnerContext, { subject, text }: JobOf<'edited'>): void {
  const { report } = runner.options;
  if (subject.kind === 'turn') {
    report({ type: 'fork-edited', place: subject.place, turn: subject.turn, text });
  } else {
    const drafted = callDraft(runner, subject.place, subject.call, subject.args);
    if (drafted === null) return;
    let args: JsonValue;
    try {
      args = drafted.draft.read(text);
    } catch (error) {
      report({ type: 'editor-problem', problem: sanitiseLine(errorMessage(error)) });
      return;
    }
    keepEdited(runner, drafted.plan, subject.place, args);
  }
  report({ type: 'editor-close' });
}

interface Drafted {
  plan: PlannedCall;
  draft: Draft;
  /** The arguments as previously edited; undefined: never. */
  before: JsonValue | undefined;
}

function callDraft(runner: RunnerContext, place: Place, call: number, args: JsonValue | undefined): Drafted | null {
  const recorded = planCalls(runner.row(place), { tools: runner.tools, call })[0];
  if (recorded === undefined) return null;
  const before = args ?? runner.drafts.get(`${recorded.locator} ${call}`);
  const plan = before === undefined ? recorded : editCall(recorded, before);
  return { plan, draft: draftOf(plan, plan.arguments), before };
}

function keepEdited(runner: RunnerContext, { locator, call }: PlannedCall, place: Place, args: JsonValue): void {
  runner.drafts.set(`${locator} ${call}`, args);
  runner.options.report({ type: 'replay-edited', place, call, args });
}
