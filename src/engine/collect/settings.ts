import { z } from 'zod';
import type { JsonObject } from '../../core/json/value.ts';
import { shapeProblem } from '../../core/text/problems.ts';
import { readYaml } from '../common/yaml-file.ts';
import type { SamplingParams } from '../model/model.ts';
import type { Limits } from '../request/limits.ts';
import type { VerlVersion } from '../request/rules.ts';
import { SETTINGS, type Setting, settingProblem } from './setting-list.ts';
import { readVerlConfig, VERL_ESTIMATORS } from './verl-config.ts';
import { withOverrides } from './verl-overrides.ts';

const typed = (setting: Setting): z.ZodType =>
  z
    .unknown()
    .optional()
    .superRefine((value, context) => {
      const problem = value === undefined ? null : settingProblem(setting, value);
      if (problem !== null) context.addIssue(problem);
    })
    .transform((value) => (setting.kind === 'texts' && typeof value === 'string' ? [value] : value));

/** A key may have verl's name. */
const SettingsFile = z.preprocess(
  ownNames,
  z.strictObject({
    ...Object.fromEntries(SETTINGS.map((one) => [one.key, typed(one)])),
    /** data_source → reward function. */
    rewards: z.record(z.string(), z.string()).optional(),
  }),
);

function ownNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const nameOf = (key: string) => SETTINGS.find(({ aliases }) => aliases?.includes(key))?.key ?? key;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [nameOf(key), own]));
}

/** The settings of a run. Keys that are not set are absent. */
export interface Settings extends Partial<Limits>, Omit<SamplingParams, 'n'> {
  model_url?: string;
  model?: string;
  api?: 'chat' | 'generate' | 'completions';
  tools?: string;
  tool_class?: string[];
  interaction_config?: string;
  deadline?: number;
  enough?: number;
  sandbox?: string;
  tool_format?: string;
  tokenizer?: string;
  chat_template?: string;
  tokenization_check?: 'disable' | 'strict' | 'ignore_strippable';
  apply_chat_template_kwargs?: JsonObject;
  verl_compat?: VerlVersion;
  out?: string;
  n?: number;
  concurrency?: number;
  model_requests?: number;
  step?: number;
  batch_size?: number;
  gamma?: number;
  reward?: string;
  session_url?: string[];
  agent?: string;
  env?: string;
  session_stop?: string[];
  function?: string;
  reward_kwargs?: JsonObject;
  overlong_buffer?: JsonObject;
  python?: string;
  python_path?: string[];
  reward_url?: string;
  reward_keys?: string[];
  sandbox_fusion_url?: string;
  rewards?: Record<string, string>;
}

/**
 * Reads a configuration file: this program's keys, or a file of verl's trainer.
 * @param say called once with the keys that are ignored here
 * @param overrides verl's launch arguments (`PATH=VALUE`), which override the file
 * @throws Error naming the file, the key and the problem
 */
export function parseSettings(
  text: string,
  path: string,
  say: (message: string) => void = () => {},
  overrides: readonly string[] = [],
): Settings {
  const { value, at } = readYaml(text, path);
  const isVerl = readVerlConfig(value) !== null;
  if (isVerl) return settingsOfVerl(withOverrides(value as Record<string, unknown>, overrides), path, say);
  const own = checkedSettings(value ?? {}, (_, keys) => at(keys));
  return overrides.length === 0 ? own : { ...own, ...settingsOfOverrides(overrides, say) };
}

/** The settings in verl's launch arguments alone. @throws Error quoting the wrong part */
export function settingsOfOverrides(overrides: readonly string[], say: (message: string) => void): Settings {
  return settingsOfVerl(withOverrides({}, overrides), overrides.join(' '), say);
}

function settingsOfVerl(tree: Record<string, unknown>, where: string, say: (message: string) => void): Settings {
  const read = readVerlConfig(tree);
  const { settings, ignored, unresolved } = read ?? { settings: tree, ignored: [], unresolved: [] };
  if (read?.unknownEstimator)
    throw new Error(
      `${where}: algorithm.adv_estimator: verl has no ${read.unknownEstimator}: ${VERL_ESTIMATORS.join(', ')}; one of your own needs its external_lib`,
    );
  if (unresolved.length > 0) say(`${where}: not resolved: ${unresolved.join(', ')}`);
  if (ignored.length > 0) say(`${where}: without a meaning here: ${ignored.join(', ')}`);
  return checkedSettings(settings, (place) => `${where}: ${place}`);
}

/** Settings sent along with a run. @throws Error naming the key */
export const sentSettings = (value: unknown): Settings =>
  checkedSettings(value, (place) => `the run's settings: ${place}`);

function checkedSettings(value: unknown, whereOf: (place: string, keys: readonly PropertyKey[]) => string): Settings {
  const settings = SettingsFile.safeParse(value);
  if (settings.success) return settings.data as Settings;
  const { issues } = settings.error;
  const [first] = issues;
  const isUnknown = first?.code === 'unrecognized_keys';
  const place = isUnknown ? first.keys.slice(0, 1) : (first?.path ?? []);
  const advice = isUnknown ? '; the flags of rollout --help are the keys, with _ for -' : '';
  throw new Error(`${whereOf(place.join('.'), place)}: ${shapeProblem(issues)}${advice}`);
}
