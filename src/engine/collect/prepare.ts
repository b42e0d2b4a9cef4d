import { limiterNamed } from '../../core/async/limiter.ts';
import { modelUrlProblem } from '../../core/http/model-url.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import { fingerprint, type RunFingerprint, settingsHash } from '../common/fingerprint.ts';
import type { Interaction } from '../interactions/interaction.ts';
import { ChatCompletionsModel } from '../model/chat-completions.ts';
import { type ChatTokenizer, loadChatTokenizer } from '../model/chat-tokenizer.ts';
import { limitedModel } from '../model/limited.ts';
import type { Model } from '../model/model.ts';
import type { ModelServer } from '../model/post-with-retry.ts';
import { SglangGenerateModel } from '../model/sglang-generate.ts';
import { VllmCompletionsModel } from '../model/vllm-completions.ts';
import { DEFAULT_LIMITS } from '../request/limits.ts';
import { toolGrammar } from '../request/tool-grammar.ts';
import { ModelWindow } from '../request/window.ts';
import { type OverlongBuffer, overlongBuffer, type RewardRouter, rewardRouter } from '../rewards/index.ts';
import { RolloutSessions } from '../session/session-world.ts';
import { templateSchema } from '../tools/schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { ToolBox } from '../tools/tool-box.ts';
import type { CollectorOptions } from './collector.ts';
import type { OwnParts } from './open-own.ts';
import { worldsOf } from './open-worlds.ts';
import { limitsOf, samplingOf } from './setting-flags.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup-error.ts';

/** Everything that rollouts need, built from the settings. */
export interface RunSetup {
  model: Model;
  rewards: RewardRouter;
  tools: readonly Tool[];
  request: NonNullable<CollectorOptions['request']>;
  users: ReadonlyMap<string, Interaction>;
  window: ModelWindow;
  worlds: CollectorOptions['worlds'];
  overlong: OverlongBuffer | null;
  fingerprint: RunFingerprint;
}

export interface SetupOptions {
  settings: Settings;
  apiKey?: string | undefined;
  attempts?: { model: number; backoffMs: number } | undefined;
  /** Runs code in place of the sandboxes that the tool file names. */
  runCode?: Run | undefined;
  /** Tools beside those of the tool file. */
  toolBox?: ToolBox | undefined;
}

/** @throws SetupError naming the setting and what to do */
export async function prepareRun(
  { settings, apiKey, attempts, runCode, toolBox }: SetupOptions,
  own: OwnParts,
): Promise<RunSetup> {
  const { model_url, model: name, out } = settings;
  for (const [flag, value] of Object.entries({ 'model-url': model_url, model: name, out })) {
    if (!value) throw new SetupError(`--${flag} is missing (the --config file may hold it too)`);
  }
  const urlProblem = modelUrlProblem(model_url!);
  if (urlProblem !== null) throw new SetupError(urlProblem);
  try {
    toolGrammar(settings.tool_format ?? 'hermes');
    const tokenizer = settings.tokenizer
      ? await loadChatTokenizer(settings.tokenizer, settings.chat_template)
      : undefined;
    const server = modelOf(settings, tokenizer, {
      apiKey,
      ...(attempts ? { attempts: attempts.model, backoffMs: attempts.backoffMs } : {}),
    });
    const { model_requests: most } = settings;
    const model = most === undefined ? server : limitedModel(server, limiterNamed(`model ${model_url}`, most));
    const tools = allTools(own.tools, toolBox);
    const rewards = own.rewards ?? rewardsOf(settings, runCode);
    const worlds = sessionsOf(settings) ?? worldsOf(settings, { code: own.code, tools, rewards });
    const { users } = own;
    const window = new ModelWindow();
    const limits = { ...(worlds === undefined ? {} : { max_assistant_turns: SESSION_TURNS }), ...limitsOf(settings) };
    const longest = limits.max_response_length ?? DEFAULT_LIMITS.max_response_length;
    const request = {
      tools,
      sampling: samplingOf(settings),
      limits,
      tokenizer,
      templateKwargs: settings.apply_chat_template_kwargs,
      tokenizationCheck: settings.tokenization_check ?? 'strict',
      toolFormat: settings.tool_format ?? 'hermes',
      verlCompat: settings.verl_compat ?? null,
      window,
    } as const;
    return {
      model,
      rewards,
      tools,
      users,
      request,
      window,
      worlds,
      overlong: overlongBuffer(settings.overlong_buffer, longest),
      fingerprint: fingerprintOf(settings, tools, tokenizer, toolBox?.key),
    };
  } catch (error) {
    throw new SetupError(errorMessage(error));
  }
}

/** @throws Error for two tools of one name */
function allTools(own: readonly Tool[], box: ToolBox | undefined): readonly Tool[] {
  const twice = box?.tools.find(({ name }) => own.some((one) => one.name === name));
  if (twice !== undefined) throw new Error(`--tools: '${twice.name}' is a tool of the image, too: rename one of them`);
  return box === undefined ? own : [...own, ...box.tools];
}

/** Default limit on assistant turns of a session: one that never ends would fill the window. */
const SESSION_TURNS = 50;

function sessionsOf({ session_url: urls, session_stop: stop = [], reward }: Settings): CollectorOptions['worlds'] {
  if (urls === undefined || urls.length === 0) return undefined;
  const sessions = new RolloutSessions({ urls, stop });
  return { open: (task) => sessions.open(task), isJudge: reward === undefined, needsInstance: true };
}

/** @throws Error for a server that takes ids if there is no tokenizer */
export function modelOf(
  { api = 'chat', model_url, model }: Pick<Settings, 'api' | 'model_url' | 'model'>,
  tokenizer: ChatTokenizer | undefined,
  options: Omit<ModelServer, 'url'>,
): Model {
  const server = { url: model_url!, ...options };
  if (api === 'chat') return new ChatCompletionsModel(model!, server);
  if (!tokenizer) throw new Error(`--api ${api} takes token ids: give --tokenizer`);
  return api === 'completions'
    ? new VllmCompletionsModel(model!, tokenizer, server)
    : new SglangGenerateModel(model!, tokenizer, server);
}

function rewardsOf(settings: Settings, runCode: Run | undefined): RewardRouter {
  const { reward, reward_url, sandbox_fusion_url } = settings;
  // Reports a mistyped name now, rather than at the first task without its own function.
  if (reward === 'http' && !reward_url) throw new Error('--reward http needs --reward-url');
  const rewards = rewardRouter({
    routes: settings.rewards ?? {},
    fallback: reward,
    // As in verl: when the data source decides and no sandbox is configured, code is scored as Python compares values.
    code:
      sandbox_fusion_url || runCode
        ? { sandbox_fusion_url, run: runCode, prime: !sandbox_fusion_url && reward === undefined }
        : undefined,
    http: reward_url ? { url: reward_url, keys: settings.reward_keys } : undefined,
  });
  if (reward !== undefined) rewards.for(undefined);
  if (reward !== 'http') return rewards;
  // Like a user's own file, and like verl's HTTP managers, it judges every task except those that `rewards:` routes elsewhere.
  const named = settings.rewards ?? {};
  return { for: (source) => rewards.for(source !== undefined && Object.hasOwn(named, source) ? source : undefined) };
}

/** The settings that affect a rollout's text and score. The server's address and the version of its weights are not included. */
function fingerprintOf(
  settings: Settings,
  tools: readonly Tool[],
  tokenizer: ChatTokenizer | undefined,
  container: string | undefined,
): RunFingerprint {
  const { model, api, tool_format, batch_size, reward, rewards, gamma, verl_compat, apply_chat_template_kwargs } =
    settings;
  const {
    agent,
    env,
    interaction_config,
    reward_keys,
    function: functionName,
    reward_kwargs,
    session_url,
    session_stop,
  } = settings;
  const { overlong_buffer } = settings;
  return fingerprint({
    ...samplingOf(settings),
    ...limitsOf(settings),
    model,
    api,
    tool_format,
    batch_size,
    reward,
    rewards,
    gamma,
    verl_compat,
    apply_chat_template_kwargs,
    agent,
    env,
    interaction_config,
    function: functionName,
    reward_kwargs,
    reward_keys,
    overlong_buffer,
    session: session_url?.length ? true : undefined,
    session_stop,
    tools: tools.length > 0 ? settingsHash(tools.map((tool) => templateSchema(tool.getOpenAIToolSchema()))) : undefined,
    template: tokenizer?.templateHash,
    container,
  });
}
