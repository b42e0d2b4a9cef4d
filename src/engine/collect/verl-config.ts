/** The paths of rollout settings in verl's configuration, with our key for each. If two paths set a key, the later one wins. */
const PLACES: readonly (readonly [path: string, key: string])[] = [
  ['actor_rollout_ref.model.path', 'model'],
  ['data.apply_chat_template_kwargs', 'apply_chat_template_kwargs'],
  ['data.max_prompt_length', 'max_prompt_length'],
  ['data.max_response_length', 'max_response_length'],
  ['data.train_batch_size', 'batch_size'],
  ['data.tool_config_path', 'tools'],
  ['data.seed', 'seed'],
  ['trainer.rollout_data_dir', 'out'],
  ['reward_model.sandbox_fusion.url', 'sandbox_fusion_url'],
  ['reward.sandbox_fusion.url', 'sandbox_fusion_url'],
  ['custom_reward_function.path', 'reward'],
  ['custom_reward_function.name', 'function'],
  ['custom_reward_function.reward_kwargs', 'reward_kwargs'],
  ['reward.custom_reward_function.path', 'reward'],
  ['reward.custom_reward_function.name', 'function'],
  ['reward.custom_reward_function.reward_kwargs', 'reward_kwargs'],
  ['reward_model.overlong_buffer', 'overlong_buffer'],
  ['reward_model.reward_kwargs.overlong_buffer_cfg', 'overlong_buffer'],
  ['reward.reward_kwargs.overlong_buffer_cfg', 'overlong_buffer'],
  ...(
    [
      ['n', 'n'],
      ['temperature', 'temperature'],
      ['top_p', 'top_p'],
      ['top_k', 'top_k'],
      ['repetition_penalty', 'repetition_penalty'],
      ['prompt_length', 'max_prompt_length'],
      ['response_length', 'max_response_length'],
      ['max_model_len', 'max_model_len'],
      ['multi_turn.max_assistant_turns', 'max_assistant_turns'],
      ['multi_turn.max_user_turns', 'max_user_turns'],
      ['multi_turn.max_parallel_calls', 'max_parallel_calls'],
      ['multi_turn.max_tool_response_length', 'max_tool_response_length'],
      ['multi_turn.tool_response_truncate_side', 'tool_response_truncate_side'],
      ['multi_turn.tool_config_path', 'tools'],
      ['multi_turn.interaction_config_path', 'interaction_config'],
      ['multi_turn.format', 'tool_format'],
      ['multi_turn.tokenization_sanity_check_mode', 'tokenization_check'],
    ] as const
  ).map(([path, key]) => [`actor_rollout_ref.rollout.${path}`, key] as const),
];

/** Keys that need no report: switches of the trainer itself, and paths of its files. */
const SILENT = new Set(['defaults', 'hydra', '_target_', 'actor_rollout_ref.rollout._target_']);
/** Switches that always hold here; not reported if they have these values. */
const HOLDS: Readonly<Record<string, unknown>> = {
  'actor_rollout_ref.rollout.multi_turn.enable': true,
  'reward_model.reward_manager': 'http',
};

const SECTIONS = ['actor_rollout_ref', 'data', 'trainer', 'reward_model', 'algorithm', 'critic', 'defaults', 'hydra'];

export interface VerlConfig {
  settings: Record<string, unknown>;
  /** Ignored keys, reported at the highest level below which everything is ignored. */
  ignored: string[];
  /** An `adv_estimator` that verl does not have; null otherwise, or if a library may add it. */
  unknownEstimator: string | null;
  /** References that cannot be resolved in this file. */
  unresolved: string[];
}

type ConfigTree = { [key: string]: unknown };
const isTree = (value: unknown): value is ConfigTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The rollout settings in a verl trainer file, or in its rollout section alone. Null for any other kind of file. */
export function readVerlConfig(value: unknown): VerlConfig | null {
  if (!isTree(value)) return null;
  const isSection = typeof value._target_ === 'string' && isTree(value.multi_turn);
  if (!isSection && !isTree(value.reward) && !SECTIONS.some((key) => key in value)) return null;
  const tree: ConfigTree = isSection ? { actor_rollout_ref: { rollout: value } } : value;
  const settings: Record<string, unknown> = {};
  const unresolved: string[] = [];
  for (const [path, key] of PLACES) {
    const given = at(tree, path);
    if (given === undefined || given === null || given === '???') continue;
    const found = resolve(given, tree);
    if (found === undefined) unresolved.push(`${path} (${String(given)})`);
    else if (found !== null && !isDefaultOff(key, found)) settings[key] = found;
  }
  // A service called over HTTP; verl's other managers are ways to call a function.
  if (at(tree, 'reward_model.reward_manager') === 'http') settings.reward ??= 'http';
  const own = Object.keys(value).filter(
    (key) => !SECTIONS.includes(key) && !isSection && OWN_KEY.test(key) && !(key === 'reward' && isTree(value.reward)),
  );
  for (const key of own) settings[key] ??= value[key];
  const known = new Set([...PLACES.map(([path]) => path), ...own]);
  return { settings, ignored: ignoredOf(tree, '', known), unknownEstimator: unknownEstimator(tree), unresolved };
}

/** The estimators that verl registers itself. */
export const VERL_ESTIMATORS: readonly string[] = [
  'gae',
  'grpo',
  'grpo_passk',
  'grpo_vectorized',
  'gdpo',
  'gpg',
  'opo',
  'optimal_token_baseline',
  'reinforce_plus_plus',
  'reinforce_plus_plus_baseline',
  'remax',
  'rloo',
  'rloo_vectorized',
  'tir_optimal_token_baseline',
];

function unknownEstimator(tree: ConfigTree): string | null {
  const name = resolve(at(tree, 'algorithm.adv_estimator'), tree);
  const library = at(tree, 'actor_rollout_ref.model.external_lib') ?? at(tree, 'critic.model.external_lib');
  if (typeof name !== 'string' || VERL_ESTIMATORS.includes(name.toLowerCase())) return null;
  return library === undefined || library === null ? name : null;
}

/** This program's keys may appear beside verl's sections. */
const OWN_KEY =
  /^(?:model_url|model|api|tools|tokenizer|chat_template|out|concurrency|step|gamma|reward|reward_url|reward_keys|rewards|verl_compat|timeout|tool_timeout)$/;

/** verl writes some limits as a number that means none. */
const isDefaultOff = (key: string, value: unknown): boolean => key === 'max_model_len' && !(Number(value) > 0);

const at = (tree: ConfigTree, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isTree(value) ? value[key] : undefined), tree);

/** OmegaConf's references: a path in the file, `oc.select` with a default, `oc.env`. Undefined if it cannot be resolved. */
function resolve(value: unknown, tree: ConfigTree, depth = 0): unknown {
  if (typeof value !== 'string' || !value.includes('${')) return value;
  const [whole, body] = /^\$\{([^${}]+)\}$/.exec(value) ?? [];
  if (whole === undefined || body === undefined || depth > 8) return undefined;
  const [, resolver, argument] = /^(oc\.\w+):(.*)$/s.exec(body) ?? [];
  const [name = '', fallback] = (argument ?? body).split(',').map((part) => part.trim());
  const ifMissing = fallback === undefined ? undefined : yamlScalar(fallback);
  if (resolver === 'oc.env') return process.env[name] ?? ifMissing;
  if (resolver !== undefined && resolver !== 'oc.select') return undefined;
  const found = at(tree, name);
  return found === undefined ? ifMissing : resolve(found, tree, depth + 1);
}

function yamlScalar(text: string): unknown {
  if (text === 'null') return null;
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text.replace(/^(['"])(.*)\1$/s, '$2');
}

function ignoredOf(tree: ConfigTree, above: string, known: ReadonlySet<string>): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = above === '' ? key : `${above}.${key}`;
    if (known.has(path) || SILENT.has(path) || value === null) return [];
    if (path in HOLDS && HOLDS[path] === value) return [];
    const isAbove = [...known].some((one) => one.startsWith(`${path}.`));
    return isAbove && isTree(value) ? ignoredOf(value, path, known) : [path];
  });
}
