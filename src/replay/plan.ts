import { existsSync } from 'node:fs';
import { finished } from '../core/async/finished.ts';
import type { DumpRecord } from '../core/dump/dump-file.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json/value.ts';
import type { Rollout, ToolCall } from '../core/rollout/rollout.ts';
import { isLanguage } from '../sandbox/protocol.ts';
import type { CallCode } from './call-code.ts';
import { recordKey } from './journal/record-key.ts';
import type { GivenResult } from './outcome.ts';
import { taskPicture } from './task-picture.ts';
import type { ReplayTool, ReplayTools } from './tools.ts';

export type { CallCode } from './call-code.ts';

/** A recorded call, and how it would be run again. Nothing has run yet. */
export interface PlannedCall {
  /** The locator of the record. */
  locator: string;
  /** recordKey of the record. */
  record: string;
  /** The rollout's step; null if its record names none. */
  step: number | null;
  turn: number;
  call: number;
  name: string | null;
  /** As recorded, or as edited by the user. */
  arguments: JsonValue | null;
  edited: boolean;
  /** The tool's recorded answer; null if none was recorded. */
  recorded: GivenResult | null;
  tool: ReplayTool | null;
  /** Why it cannot be run; null if it can. */
  skip: string | null;
  /** null for a tool that runs no code. */
  code: CallCode | null;
  /** The arguments that the tool is created with, and where in the record they come from. */
  created: { kwargs: JsonObject; from: string } | null;
  /** The sample's own arguments to each call (`execute_kwargs`). */
  executed: JsonObject;
  /** The earlier calls of the same tool, in order. */
  earlier: readonly PlannedCall[];
  /** The calls that run first in the same notebook or session; null if calls share no state. */
  predecessors: readonly PlannedCall[] | null;
}

export interface PlanOptions {
  tools: ReplayTools;
  /** `--session`: calls of a tool share a notebook even if its configuration does not say so. */
  session?: boolean;
  /** Only this call (counted over the whole rollout). */
  call?: number | null;
  /** Only the calls of this turn. */
  turn?: number | null;
}

/** The calls of a record in order; those that cannot be run have a reason. An unreadable record has none. */
export const planCalls = (row: DumpRecord, options: PlanOptions): PlannedCall[] =>
  row.rollout === null ? [] : finished(planningCalls(row, recordKey(row.raw), options));

/** Turns whose calls are planned between two pauses. */
const SHARE = 200;

/** The same for a record with very many calls, with pauses. @param record its recordKey */
export function* planningCalls(row: DumpRecord, record: string, options: PlanOptions): Generator<void, PlannedCall[]> {
  const { rollout, locator } = row;
  const plans: PlannedCall[] = [];
  for (const { toolCalls, index } of rollout?.turns ?? []) {
    for (const call of toolCalls)
      if (rollout !== null) plans.push(planCall(call, { locator, record, rollout, row, turn: index }, options));
    if (index % SHARE === SHARE - 1) yield;
  }
  const { session = false, call = null, turn = null } = options;
  const ofTool = new Map<string | null, PlannedCall[]>();
  for (const plan of plans) {
    if (plan.tool === null || plan.skip !== null) continue;
    const known = ofTool.get(plan.name) ?? [];
    ofTool.set(plan.name, known);
    if (plan.call % SHARE === SHARE - 1) yield;
    linkEarlier(plan, known, plan.tool.stateful || (session && plan.code !== null));
    if (plan.predecessors !== null && plan.code !== null && plan.code.language !== 'python')
      plan.skip = `a session needs Python, and ${plan.name} runs ${plan.code.language}`;
    else known.push(plan);
  }
  return plans.filter((plan) => (call === null || plan.call === call) && (turn === null || plan.turn === turn));
}

/** @param known the calls of its tool before it, to which later ones are added */
function linkEarlier(plan: PlannedCall, known: readonly PlannedCall[], isShared: boolean): void {
  const count = known.length;
  // A list for each of 25,000 calls held 2.5 GB.
  const link = { get: () => known.slice(0, count), enumerable: true };
  Object.defineProperty(plan, 'earlier', link);
  if (isShared) Object.defineProperty(plan, 'predecessors', link);
}

interface CallPlace {
  locator: string;
  record: string;
  rollout: Rollout;
  row: DumpRecord;
  turn: number;
}

function planCall(
  call: ToolCall,
  { locator, record, rollout, row, turn }: CallPlace,
  { tools }: PlanOptions,
): PlannedCall {
  const tool = call.name === null ? null : tools.for(call.name, rollout.toolSchemas);
  const created = tool?.needsPicture
    ? pictureKwargs(tool.name, row)
    : tool?.needsCreateKwargs || tool?.own
      ? createKwargs(tool.name, rollout)
      : null;
  const plan: PlannedCall = {
    locator,
    record,
    step: rollout.step,
    turn,
    call: call.index,
    name: call.name,
    arguments: call.arguments,
    edited: false,
    recorded: givenOf(call, rollout),
    tool,
    skip: null,
    code: tool?.codeOf(call.arguments) ?? null,
    created,
    executed: tool?.own ? kwargsOf('execute_kwargs', tool.name, rollout).kwargs : {},
    earlier: [],
    predecessors: null,
  };
  plan.skip = call.error !== null ? unreadable(call.error, plan.recorded !== null) : whySkipped(plan);
  return plan;
}

const unreadable = (error: string, isAnswered: boolean): string =>
  isAnswered ? `the call cannot be read here: ${error}` : `the call was never run: ${error}`;

function givenOf(call: ToolCall, rollout: Rollout): GivenResult | null {
  const turn = call.resultTurn === null ? undefined : rollout.turns[call.resultTurn];
  if (turn === undefined) return null;
  return { text: unwrapped(turn.text), reward: call.reward ?? null, metrics: call.metrics ?? null };
}

/** Templates with a tool role may write Qwen's tags within it. */
const WRAPPER = /^\s*<tool_response>\n?([\s\S]*?)\n?<\/tool_response>\s*$/;
const unwrapped = (text: string): string => WRAPPER.exec(text)?.[1] ?? text;

function whySkipped({ tool, name, arguments: args, code, created }: PlannedCall): string | null {
  if (tool === null)
    return `no tool here runs ${name ?? 'a call without a name'}; --tools YAML or --tool ${name ?? 'NAME'}=LANGUAGE may give one`;
  if (tool.argumentsOf(args) === null)
    return tool.language === null ? 'its arguments are not a JSON object' : 'its arguments hold no code';
  if (tool.language !== null && code === null) return 'its arguments hold no code';
  if (code !== null && !isLanguage(code.language))
    return `environment (no sandbox knows the language ${code.language})`;
  if (tool.needsPicture && created === null)
    return `${tool.name} needs the task's picture, and neither tools_kwargs nor the prompt has one that can be read`;
  if (tool.needsCreateKwargs && created === null)
    return `${tool.name} needs the task's ground truth, and the record has neither tools_kwargs nor gts`;
  return null;
}

/** The sample's own arguments to the tool (`tools_kwargs` in verl's data sets), else its ground truth. */
function createKwargs(name: string, { extras, groundTruth }: Rollout): PlannedCall['created'] {
  const { kwargs, from } = kwargsOf('create_kwargs', name, { extras });
  if (from !== null) return { kwargs, from: `create_kwargs of the record's ${from}` };
  if (groundTruth === undefined || groundTruth === null) return null;
  return { kwargs: { ground_truth: groundTruth }, from: 'gts as ground_truth' };
}

/** The task's own arguments if they hold a picture that still exists, else the picture of the prompt. */
function pictureKwargs(name: string, row: DumpRecord): PlannedCall['created'] {
  const { kwargs, from } =
    row.rollout === null ? { kwargs: {}, from: null } : kwargsOf('create_kwargs', name, row.rollout);
  const { image } = kwargs;
  const isGone = typeof image === 'string' && !/^(?:data|https?):/.test(image) && !existsSync(image);
  if (from !== null && image !== undefined && image !== null && !isGone)
    return { kwargs, from: `create_kwargs of the record's ${from}` };
  const picture = taskPicture(row);
  return picture === null ? null : { kwargs: { ...kwargs, image: picture.url }, from: picture.from };
}

function kwargsOf(
  kind: 'create_kwargs' | 'execute_kwargs',
  name: string,
  { extras }: Pick<Rollout, 'extras'>,
): { kwargs: JsonObject; from: string | null } {
  const info = extras.extra_info;
  for (const [from, holder] of [
    ['tools_kwargs', extras.tools_kwargs],
    ['extra_info.tools_kwargs', isJsonObject(info) ? info.tools_kwargs : undefined],
  ] as const) {
    const own = isJsonObject(holder) ? holder[name] : undefined;
    const kwargs = isJsonObject(own) ? own[kind] : undefined;
    if (isJsonObject(kwargs)) return { kwargs, from };
  }
  return { kwargs: {}, from: null };
}

/** The same call with other arguments; it is still compared, and marked as edited. */
export function editCall(plan: PlannedCall, args: JsonValue): PlannedCall {
  const edited: PlannedCall = { ...plan, arguments: args, edited: true, code: plan.tool?.codeOf(args) ?? null };
  return { ...edited, skip: whySkipped(edited) };
}

/** The place where a call would run, shown before it does. */
export const whereOf = (plan: PlannedCall, backend: string): string =>
  plan.tool?.url ?? plan.tool?.own?.runs ?? (plan.tool?.language === null ? 'this program' : backend);
