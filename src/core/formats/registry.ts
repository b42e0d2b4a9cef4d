import { hasNoValue, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { adk } from './adk.ts';
import { alpaca } from './alpaca.ts';
import { isOwlRound, owl, reflexion } from './answered.ts';
import { atif } from './atif.ts';
import { autogen } from './autogen.ts';
import { bfcl } from './bfcl.ts';
import { braintrust, braintrustFormat } from './braintrust.ts';
import { chatMessages, isChatMessage, promptRow, rllmGateway, trackio } from './chat-messages.ts';
import { claudeCode, claudeCodeFormat } from './claude-code.ts';
import { codex, codexFormat } from './codex.ts';
import { dspyHistory, dspyPrediction } from './dspy.ts';
import { engineDump } from './engine-dump.ts';
import type { Format, ReadContext, Session } from './format.ts';
import { gemini, geminiFormat } from './gemini-cli.ts';
import { geminiStream, geminiStreamFormat } from './gemini-stream.ts';
import { art, artGroup, atropos, atroposGroup, roll, rollStep } from './groups.ts';
import { halResults, halTask } from './hal.ts';
import { harbor } from './harbor.ts';
import {
  droid,
  droidFormat,
  goose,
  gooseFormat,
  messageLog,
  messageLogFormat,
  sts,
  stsFormat,
} from './hub-sessions.ts';
import { inspectLog, inspectSample } from './inspect.ts';
import { interCode, interCodeRun } from './intercode.ts';
import { langchain } from './langchain.ts';
import { langfuse, langfuseFormat } from './langfuse.ts';
import { langgraph, langgraphFormat } from './langgraph.ts';
import { langsmith, langsmithFormat } from './langsmith.ts';
import { lmEval } from './lm-eval.ts';
import { mapped } from './mapped.ts';
import { mint } from './mint.ts';
import { moatless } from './moatless.ts';
import { nemoGym } from './nemo-gym.ts';
import { nemoRl } from './nemo-rl.ts';
import { agentsSession, agentsSessionFormat, agentsTraces, agentsTracesFormat } from './openai-agents.ts';
import { openaiBatch, openaiBatchInput } from './openai-batch.ts';
import { opencode } from './opencode.ts';
import { isOpenHandsEvent, openHands, openHandsSdk, openHandsSdkFormat } from './openhands.ts';
import { otel, otelFormat } from './otel.ts';
import { isLangChain } from './payload.ts';
import { pi, piFormat } from './pi.ts';
import { isPydanticAi, pydanticAi } from './pydantic-ai.ts';
import { recorder, recorderFormat } from './recorder.ts';
import { requestLog, requestLogFormat } from './request-log.ts';
import { rllm, rllmEpisode } from './rllm.ts';
import { milesColumns, milesTrajectory, slime, slimeTrain } from './slime.ts';
import { isSmolStep, smolagents } from './smolagents.ts';
import { strands } from './strands.ts';
import { miniSweAgent, sweAgent } from './swe-agent.ts';
import { tau, tau2, tau2Run } from './tau.ts';
import { agentLightning, areal, promptAndReplyRow, rlLoggingBoard, scoredReply, skyrl, trl } from './text-rows.ts';
import { tinkerConversation, tinkerSummary, tinkerTrajectory, tinkerTree } from './tinker.ts';
import { tinkerCapture, tinkerCaptureFormat } from './tinker-capture.ts';
import { tokenDb, tokenDbFormat } from './tokendb.ts';
import { openInstruct, primeTokens } from './tokens-alone.ts';
import { toolBench } from './toolbench.ts';
import { tora, toraQuestion } from './tora.ts';
import { episode, liveFormat, liveTrace, trace } from './traces.ts';
import { tunixTokens, tunixTrajectory } from './tunix.ts';
import { verifiers, verifiersPage } from './verifiers.ts';
import { verl } from './verl.ts';
import { wandbTable } from './wandb-table.ts';
import { weave, weaveFormat } from './weave.ts';
import { webArena, webArenaExample } from './webarena.ts';

/** All formats, the most specific first. */
export const FORMATS: readonly Format[] = [
  engineDump,
  wandbTable,
  tora,
  toraQuestion,
  reflexion,
  owl,
  bfcl,
  mint,
  interCode,
  interCodeRun,
  moatless,
  toolBench,
  // A split-off record is identified by its marker key; its other keys may look like another format's.
  rllm,
  atropos,
  roll,
  // Its input and output would also match verl's.
  alpaca,
  lmEval,
  openaiBatch,
  openaiBatchInput,
  verl,
  tunixTokens,
  recorderFormat,
  otelFormat,
  requestLogFormat,
  stsFormat,
  droidFormat,
  gooseFormat,
  opencode,
  adk,
  strands,
  halTask,
  halResults,
  webArena,
  webArenaExample,
  langgraphFormat,
  langchain,
  pydanticAi,
  autogen,
  smolagents,
  dspyHistory,
  dspyPrediction,
  agentsTracesFormat,
  agentsSessionFormat,
  langsmithFormat,
  langfuseFormat,
  weaveFormat,
  braintrustFormat,
  // A trial may hold an agent's session.
  harbor,
  claudeCodeFormat,
  codexFormat,
  piFormat,
  geminiFormat,
  geminiStreamFormat,
  messageLogFormat,
  openHandsSdkFormat,
  liveFormat,
  atif,
  slimeTrain,
  slime,
  milesTrajectory,
  atroposGroup,
  rollStep,
  art,
  artGroup,
  rllmEpisode,
  episode,
  trace,
  primeTokens,
  openInstruct,
  tinkerConversation,
  tinkerTree,
  tinkerSummary,
  tinkerTrajectory,
  tinkerCaptureFormat,
  tokenDbFormat,
  tunixTrajectory,
  nemoGym,
  nemoRl,
  skyrl,
  areal,
  agentLightning,
  verifiers,
  verifiersPage,
  trl,
  inspectLog,
  miniSweAgent,
  tau,
  tau2Run,
  tau2,
  inspectSample,
  sweAgent,
  openHands,
  trackio,
  rllmGateway,
  milesColumns,
  rlLoggingBoard,
  chatMessages,
  promptAndReplyRow,
  promptRow,
  scoredReply,
];

/** Kinds of files whose lines are events of a rollout. */
const SESSIONS: readonly Session[] = [
  recorder,
  tinkerCapture,
  tokenDb,
  otel,
  agentsTraces,
  agentsSession,
  langsmith,
  langgraph,
  langfuse,
  weave,
  braintrust,
  sts,
  droid,
  goose,
  claudeCode,
  codex,
  openHandsSdk,
  liveTrace,
  pi,
  geminiStream,
  gemini,
  requestLog,
  messageLog,
];

/** The session format that the line is an event of, or undefined. */
export const sessionOf = (record: JsonObject): Session | undefined =>
  SESSIONS.find((session) => session.isEvent(record));

/** The same for an event in a JSON list. */
export const listedSessionOf = (record: JsonObject): Session | undefined => {
  const session = sessionOf(record);
  return session?.isOfLines ? undefined : session;
};

/** The format that recognises the record, or the user's choice, if any. */
export function formatOf(record: JsonObject, context?: Pick<ReadContext, 'format' | 'maps'>): Format | undefined {
  const own = context?.maps?.find(
    (map) => (context.format === undefined || context.format === map.name) && mapped(map).detects(record),
  );
  if (own !== undefined) return mapped(own);
  if (context?.format !== undefined) {
    const named = FORMATS.filter(({ name }) => name === context.format);
    // For a format with several shapes (a group, and a member) the record decides; if none matches, it is read anyway.
    return named.find((format) => format.detects(record)) ?? formatOf(record) ?? named[0];
  }
  return FORMATS.find((format) => format.detects(record));
}

/** The names that `--format` takes. */
export const FORMAT_NAMES: readonly string[] = [...new Set(FORMATS.map(({ name }) => name))];

/** The keys that may be read from a line's tail if no record of the file was parsed. */
export const QUICK_KEYS = { score: 'score', step: 'step' };

/** A list that is a single record: the messages of a conversation, or the events of an agent. null for any other. */
export function wrapList(list: readonly JsonValue[]): JsonObject | null {
  const objects = list.filter(isJsonObject);
  const first = objects.find((one) => !hasNoValue(one)) ?? objects[0];
  if (first === undefined || objects.length < list.length) return null;
  if (objects.every(isChatMessage) || objects.every(isLangChain) || objects.every(isPydanticAi))
    return { messages: [...list] };
  if (objects.every(isSmolStep)) return { steps: [...list] };
  if (objects.every(isOwlRound)) return { history: [...list] };
  if (isOpenHandsEvent(first)) return { session_of: 'openhands', events: [...list] };
  const session = listedSessionOf(first);
  return session === undefined ? null : { session_of: session.name, events: [...list] };
}
