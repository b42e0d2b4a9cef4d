import type { Check, Finding } from './finding.ts';
import type { Rollout, Turn } from './rollout.ts';

/** What the tools and loops of verl write for a failed call, and what Python prints for an exception. */
const TOOL_ERRORS: readonly { pattern: RegExp; says: string }[] = [
  { pattern: /^\s*Error when executing tool: /, says: 'the tool call raised an exception' },
  { pattern: /^\s*Error executing tool '/, says: 'the tool call raised an exception' },
  { pattern: /^\s*Unknown function '/, says: 'the model called a function that does not exist' },
  { pattern: /^\s*Invalid JSON in arguments for '/, says: "the call's arguments were no JSON" },
  {
    pattern: /^\s*no stdout here\s*$/,
    says: 'the sandbox did not finish (timeout, compile error or no answer): "no stdout here"',
  },
  { pattern: /^\s*Tool call failed: /, says: 'the MCP tool failed' },
  { pattern: /^\s*Connection failed: /, says: 'the MCP server could not be reached' },
  { pattern: /^\s*An unexpected error occurred: /, says: 'the MCP tool failed' },
  { pattern: /Traceback \(most recent call last\):/, says: 'a Python traceback' },
];

const TOOL_CUT = /^\s*\(truncated\)\.\.\.|\.\.\.\(truncated\)/;

/** The automatic checks of one rollout, over its response alone; an empty list means that nothing was found. */
export function checkRollout(rollout: Omit<Rollout, 'findings'>): Finding[] {
  const findings: Finding[] = [];
  const add = (check: Check, severity: Finding['severity'], turn: number | null, message: string) =>
    findings.push({ check, severity, turn, message });
  const response = rollout.turns.slice(rollout.responseTurn);
  if (response.every((turn) => turn.text.trim() === '')) {
    add('empty_output', 'warning', null, 'the response is empty: an aborted or padding request');
  }
  for (const turn of response) {
    if (turn.role === 'tool') checkResult(turn, add);
    if (turn.role === 'assistant') checkAssistant(turn, turn === response.at(-1), add);
  }
  return findings;
}

type Add = (check: Check, severity: Finding['severity'], turn: number | null, message: string) => void;

function checkResult(turn: Turn, add: Add): void {
  const error = TOOL_ERRORS.find(({ pattern }) => pattern.test(turn.text));
  if (error) add('tool_error', 'error', turn.index, error.says);
  if (TOOL_CUT.test(turn.text))
    add('tool_cut', 'warning', turn.index, 'the tool result was cut before the model saw it');
}

function checkAssistant(turn: Turn, isLast: boolean, add: Add): void {
  for (const call of turn.toolCalls) {
    const name = call.name ?? 'a call';
    if (call.error === UNCLOSED_CALL) {
      add('unclosed', 'warning', turn.index, `the ${isLast ? 'response' : 'turn'} ends inside <tool_call>`);
    } else if (call.error !== null) {
      add('call_unparsed', 'error', turn.index, `${name} was not executed: ${call.error}`);
    } else if (call.resultTurn === null) {
      add('call_without_result', 'warning', turn.index, `no result of ${name} was recorded`);
    }
  }
  const lastThink = turn.parts.findLast((part) => part.kind === 'think');
  if (lastThink && !turn.text.slice(lastThink.start, lastThink.end).includes('</think>') && isUnclosed(turn)) {
    const where =
      lastThink.end === turn.text.length && isLast ? 'the response ends inside <think>' : '<think> is never closed';
    add('unclosed', 'warning', turn.index, where);
  }
  if (turn.text.includes('<tool_response>')) {
    add('own_tool_response', 'warning', turn.index, 'the model wrote a <tool_response> itself, and is trained on it');
  }
}

/** More reasoning is opened than closed behind the last closing tag. */
const isUnclosed = (turn: Turn): boolean => turn.text.lastIndexOf('<think>') > turn.text.lastIndexOf('</think>');

/** The error of a call whose closing tag is missing. */
export const UNCLOSED_CALL = 'no closing </tool_call>';
