import { z } from 'zod';
import type { JsonObject } from '../../json/value.ts';
import { shapeProblem } from '../../text/problems.ts';
import type { SamplingParams } from '../model/model.ts';
import type { Limits } from '../request/limits.ts';
import type { VerlVersion } from '../request/rules.ts';
import { readYaml } from '../yaml-file.ts';
import { SETTINGS, type Setting, settingProblem } from './setting-list.ts';

const typed = (setting: Setting): z.ZodType =>
  z
    .unknown()
    .optional()
    .superRefine((value, context) => {
      const problem = value === undefined ? null : settingProblem(setting, value);
      if (problem !== null) context.addIssue(problem);
    })
    .transform((value) => (setting.kind === 'texts' && typeof value === 'string' ? [value] : value));

const SettingsFile = z.strictObject({
  ...Object.fromEntries(SETTINGS.map((one) => [one.key, typed(one)])),
  /** data_source → reward function. */
  rewards: z.record(z.string(), z.string()).optional(),
});

/** What a run is made with. Keys that are not set are not there. */
export interface Settings extends Partial<Limits>, Omit<SamplingParams, 'n'> {
  model_url?: string;
  model?: string;
  api?: 'chat' | 'generate';
  tools?: string;
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
  step?: number;
  batch_size?: number;
  gamma?: number;
  reward?: string;
  session_url?: string[];
  session_stop?: string[];
  function?: string;
  python?: string;
  python_path?: string[];
  reward_url?: string;
  sandbox_fusion_url?: string;
  rewards?: Record<string, string>;
}

/** Reads the text of a configuration file. @throws Error that names the file, the key and what is wrong. */
export function parseSettings(text: string, path: string): Settings {
  const { value, at } = readYaml(text, path);
  const settings = SettingsFile.safeParse(value ?? {});
  if (settings.success) return settings.data as Settings;
  const { issues } = settings.error;
  const [first] = issues;
  const isUnknown = first?.code === 'unrecognized_keys';
  const place = isUnknown ? first.keys.slice(0, 1) : (first?.path ?? []);
  const advice = isUnknown ? '; the flags of rollout --help are the keys, with _ for -' : '';
  throw new Error(`${at(place)}: ${shapeProblem(issues)}${advice}`);
}
