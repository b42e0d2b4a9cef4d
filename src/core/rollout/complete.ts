import { type JsonValue, objectIn } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { errorMessage } from '../text/thrown.ts';
import { checkRollout, reportedFinding } from './checks.ts';
import type { Ended } from './ended.ts';
import { endedByReason } from './ended.ts';
import { endedByText } from './ended-by-text.ts';
import type { Finding } from './finding.ts';
import { errorPatterns, type OwnError } from './own-errors.ts';
import type { Rollout } from './rollout.ts';

/** A rollout as read by a format; `ended` if the record says it explicitly. */
export type RolloutDraft = Omit<Rollout, 'findings' | 'ended'> & { ended?: Ended | null };

const NO_ERRORS: readonly OwnError[] = [];

/**
 * The conclusions for any format: how the rollout ended, and the findings. Every format calls it last.
 * @param errors how the user's tools report failure
 */
export function completeRollout(draft: RolloutDraft, errors: readonly OwnError[] = NO_ERRORS): Rollout {
  const rollout = Object.assign(new WithFindings(errors), draft, { ended: draft.ended ?? endedOf(draft) });
  // After the draft, which may be a rollout of another file and have findings of its own.
  return Object.defineProperty(rollout, 'findings', ACCESSOR);
}

/**
 * Findings are made when somebody asks: they take half of the time of reading a record. All rollouts share one
 * accessor, because V8 makes a dictionary of an object with an accessor of its own, and its fields are slow to read. It
 * is a property of the rollout itself, so that a copy has the findings.
 */
class WithFindings {
  declare readonly findings: Finding[];
  readonly #errors: readonly OwnError[];
  #found: Finding[] | undefined = undefined;

  constructor(errors: readonly OwnError[]) {
    this.#errors = errors;
  }

  static of(rollout: WithFindings & Rollout): Finding[] {
    rollout.#found ??= checkedFindings(rollout, rollout.#errors);
    return rollout.#found;
  }
}

const ACCESSOR: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: WithFindings & Rollout) {
    return WithFindings.of(this);
  },
};

/** No check should throw. If one does on a text of unforeseen shape, the findings say so. */
function checkedFindings(rollout: Rollout, errors: readonly OwnError[]): Finding[] {
  try {
    return checkRollout(rollout, errorPatterns(errors));
  } catch (error) {
    return [reportedFinding('bad_record', `not checked: ${errorMessage(error)}`)];
  }
}

/** A recorded reason takes precedence over the appearance of the text. */
function endedOf(draft: RolloutDraft): Ended {
  const { extras, status, turns, responseTurn, spans, texts } = draft;
  const reasons: readonly [string, unknown][] = [
    ['finish_reason', extras.finish_reason],
    ['stop_reason', extras.stop_reason],
    ['status', status],
    ['termination_reason', extras.termination_reason],
    ['stop_condition', extras.stop_condition],
    ['exit_status', extras.exit_status],
  ];
  for (const [name, reason] of reasons) {
    const ended = typeof reason === 'string' ? endedByReason(name, reason) : null;
    if (ended !== null) return ended;
  }
  for (const name of ['is_truncated', 'truncated'])
    if (extras[name] === true) return { how: 'length', evidence: `${name} is true` };
  const error = draft.reading === undefined ? errorText(extras.error) : '';
  if (error !== '') return { how: 'aborted', evidence: `error ${error.slice(0, 60)}` };
  // A text that looks cut was not, if its writer says so.
  const uncut = ['is_truncated', 'truncated'].find((name) => extras[name] === false);
  const done = ['is_completed', 'completed', 'terminated'].find((name) => extras[name] === true);
  if (uncut !== undefined && done !== undefined) return { how: 'stop', evidence: `${done} is true, ${uncut} is false` };
  const last = spans.at(-1);
  // An end token and the line break after it are separate markers.
  let marker = '';
  for (let at = spans.length - 1; at >= 0; at--) {
    const { kind, turn, field, start, end } = itemAt(spans, at);
    if (kind !== 'marker' || turn !== last?.turn) break;
    marker = (texts[field] ?? '').slice(start, end) + marker;
  }
  marker = marker.trim();
  const isLast = last !== undefined && turns[last.turn]?.role === 'assistant' && last.turn === turns.length - 1;
  return endedByText(turns.slice(responseTurn), isLast && END_TOKEN.test(marker) ? marker.slice(0, 40) : null);
}

/** The words of a record's error. In a dump of texts the key is one of the reward function's. */
function errorText(error: JsonValue | undefined): string {
  const { message, error_message, type, name, error: said } = objectIn(error);
  const words = [error, message, error_message, said, type, name].find((one) => typeof one === 'string');
  return typeof words === 'string' && !/^\s*(?:none|null|nan|false)?\s*$/i.test(words) ? words.trim() : '';
}

/** A token that ends a turn, in special-token form; padding may follow. */
const END_TOKEN = /^<[|｜/]?\S{1,40}>/;
