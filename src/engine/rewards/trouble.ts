import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';

/** A state without a verdict: the service is waiting, failed, or gave up. */
const NO_VERDICT =
  /^(?:pending|queued|running|processing|in[_ -]progress|waiting|started|(?:internal[_ -]?)?error(?:ed)?|fail(?:ed|ure)|exception|time[d_ -]*out|cancel+ed|aborted|unavailable|unknown|skipped|scheduled|retry(?:ing)?|crash(?:ed)?|incomplete|not[_ -]?(?:yet[_ -]?)?(?:ready|started|run|judged|graded|scored|evaluated|finished|completed|done))$/i;
/** A state that names who failed: the service around the answer, not the answer's own program (`runtime_error`). */
const SERVICE_STATE =
  /^(?:infra(?:structure)?|system|judge|grader|server|service|internal|network|sandbox|eval(?:uation|uator)?|scor(?:er|ing)|reward|api|worker|environment|env|setup)[_ -]?(?:error|fail(?:ed|ure)?|time[d_ -]*out|unavailable|crash(?:ed)?|exception)$/i;
/** Keys that say whether the service did its work. `passed`, `correct` and `valid` are of the answer. */
const WORK_IS_DONE = /^(?:is_?)?(?:success|ok|finished|completed?|ready|done|judged|graded|scored|evaluated)$/i;
/** Messages about the service rather than the answer. */
const SERVICE_FAILED =
  /\btim(?:ed?|ing)[ -]?out\b|\btimeout\b|\b(?:internal|server|judge|sandbox|service|connection|upstream|gateway|network|api)\b.{0,40}\b(?:error|fail(?:ed|ure)?|unavailable|refused|overloaded|crashed)\b|\brate[ -]?limit|\boverloaded\b|\btoo many requests\b|\btry again\b|\bnot ready\b|\b(?:error|failed|unable|could not|cannot) (?:to )?(?:call|reach|contact|connect|query|grade|judge|score|compute)/i;
/** Programs that run the model's code: their failures belong to the answer. */
const OF_THE_ANSWER =
  /test|case|check|f2p|p2p|run|exec|compil|solution|submission|answer|program|stdout|stderr|output/i;
/** Answers are wrapped a few times at most. */
const DEPTH = 6;

/**
 * The part of a service's answer that shows nothing was judged, wherever it is nested; null if none does. Lists and what
 * describes the model's code are left out: a failed test is a verdict.
 */
export function troubleOf(body: JsonValue, depth = DEPTH): string | null {
  if (!isJsonObject(body) || depth === 0) return null;
  const own = ownTrouble(body);
  if (own !== null) return own;
  for (const [key, value] of Object.entries(body)) {
    const trouble = OF_THE_ANSWER.test(key) ? null : troubleOf(value ?? null, depth - 1);
    if (trouble !== null) return trouble;
  }
  return null;
}

function ownTrouble(part: JsonObject): string | null {
  for (const key of ['error', 'errors', 'error_message', 'error_messages', 'exception', 'exceptions']) {
    const said = saidIn(part[key]);
    if (said !== null) return said;
  }
  for (const key of ['state', 'status', 'job_status', 'phase', 'code']) {
    const value = part[key];
    if (typeof value === 'string' && (NO_VERDICT.test(value.trim()) || SERVICE_STATE.test(value.trim())))
      return `${key} ${value}`;
  }
  for (const key of ['code', 'status', 'status_code', 'http_status'])
    if (isFailedCode(part[key])) return `${key} ${part[key]}`;
  for (const [key, value] of Object.entries(part)) if (value === false && WORK_IS_DONE.test(key)) return `${key} false`;
  for (const key of ['timed_out', 'timeout', 'pending', 'retry']) if (part[key] === true) return `${key} true`;
  for (const key of ['message', 'detail', 'msg', 'reason'])
    if (typeof part[key] === 'string' && SERVICE_FAILED.test(part[key])) return part[key];
  return null;
}

/** The text under a key for errors, or null. A count does not say whose errors they are. */
function saidIn(value: JsonValue | undefined): string | null {
  if (value === true) return 'error true';
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  if (Array.isArray(value)) return value.length === 0 ? null : (saidIn(value[0]) ?? printJson(value));
  if (!isJsonObject(value ?? null) || Object.keys(objectIn(value)).length === 0) return null;
  return printJson(value);
}

/** HTTP's codes for a service that did not do its work. */
const isFailedCode = (value: JsonValue | undefined): boolean =>
  typeof value === 'number' && (value === 408 || value === 425 || value === 429 || (value >= 500 && value <= 599));
