import { keysIn } from '../json/value.ts';
import { lastItem } from '../lists/at.ts';
import { isUnclosed, openTag } from './call-error.ts';
import { ENCODING_CHECKS } from './encoding-findings.ts';
import { gaveAnswer } from './ended-by-text.ts';
import type { ErrorPattern } from './error-kind.ts';
import type { CheckDeclaration, Finding, Need, Notice } from './finding.ts';
import { checkHacks, HACK_CHECKS } from './hack-signs.ts';
import { inputsOf, NOTHING } from './inputs.ts';
import { mostRepeated, sameAnswers } from './loops.ts';
import { auditMask, MASK_CHECKS } from './mask-audit.ts';
import { isResult, type ToolCall, type Turn, type UncheckedRollout } from './rollout.ts';
import { sharingCalls } from './shared-results.ts';
import { checkTask, TASK_CHECKS } from './task-signs.ts';
import { isModels, textScan } from './text-scan.ts';
import { checkText, handsIn, TEXT_CHECKS } from './text-signs.ts';
import { failureOf } from './tool-failure.ts';

/**
 * Every automatic check, the most serious first: lists with room for one name the first. Adding a check here adds its
 * filter, its word in lists and its bit among the facts; a test requires its fixture in fixtures/findings/.
 */
const DECLARED = {
  bad_record: { needs: 'record', word: 'bad', severity: 'error' },
  not_here: { needs: 'record', word: 'away', severity: 'warning' },
  lost_line: { needs: 'record', word: 'lost line', severity: 'error' },
  tool_error: { needs: 'results', word: 'error', severity: 'error' },
  tool_cut: { needs: 'results', word: 'cut', severity: 'warning' },
  call_unparsed: { needs: 'calls', word: 'unparsed', severity: 'error' },
  call_without_result: { needs: 'run_calls', word: 'no result', severity: 'warning' },
  own_tool_response: { needs: 'reply', word: 'own result', severity: 'warning' },
  unclosed: { needs: 'reply', word: 'unclosed', severity: 'warning' },
  empty_output: { needs: 'rollout', word: 'empty', severity: 'warning' },
  not_scored: { needs: 'notes', word: 'no score', severity: 'error' },
  run_warning: { needs: 'notes', word: 'warned', severity: 'warning' },
  ...MASK_CHECKS,
  call_loop: { needs: 'calls', word: 'loop', severity: 'warning' },
  ...HACK_CHECKS,
  ...TEXT_CHECKS,
  ...TASK_CHECKS,
  ...ENCODING_CHECKS,
} as const satisfies Record<string, CheckDeclaration>;

export type Check = keyof typeof DECLARED;

export const CHECKS = keysIn(DECLARED);

/** Failures; all other findings only mean that something looks odd. */
export const ERROR_CHECKS: readonly Check[] = CHECKS.filter((check) => DECLARED[check].severity === 'error');

/** The checks with an input, as bits in the order of CHECKS. */
const BITS_OF_INPUTS = keysIn(NOTHING).map((need) => ({
  need,
  bits: CHECKS.reduce((bits, check, i) => bits + (DECLARED[check].needs === need ? 2 ** i : 0), 0),
}));

/** The inputs that it needs. */
export const needOf = (check: Check): Need => DECLARED[check].needs;

/** The checks whose inputs a rollout provides, as bits in the order of CHECKS. @param rollout null for a bad record */
export function observedBits(rollout: UncheckedRollout | null): number {
  const has = rollout === null ? NOTHING : inputsOf(rollout);
  let bits = 0;
  for (const input of BITS_OF_INPUTS) if (has[input.need]) bits += input.bits;
  return bits;
}

/** The checks with a missing input, whose result is unknown. */
export function unobservedChecks(rollout: UncheckedRollout | null): Check[] {
  const has = rollout === null ? NOTHING : inputsOf(rollout);
  return CHECKS.filter((check) => !has[DECLARED[check].needs]);
}

/** @returns the name itself for an undeclared check */
export const checkWord = (check: string): string =>
  (DECLARED as Record<string, CheckDeclaration>)[check]?.word ?? check;

/** A finding reported by a record itself, with the severity of its check. */
export const reportedFinding = (check: Check, message: string): Finding => ({
  check,
  severity: DECLARED[check].severity,
  turn: null,
  message,
});

const TOOL_CUT = /^\s*\(truncated\)\.\.\.|\.\.\.\(truncated\)/;

/** The automatic checks of one rollout, over its response only; an empty list means that nothing was found. */
export function checkRollout(rollout: UncheckedRollout, errors: readonly ErrorPattern[]): Finding[] {
  const findings: Finding[] = [];
  const notice: Notice<Check> = (check, turn, message, severity = DECLARED[check].severity, error) =>
    findings.push({ check, severity, turn, message, ...(error === undefined ? {} : { error }) });
  const response = rollout.turns.slice(rollout.responseTurn);
  const isSampled = rollout.isUnsampled !== true;
  if (isSampled && isEmpty(rollout))
    notice(
      'empty_output',
      null,
      rollout.ended.how === 'stop'
        ? 'the reply is empty'
        : `the response is empty${rollout.ended.how === 'aborted' ? `: ${rollout.ended.evidence}` : ''}`,
    );
  const asked = new Map<number, ToolCall>();
  for (const turn of rollout.turns)
    for (const call of turn.toolCalls) if (call.resultTurn !== null) asked.set(call.resultTurn, call);
  const lastLost = rollout.turns.findLastIndex(({ isLost }) => isLost === true);
  for (const turn of rollout.turns)
    if (turn.isLost && turn.role === 'unknown') notice('lost_line', turn.index, turn.text.slice(1, -1));
  const sharing = sharingCalls(rollout.turns);
  // The prompt's results were not asked for by this reply: only what their writer recorded as failed is said.
  for (const turn of rollout.turns.slice(0, rollout.responseTurn))
    if (turn.outcome?.isFailure === true) checkResult(turn, asked.get(turn.index)?.name ?? null, notice, errors);
  const unanswered = rollout.runsNoCalls ? null : callsWithoutResults(response);
  if (unanswered !== null)
    notice(
      'call_without_result',
      unanswered.turn,
      `none of the ${unanswered.count} calls has a recorded result, though the model went on`,
    );
  for (const turn of response) {
    if (isResult(turn) || asked.has(turn.index)) checkResult(turn, asked.get(turn.index)?.name ?? null, notice, errors);
    // Some writers make a reply that consists of calls a separate item.
    if (turn.role === 'assistant' || turn.role === 'function_call')
      checkAssistant(
        turn,
        turn === response.at(-1),
        isSampled,
        sharing,
        rollout.runsNoCalls === true || unanswered !== null || lastLost > turn.index,
        notice,
      );
  }
  auditMask(rollout, notice);
  checkCalls(rollout, notice);
  checkHacks(rollout, notice);
  if (isSampled) checkText(rollout, textScan(rollout), notice);
  if (isSampled) checkTask(rollout, notice);
  return findings;
}

/** Fewer calls may have been cut off. */
const FEWEST_UNANSWERED = 3;

/** The calls of a rollout whose writer kept no results: the model went on after several, and none has one. */
function callsWithoutResults(response: readonly Turn[]): { turn: number; count: number } | null {
  const asking = response.filter(({ toolCalls }) => toolCalls.some(({ error }) => error === null));
  const calls = asking.flatMap(({ toolCalls }) => toolCalls);
  const [first] = asking;
  const goesOn = asking.length >= FEWEST_UNANSWERED;
  return first !== undefined && goesOn && calls.every(({ resultTurn }) => resultTurn === null)
    ? { turn: first.index, count: calls.length }
    : null;
}

/** A response was requested and is empty; a record without any response turn may keep it elsewhere. */
function isEmpty({ turns, responseTurn, reading, ended }: UncheckedRollout): boolean {
  const response = turns.slice(responseTurn);
  if (response.some(({ text, toolCalls }) => text.trim() !== '' || toolCalls.length > 0)) return false;
  return (
    response.some(isModels) || turns.at(-1)?.role === 'assistant' || reading !== undefined || ended.how === 'aborted'
  );
}

/** Fewer repetitions may be patience. */
const LOOP = 3;

function checkCalls(rollout: UncheckedRollout, notice: Notice<Check>): void {
  const most = mostRepeated(rollout);
  if (most === null) return;
  const same = most.calls.length < LOOP ? 0 : sameAnswers(most, rollout.turns);
  if (same >= LOOP)
    notice(
      'call_loop',
      lastItem(most.calls).turn,
      `${most.name ?? 'a call'} was called ${most.calls.length} times with the same arguments, and gave the same ${same} times`,
    );
}

function checkResult(turn: Turn, tool: string | null, notice: Notice<Check>, errors: readonly ErrorPattern[]): void {
  const failure = failureOf(turn.text, tool, errors, turn.outcome);
  if (failure !== null) {
    const { kind, fault, exception = null } = failure;
    notice('tool_error', turn.index, failure.says, undefined, { tool, kind, fault, exception });
  }
  if (TOOL_CUT.test(turn.text)) notice('tool_cut', turn.index, 'the tool result was cut before the model saw it');
}

/** The tags around tool results, from templates and from models that imitate them. */
const OWN_RESULTS = ['<tool_response>', '<tool_result>', '<function_results>', '```output'];

/**
 * A tag that opens a line, or follows a call; a tag mentioned in prose does not count. After a code fence an
 * interpreter writes one itself.
 */
function isWritten(text: string, tag: string): boolean {
  for (let at = text.indexOf(tag); at !== -1; at = text.indexOf(tag, at + 1)) {
    const before = text.slice(Math.max(0, at - 200), at);
    if (!/(?:^|\n|>)[ \t]*$/.test(before)) continue;
    if (tag === '```output' && /```\s*$/.test(before)) continue;
    return true;
  }
  return false;
}

const NO_JSON = { kind: 'bad_json', fault: 'model', exception: null } as const;

/**
 * @param sharing calls whose result is that of a call beside them
 * @param mayBeLost the results of its calls may have been in lines that could not be read, or nobody ran them */
function checkAssistant(
  turn: Turn,
  isLast: boolean,
  isSampled: boolean,
  sharing: ReadonlySet<ToolCall>,
  mayBeLost: boolean,
  notice: Notice<Check>,
): void {
  for (const call of turn.toolCalls) {
    const name = call.name ?? 'a call';
    if (isUnclosed(call)) {
      notice('unclosed', turn.index, `the ${isLast ? 'response' : 'turn'} ends inside ${openTag(call)}`);
    } else if (call.error !== null) {
      // A result after it means that the call was read.
      if (call.resultTurn !== null)
        notice('call_unparsed', turn.index, `${name} is not readable here: ${call.error}`, 'warning');
      else
        notice('call_unparsed', turn.index, `${name} was not executed: ${call.error}`, undefined, {
          tool: call.name,
          ...NO_JSON,
        });
    } else if (call.resultTurn === null && !mayBeLost && !sharing.has(call) && !(isLast && handsIn(call))) {
      // Many harnesses end with the call that submits the work, and write no result of it.
      notice('call_without_result', turn.index, `no result of ${name} was recorded`);
    }
  }
  const open = turn.parts.findLast((part) => part.kind === 'think' && part.open === true);
  if (open !== undefined) {
    const where =
      open.end === turn.text.length && isLast && !gaveAnswer(turn.text)
        ? 'the response ends inside <think>'
        : '<think> is never closed';
    notice('unclosed', turn.index, where);
  }
  const own = !isSampled ? undefined : OWN_RESULTS.find((tag) => isWritten(turn.text, tag));
  if (own !== undefined) {
    const mask = turn.trained === true ? ', and is trained on it' : '';
    notice('own_tool_response', turn.index, `the model wrote a ${own} itself${mask}`);
  }
}
