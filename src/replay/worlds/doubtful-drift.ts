import type { RecordedAction } from '../../analysis/actions/action.ts';
import type { WorldVerdict } from './compare.ts';
import { WINDOW_TOOLS } from './file-tools.ts';

/** Tools of SWE-agent's windows that change nothing. */
export const WINDOW_READS = /^(?:find|search)_/;

interface Judged {
  verdict: WorldVerdict;
  reason: string | null;
}

/** Finds the results that differ for a reason which is not in the recorded run: calls that were not run here, or ran beside each other there. */
export class DoubtfulDrift {
  readonly #actions: readonly RecordedAction[];
  #unrun: string | null = null;
  #lacking: number | null = null;

  constructor(actions: readonly RecordedAction[]) {
    this.#actions = actions;
  }

  /** A call before this one, which a run from the middle does not run. */
  pass(recorded: RecordedAction): void {
    if (isForeign(recorded))
      this.#unrun ??= `call ${recorded.call} (${recorded.name}), which may have changed what this one finds, was not run`;
  }

  /** The state that a call left is not the one in which later calls run. */
  lose(recorded: RecordedAction): void {
    this.#lacking ??= recorded.call;
  }

  /** The verdict and reason of a call, in the order of the calls. */
  judge(recorded: RecordedAction, { verdict, reason }: Judged): Judged {
    const judged = verdict === 'drift' ? this.#drift(recorded, reason) : { verdict, reason };
    if (judged.verdict === 'infra') this.lose(recorded);
    this.pass(recorded);
    return judged;
  }

  #drift(recorded: RecordedAction, reason: string | null): Judged {
    if (this.#unrun !== null) return { verdict: 'infra', reason: `it differs, but ${this.#unrun}` };
    const beside = this.#actions.find(
      (one) =>
        one.turn === recorded.turn && one !== recorded && namesOf(one).some((name) => namesOf(recorded).includes(name)),
    );
    if (beside !== undefined)
      return {
        verdict: 'unknown',
        reason: `it differs, but call ${beside.call} of the same turn names the same file: which of them came first is not recorded`,
      };
    const after =
      this.#lacking === null ? null : `call ${this.#lacking}, which could not be run as recorded, may be why`;
    return { verdict: 'drift', reason: [reason, after].filter((one) => one !== null).join('; ') || null };
  }
}

/** Whether a call did not run here, though it may have changed the world. */
function isForeign({ action }: RecordedAction): boolean {
  if (action.kind === 'none') return action.mayChange;
  if (action.kind === 'window') return !WINDOW_TOOLS.has(action.verb) && !WINDOW_READS.test(action.verb);
  // Keys that end a program or its input change no more than its end does.
  return action.kind === 'shell' && action.isInput && !/^(?:C-[cdz])?$/.test(action.command.trim());
}

/** The last parts of the paths that a call names. */
function namesOf({ action }: RecordedAction): string[] {
  const text =
    action.kind === 'shell'
      ? action.command
      : action.kind === 'patch'
        ? action.text
        : 'path' in action
          ? action.path
          : '';
  return (text.match(/[\w@+.-]*[./][\w@+./-]*\w/g) ?? []).map((path) => path.replace(/^.*\//, ''));
}
