import type { JsonValue } from '../../core/json/value.ts';

/** Whose fault it was: the user's code, or an outside event (its process was ended for another call). */
export type OwnFault = 'tool' | 'world';

/** A failure in a user's code. `message` is the exception's text, as verl passes it to the model. */
export class OwnCodeError extends Error {
  override name = 'OwnCodeError';
  readonly fault: OwnFault;
  /** The traceback with the user's frames, for the record; null if the code did not raise. */
  readonly trace: string | null;
  /** The call cost its process: it ended the process, or blocked everything else. */
  readonly endsProcess: boolean;
  /** The answer that a call gave after its time was over: its work is done. Undefined without one. */
  readonly late: JsonValue | undefined;

  constructor(
    message: string,
    {
      fault = 'tool',
      trace = null,
      endsProcess = false,
      late,
    }: { fault?: OwnFault; trace?: string | null; endsProcess?: boolean; late?: JsonValue | undefined } = {},
  ) {
    super(message);
    this.fault = fault;
    this.trace = trace;
    this.endsProcess = endsProcess;
    this.late = late;
  }
}

/** The code cannot be used at all: a missing file, a failing import, a class of the wrong shape. */
export class CannotLoadError extends OwnCodeError {
  override name = 'CannotLoadError';
}
