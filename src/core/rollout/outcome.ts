import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { ErrorKind, Fault } from './error-kind.ts';

/** A record's note on a tool's result, beside its text. It takes precedence over what the text looks like. */
export interface RecordedOutcome {
  isFailure: boolean;
  /** The note itself: `isError true`, `exit code 1`. */
  evidence: string;
  /** Absent if the note only says that it failed. */
  kind?: ErrorKind;
  fault?: Fault;
  /** It is the exit status of a command. */
  isExit?: boolean;
}

/** The exit status that shells use for an unknown command, and that `timeout` uses for one which took too long. */
const NOT_FOUND = 127;
const TIMED_OUT = 124;

/** A result's status, in lower case. Words that only say that an item is complete (`completed`) do not mean success. */
const FAILED =
  /^(?:error|errored|failed|failure|fail|declined|denied|rejected|timed_?out|timeout|cancelled|canceled|aborted)$/;
const WORKED = /^(?:success|succeeded|ok)$/;

/**
 * The recorded outcome of a result, under any of the keys that writers use. A failure in any place takes precedence
 * over a success in another.
 * @param places objects that may contain it: the message, and its attachments
 * @returns undefined if nothing was recorded
 */
export function outcomeIn(...places: (JsonValue | undefined)[]): RecordedOutcome | undefined {
  let worked: RecordedOutcome | undefined;
  for (const place of places) {
    const outcome = isJsonObject(place) ? outcomeOf(place) : undefined;
    if (outcome?.isFailure) return outcome;
    worked ??= outcome;
  }
  return worked;
}

function outcomeOf(place: JsonObject): RecordedOutcome | undefined {
  for (const key of ['timed_out', 'timedOut', 'timeout', 'is_timeout'])
    if (place[key] === true) return { isFailure: true, evidence: `${key} true`, kind: 'timeout' };
  const outcomes = [...flags(place), ...exitCodes(place), ...statuses(place)];
  return outcomes.find(({ isFailure }) => isFailure) ?? outcomes[0];
}

function flags(place: JsonObject): RecordedOutcome[] {
  const found: RecordedOutcome[] = [];
  for (const key of ['isError', 'is_error', 'error', 'has_error', 'is_failure']) {
    const value = place[key];
    if (typeof value === 'boolean') found.push({ isFailure: value, evidence: `${key} ${value}` });
    else if (key === 'error') found.push(...recordedError(value));
  }
  const { success } = place;
  if (typeof success === 'boolean') found.push({ isFailure: !success, evidence: `success ${success}` });
  return found;
}

/** An error in words, or as an object. An empty one means nothing: some writers have the key in each message. */
function recordedError(value: JsonValue | undefined): RecordedOutcome[] {
  const { type, message } = isJsonObject(value) ? value : { type: undefined, message: value };
  const words = [type, message].filter((word): word is string => typeof word === 'string' && word !== '');
  if (words.length === 0) return [];
  const isTimeout = words.some((word) => /^(?:timeout|timed out|time-?out)/i.test(word));
  return [
    { isFailure: true, evidence: `error ${words.join(': ').slice(0, 80)}`, ...(isTimeout ? { kind: 'timeout' } : {}) },
  ];
}

const EXIT_KEYS = ['exit_code', 'exitCode', 'returncode', 'return_code', 'returnCode', 'exit_status', 'exitStatus'];

function exitCodes(place: JsonObject): RecordedOutcome[] {
  return EXIT_KEYS.flatMap((key) => {
    const value = place[key];
    return typeof value === 'number' ? [exitOutcome(value)] : [];
  });
}

/** The outcome of a command with an exit status. */
export function exitOutcome(status: number): RecordedOutcome {
  const noted = { isFailure: status !== 0, evidence: `exit status ${status}`, isExit: true };
  if (status === 0) return noted;
  if (status === TIMED_OUT) return { ...noted, kind: 'timeout' };
  if (status === NOT_FOUND) return { ...noted, kind: 'exception', fault: 'model' };
  return { ...noted, kind: 'exception' };
}

function statuses(place: JsonObject): RecordedOutcome[] {
  const { status } = place;
  if (typeof status !== 'string') return [];
  const word = status.toLowerCase();
  if (WORKED.test(word)) return [{ isFailure: false, evidence: `status ${word}` }];
  if (!FAILED.test(word)) return [];
  const kind = /^time/.test(word) ? 'timeout' : /^(?:declined|denied|rejected)$/.test(word) ? 'rejected' : undefined;
  return [{ isFailure: true, evidence: `status ${word}`, ...(kind === undefined ? {} : { kind }) }];
}
