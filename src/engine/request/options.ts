import type { JsonObject } from '../../core/json/value.ts';
import type { Message } from '../common/message.ts';
import type { Interaction } from '../interactions/interaction.ts';
import type { ChatTokenizer } from '../model/chat-tokenizer.ts';
import type { Model, ModelDelta, SamplingParams } from '../model/model.ts';
import type { Limits } from './limits.ts';
import type { PartialRollout } from './records.ts';
import type { Rendering } from './renderer.ts';
import type { VerlVersion } from './rules.ts';
import type { TokenizationCheck } from './tokenization-check.ts';
import type { CallRecord } from './tool-calls.ts';
import type { ToolChoice } from './tool-instances.ts';
import type { ModelWindow } from './window.ts';

/** verl's states: running is `generating`, tool_calling `processing_tools` in its agent loop; completed and failed are both `terminated`. */
export type RequestState =
  | 'pending'
  | 'running'
  | 'tool_calling'
  | 'interacting'
  | 'completed'
  | 'suspended'
  | 'failed';

/** An event during a rollout. `turn` is the index of the message. */
export type RolloutEvent =
  | { kind: 'state'; state: RequestState }
  | { kind: 'delta'; turn: number; delta: ModelDelta }
  | { kind: 'message'; turn: number; message: Message }
  | { kind: 'call'; call: Readonly<CallRecord> }
  | { kind: 'result'; call: Readonly<CallRecord> };

export interface RequestOptions extends ToolChoice {
  model: Model;
  /** Any prefix of a conversation. */
  messages: readonly Message[];
  /** The messages exactly as a model saw them before, token by token; rendered from scratch if not given. */
  prompt?: Rendering | undefined;
  sampling?: SamplingParams | undefined;
  limits?: Partial<Limits> | undefined;
  /** Required for a model that takes ids; otherwise it renders `input` and `output` in the model's template. */
  tokenizer?: ChatTokenizer | undefined;
  /** verl's `apply_chat_template_kwargs`. */
  templateKwargs?: JsonObject | undefined;
  tokenizationCheck?: TokenizationCheck | undefined;
  /** The grammar of calls in the model's text. */
  toolFormat?: string | undefined;
  /** A simulated user, who answers turns without a call. */
  user?: { interaction: Interaction; kwargs: JsonObject } | undefined;
  /** Behave exactly like this tree of verl, bugs included. */
  verlCompat?: VerlVersion | null | undefined;
  /** The server's window as far as known, shared by the rollouts of a run. */
  window?: ModelWindow | undefined;
  /** A suspended rollout to resume. */
  partial?: PartialRollout | undefined;
  requestId?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Suspends the rollout between two steps, or mid-turn if the server returns the turn's tokens; it can be resumed. */
  suspend?: AbortSignal | undefined;
  onEvent?: ((event: RolloutEvent) => void) | undefined;
}
