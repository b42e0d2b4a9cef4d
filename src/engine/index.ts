/**
 * The rollout engine, without a terminal and without a command line.
 *
 * - `runRequest({ model, messages, tools, … })` continues from any message prefix to the end of a rollout, reporting progress through
 *   `onEvent`, and resolves with the request: its messages, calls, transcript with loss mask, status.
 * - `loadTools(path)` and `toolByName(tools, name)` give the tools of a verl tool file; a `ToolManager` of them runs a call by name.
 * - `rewardRouter({ … }).for(dataSource)` returns a task's reward function.
 * - `collectRollouts` and `collectBatches` make many rollouts; `runCollection` does so from a file of tasks to a dump.
 * - Agents, environments and `TrajectoryCollectEngine` are Tunix's way to express the same.
 */

export type { JsonObject, JsonValue } from '../core/json/value.ts';
export { type AdvantageEstimator, groupAdvantages } from '../core/rollout/advantage.ts';
export { type Agent, BaseAgent, ConversationAgent, ModelAgent, ToolAgent } from './agents/agents.ts';
export { BaseTool, CalculatorTool, ToolCall, ToolOutput } from './agents/base-tool.ts';
export {
  type ChatMessage,
  type ChatTemplateName,
  ChatTemplateParser,
  sanitizeControlTokens,
  type TemplateTokenizer,
} from './agents/chat-templates.ts';
export {
  COLLECT_MODES,
  type CollectMode,
  type CollectOptions,
  collectMultiple,
  type FinalRewardFn,
  type ModelCall,
  type ModelOutput,
  OVERLONG_STATUSES,
  TrajectoryCollectEngine,
} from './agents/collect-engine.ts';
export {
  BaseEnv,
  BaseTaskEnv,
  type Environment,
  type EnvResetResult,
  type EnvStepResult,
  type ResetAnswer,
  type StepAnswer,
  TaskEnvironment,
  ToolEnvironment,
} from './agents/environments.ts';
export { GroupQueueManager, type GroupQueueOptions } from './agents/group-queue.ts';
export {
  leftPad,
  messageOfTexts,
  messagesTokenizer,
  padPromptAndCompletion,
  recentMessages,
  rightPad,
  type TokenizeMessages,
  withoutRepeatedBos,
} from './agents/message-tokens.ts';
export { RolloutOrchestrator } from './agents/orchestrator.ts';
export {
  type AgentSetup,
  agentNames,
  type EnvironmentSetup,
  environmentNames,
  registerAgent,
  registerEnvironment,
} from './agents/registry.ts';
export { RolloutSyncLock } from './agents/sync-lock.ts';
export { type ToolClass, ToolManager, type ToolMap } from './agents/tool-manager.ts';
export { getToolParser, registerToolParser, ToolParser, toolParserNames } from './agents/tool-parser.ts';
export { AgentStep, AgentStep as Step, Trajectory, trajectoryToDict } from './agents/trajectory.ts';
export {
  type BatchOptions,
  type CollectedRollout,
  type CollectorOptions,
  collectBatches,
  collectRollouts,
} from './collect/collector.ts';
export { DumpWriter } from './collect/dump-writer.ts';
export { GroupBuffer, type IncompleteGroup } from './collect/group-buffer.ts';
export { modelOf } from './collect/prepare.ts';
export { rolloutRecord, WRITER } from './collect/record.ts';
export { runCollection } from './collect/run.ts';
export type { CollectionOptions, RunProgress, RunSummary } from './collect/run-options.ts';
export type { Judgement } from './collect/score.ts';
export { parseSettings, type Settings } from './collect/settings.ts';
export { SetupError } from './collect/setup-error.ts';
export { isTaskError, readTasks, type Task, type TaskError } from './collect/tasks.ts';
export { type Cause, FAULT_TABLE, type FaultOutcome, outcomeOf, RolloutFault, ruleOf } from './common/faults.ts';
export { type Message, type MessageToolCall, messageText } from './common/message.ts';
export type { OwnUse } from './common/own-use.ts';
export { monteCarloReturns } from './common/returns.ts';
export { STATUSES, type TrajectoryStatus } from './common/status.ts';
export type { Interaction, UserWord } from './interactions/interaction.ts';
export { loadInteractions, parseInteractions } from './interactions/load-interactions.ts';
export { ChatCompletionsModel } from './model/chat-completions.ts';
export { ChatTokenizer, loadChatTokenizer } from './model/chat-tokenizer.ts';
export {
  type FinishReason,
  type Generation,
  type Model,
  type ModelDelta,
  ModelError,
  type ModelRequest,
  type SamplingParams,
} from './model/model.ts';
export type { ModelServer } from './model/post-with-retry.ts';
export { SglangGenerateModel } from './model/sglang-generate.ts';
export { loadTools, parseTools, toolByName } from './own/load-tools.ts';
export { OwnCode, type OwnCodeOptions } from './own/own-code.ts';
export { type OwnReward, type OwnRewardOptions, ownReward } from './own/own-reward.ts';
export { OwnTool } from './own/own-tool.ts';
export { OwnCodeError } from './python/own-error.ts';
export { DEFAULT_LIMITS, type Limits } from './request/limits.ts';
export type { RequestOptions, RequestState, RolloutEvent } from './request/options.ts';
export type { RenderedPiece, Rendering } from './request/renderer.ts';
export { createRequests, RolloutRequest, runRequest } from './request/request.ts';
export type { CallRecord, ToolKwargs } from './request/tool-calls.ts';
export { truncateToolText } from './request/truncate.ts';
export * from './rewards/index.ts';
export { registerTool, toolClassNames } from './tools/registry.ts';
export { decodeFunctionCall, OpenAIFunctionToolSchema } from './tools/schema.ts';
export type { Tool, ToolResponse, ToolResult } from './tools/tool.ts';
