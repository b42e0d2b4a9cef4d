import { parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { exitOutcome, outcomeIn, type RecordedOutcome } from './outcome.ts';

/**
 * The exit status that a tool writes around a command's output: before it (mini-swe-agent, Codex, Claude Code), behind it (pi,
 * OpenHands), or among labelled lines (Gemini CLI). The output itself may contain the same words, so only its edges count.
 */
const BEFORE =
  /^\s*(?:<returncode>(-?\d+)<\/returncode>|(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Exit code:? |Process exited with (?:code|status) )(-?\d+)(?=\s*(?:\n|$)))/i;
const BEHIND =
  /(?:\[(?:The command completed|Command (?:finished|completed)) with exit code (-?\d+)\.?\]|(?:^|\n)\[?(?:Command exited with code|exit code:?) (-?\d+)\]?)\s*$/i;
const LABELLED = /^Exit Code: (-?\d+)$/m;

/** The most that is parsed for an outcome, in UTF-16 units. */
const LONGEST = 262_144;
const NOTED = /"(?:is_?error|exit_?(?:code|status)|return_?code|timed_?out|error)"\s*:/i;

/**
 * The outcome that the text of a result states by itself: an exit status around a command's output, or a JSON object with a
 * flag, an error or an exit status.
 * @returns undefined if the text states none
 */
export function framedOutcome(text: string): RecordedOutcome | undefined {
  return commandOutcome(text) ?? objectOutcome(text);
}

/** The exit status around a command's output. */
export function commandOutcome(text: string): RecordedOutcome | undefined {
  const found =
    BEFORE.exec(text.slice(0, 200)) ??
    BEHIND.exec(text.slice(-80)) ??
    (/^(?:Command|Output): /.test(text) ? LABELLED.exec(text) : null);
  const status = found?.slice(1).find((digits) => digits !== undefined);
  return status === undefined ? undefined : exitOutcome(Number(status));
}

function objectOutcome(text: string): RecordedOutcome | undefined {
  if (text.length > LONGEST || !/^\s*\{/.test(text) || !NOTED.test(text)) return undefined;
  const value = objectOf(text);
  if (value === undefined) return undefined;
  const found = [value, value.run_result, value.metadata].flatMap(notesOf);
  return found.find(({ isFailure }) => isFailure) ?? found[0];
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A tool's `status` or `success` may be that of what was asked about (an order, a puzzle), so neither states an outcome; an error
 * beside an output may be what a program printed.
 */
function notesOf(place: JsonValue | undefined): RecordedOutcome[] {
  if (!isJsonObject(place)) return [];
  const { status: _, success: __, error = null, ...rest } = place;
  const noted = outcomeIn(rest);
  const isNone = typeof error === 'string' && /^\s*(?:none|null|no error)?\s*$/i.test(error);
  const hasOutput = ['output', 'stdout', 'result', 'content', 'data'].some((key) => !isEmpty(place[key]));
  const failed = isNone || hasOutput ? undefined : outcomeIn({ error });
  return [noted, failed].filter((one) => one !== undefined);
}

const isEmpty = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
