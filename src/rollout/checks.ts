import { isUnclosed, openTag } from './call-error.ts';
import type { Check, Finding } from './finding.ts';
import { auditMask } from './mask-audit.ts';
import type { Rollout, ToolCall, Turn } from './rollout.ts';
import { failureOf } from './tool-failure.ts';

const TOOL_CUT = /^\s*\(truncated\)\.\.\.|\.\.\.\(truncated\)/;

type Add = (check: Check, severity: Finding['severity'], turn: number | null, message: string) => void;

/** The automatic checks of one rollout, over its response alone; an empty list means that nothing was found. */
export function checkRollout(rollout: Omit<Rollout, 'findings'>): Finding[] {
  const findings: Finding[] = [];
  const add: Add = (check, severity, turn, message) => findings.push({ check, severity, turn, message });
  const response = rollout.turns.slice(rollout.responseTurn);
  if (response.every((turn) => turn.text.trim() === '')) {
    add('empty_output', 'warning', null, 'the response is empty: an aborted or padding request');
  }
  const asked = new Map<number, ToolCall>();
  for (const turn of rollout.turns)
    for (const call of turn.toolCalls) if (call.resultTurn !== null) asked.set(call.resultTurn, call);
  for (const turn of response) {
    if (turn.role === 'tool') checkResult(turn, asked.get(turn.index)?.name ?? null, add);
    // A reply that is calls alone is an item of its own to some writers.
    if (turn.role === 'assistant' || turn.role === 'function_call') checkAssistant(turn, turn === response.at(-1), add);
  }
  auditMask(rollout, add);
  return findings;
}

function checkResult(turn: Turn, tool: string | null, add: Add): void {
  const failure = failureOf(turn.text, tool);
  if (failure !== null) add('tool_error', 'error', turn.index, failure.says);
  if (TOOL_CUT.test(turn.text))
    add('tool_cut', 'warning', turn.index, 'the tool result was cut before the model saw it');
}

function checkAssistant(turn: Turn, isLast: boolean, add: Add): void {
  for (const call of turn.toolCalls) {
    const name = call.name ?? 'a call';
    if (isUnclosed(call)) {
      add('unclosed', 'warning', turn.index, `the ${isLast ? 'response' : 'turn'} ends inside ${openTag(call)}`);
    } else if (call.error !== null) {
      // A result behind it says that somebody read it.
      if (call.resultTurn !== null)
        add('call_unparsed', 'warning', turn.index, `${name} is not readable here: ${call.error}`);
      else add('call_unparsed', 'error', turn.index, `${name} was not executed: ${call.error}`);
    } else if (call.resultTurn === null) {
      add('call_without_result', 'warning', turn.index, `no result of ${name} was recorded`);
    }
  }
  const open = turn.parts.findLast((part) => part.kind === 'think' && part.open === true);
  if (open !== undefined) {
    const where =
      open.end === turn.text.length && isLast ? 'the response ends inside <think>' : '<think> is never closed';
    add('unclosed', 'warning', turn.index, where);
  }
  if (turn.text.includes('<tool_response>')) {
    const mask = turn.trained === true ? ', and is trained on it' : '';
    add('own_tool_response', 'warning', turn.index, `the model wrote a <tool_response> itself${mask}`);
  }
}
