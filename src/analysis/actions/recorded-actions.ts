import { finished } from '../../core/async/finished.ts';
import type { Rollout, ToolCall } from '../../core/rollout/rollout.ts';
import type { CallAction, RecordedAction } from './action.ts';
import { actionInText } from './tools/aider.ts';
import { argumentsOf, textAt } from './tools/arguments.ts';
import { CLAUDE_CODE } from './tools/claude-code.ts';
import { CODEX } from './tools/codex.ts';
import { EDITOR } from './tools/editor.ts';
import { NOT_PROGRAMS, noAction, unknownTool } from './tools/not-programs.ts';
import { OPENHANDS } from './tools/openhands.ts';
import { SHELL, shellAction } from './tools/shell.ts';
import { SWE_AGENT } from './tools/swe-agent.ts';
import type { KnownTool } from './tools/tool.ts';

/** How to run a tool with an unknown name: `--tool NAME=shell`. */
export type ToolUse = 'shell' | 'shell:stateless' | 'edit';

const TOOLS: readonly KnownTool[] = [...NOT_PROGRAMS, ...CLAUDE_CODE, ...CODEX, EDITOR, OPENHANDS, SHELL];
const BY_NAME = new Map<string, KnownTool[]>();
for (const tool of TOOLS) for (const name of tool.names) BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), tool]);

/** The action that a call asks for. */
export function actionOf(call: Pick<ToolCall, 'name' | 'arguments' | 'error'>, use?: ToolUse): CallAction {
  const name = call.name ?? '';
  if (call.error !== null) return noAction(`the call could not be read: ${call.error}`);
  if (typeof call.arguments === 'string' && BY_NAME.get(name)?.some(({ agent }) => agent === 'Codex'))
    return { kind: 'patch', text: call.arguments, workdir: null };
  const args = argumentsOf(call.arguments);
  const line = SWE_AGENT.read(args, name);
  if (line !== null) return line;
  if (use?.startsWith('shell')) {
    const action = shellAction(args);
    if (action !== null) return action;
  }
  const known = use === 'edit' ? [EDITOR] : (BY_NAME.get(name) ?? []);
  for (const tool of known) {
    const action = tool.read(args, name);
    if (action !== null) return action;
  }
  const isEditor =
    textAt(args, 'path') !== null &&
    /^(?:view|create|str_replace|insert|undo_edit)$/.test(textAt(args, 'command') ?? '');
  const guessed = isEditor ? EDITOR.read(args, name) : null;
  return guessed ?? unknownTool(name, args);
}

/** Answers of agents that did not run a call: an unknown tool, arguments that do not fit, a person who said no. */
const REFUSED =
  /^\s*(?:<tool_use_error>)?(?:Error: )?(?:Unknown tool\b|Unknown function\b|Tool '?[\w.-]+'? (?:not found|does not exist)|No such tool available|Invalid JSON in arguments|InputValidationError|The user doesn't want to (?:proceed|take)|Permission to use \S+ [^\n]*denied|unsupported call:|exec command rejected by user|patch rejected by user)/;
const isRefused = (result: string | null): boolean => result !== null && REFUSED.test(result);

function actionIn(turns: Rollout['turns'], turn: number, call: ToolCall, use?: ToolUse): RecordedAction {
  const { index, name, resultTurn } = call;
  const result = resultTurn === null ? null : (turns[resultTurn]?.text ?? null);
  const action = isRefused(result) ? noAction('the call was refused then') : actionOf(call, use);
  return { call: index, turn, name: name ?? '', action, result, resultTurn };
}

/** One of the rollout's tool calls and what it asks for; undefined if there is no such call. */
export function actionOfCall({ turns }: Pick<Rollout, 'turns'>, index: number): RecordedAction | undefined {
  for (const turn of turns) {
    const call = turn.toolCalls.find((one) => one.index === index);
    if (call !== undefined) return actionIn(turns, turn.index, call);
  }
  return undefined;
}

/**
 * The calls of a rollout and what each asks for. A rollout without tool calls may put its commands and edits in the
 * text (aider); then each message that holds one counts as a call.
 */
export const recordedActions = (...given: Parameters<typeof findingActions>): RecordedAction[] =>
  finished(findingActions(...given));

/** Turns examined between two pauses. */
const SHARE = 200;

/** The same with pauses. */
export function* findingActions(
  rollout: Pick<Rollout, 'turns'>,
  uses: Readonly<Record<string, ToolUse>> = {},
): Generator<void, RecordedAction[]> {
  const { turns } = rollout;
  const actions: RecordedAction[] = [];
  for (const turn of turns) {
    for (const call of turn.toolCalls) actions.push(actionIn(turns, turn.index, call, uses[call.name ?? '']));
    if (turn.index % SHARE === SHARE - 1) yield;
  }
  if (actions.length > 0) return actions;
  for (const turn of turns) {
    if (turn.index % SHARE === SHARE - 1) yield;
    const action = turn.role === 'assistant' ? actionInText(turn.text) : null;
    if (action === null) continue;
    const answer = turns[turn.index + 1];
    const isAnswer = answer !== undefined && answer.role !== 'assistant';
    actions.push({
      call: actions.length,
      turn: turn.index,
      name: action.kind === 'blocks' ? 'SEARCH/REPLACE' : 'bash',
      action,
      result: isAnswer ? answer.text : null,
      resultTurn: isAnswer ? answer.index : null,
    });
  }
  return actions;
}
